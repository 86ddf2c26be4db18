# Tests of this folder.

# host/base and host/scratch.
foreach(name status text size dtype units)
    scratchscope_test(unit.${name} unit unit/test_${name}.c base)
endforeach()
foreach(name arena line_set scratch scope copy_to spec program footprint footprint_skip
             footprint_table footprint_text random random_program cases)
    scratchscope_test(unit.${name} unit unit/test_${name}.c scratch)
endforeach()
target_link_libraries(test_unit_dtype PRIVATE m)
foreach(name status line_set scratch program footprint) # tests/unit/fail_alloc.h
    target_link_options(test_unit_${name} PRIVATE
                        -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc)
endforeach()

# host/device and kernels, without a device.
scratchscope_test(unit.event unit unit/test_event.c device)
scratchscope_test(unit.topology unit unit/test_topology.c device)
scratchscope_test(unit.binding unit unit/test_binding.c device)
scratchscope_test(unit.device_choose unit unit/test_device_choose.c device)
scratchscope_test(unit.pe_arenas_layout unit unit/test_pe_arenas_layout.c device)
add_library(fake_opencl OBJECT unit/fake_opencl.c)
target_include_directories(fake_opencl PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(fake_opencl PRIVATE project_flags device)
scratchscope_test(unit.device_list unit unit/test_device_list.c fake_opencl device)
scratchscope_test(unit.device_faults unit unit/test_device_faults.c fake_opencl device)
scratchscope_test(unit.local_arenas unit unit/test_local_arenas.c fake_opencl bench)
scratchscope_test(unit.kernels unit unit/test_kernels.c kernels)
add_custom_command(
    OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/kernels_fixture.c
    COMMAND ${CMAKE_COMMAND} -DINPUT=${CMAKE_CURRENT_LIST_DIR}/expand/top.txt
            -DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/kernels_fixture.c -DSYMBOL=kernels_fixture
            -DROOT=${CMAKE_CURRENT_LIST_DIR}/expand -P ${PROJECT_SOURCE_DIR}/kernels/expand.cmake
    DEPENDS ${PROJECT_SOURCE_DIR}/kernels/expand.cmake ${CMAKE_CURRENT_LIST_DIR}/expand/top.txt
            ${CMAKE_CURRENT_LIST_DIR}/expand/first.txt ${CMAKE_CURRENT_LIST_DIR}/expand/second.txt
            ${CMAKE_CURRENT_LIST_DIR}/expand/third.txt
    VERBATIM)
target_sources(test_unit_kernels PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/kernels_fixture.c)

# host/attention, without a device.
scratchscope_test(unit.problem unit unit/test_problem.c attention)
scratchscope_test(unit.schedule unit unit/test_schedule.c attention)
scratchscope_test(unit.tile_program unit unit/test_tile_program.c attention)
scratchscope_test(unit.inputs unit unit/test_inputs.c attention)
scratchscope_test(unit.reference unit unit/test_reference.c attention)
scratchscope_test(unit.reference_options unit unit/test_reference_options.c attention)
scratchscope_test(unit.verdict unit unit/test_verdict.c attention)
foreach(name tile_program inputs reference) # tests/unit/fail_alloc.h
    target_link_options(test_unit_${name} PRIVATE
                        -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc)
endforeach()

# host/app, without a device.
foreach(name ranges options machine cell_list rows arena_rows fractions table trust resume output npy
             tune_store tune_report profile_report)
    scratchscope_test(unit.${name} unit unit/test_${name}.c app)
endforeach()
