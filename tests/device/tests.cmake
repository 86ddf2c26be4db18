# Tests of this folder.

# Attention in both styles and types. SCRATCHSCOPE_TEST_DEVICE chooses another device.
foreach(subject attention options local)
    set(target test_device_${subject})
    add_executable(${target} device/test_${subject}.c)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${target} PRIVATE project_flags attention PkgConfig::CMOCKA)
    foreach(style simd simt)
        foreach(dtype f32 f16)
            set(name device.${subject}_${style}_${dtype})
            add_test(NAME ${name} COMMAND ${target} ${style} ${dtype} 0)
            set_tests_properties(${name} PROPERTIES LABELS device TIMEOUT 1200)
        endforeach()
    endforeach()
    foreach(local 1 64 256) # the rest of the work-group sizes: 0 takes 32 on a CPU
        set(name device.${subject}_simt_local_${local})
        add_test(NAME ${name} COMMAND ${target} simt f16 ${local} small)
        set_tests_properties(${name} PROPERTIES LABELS device TIMEOUT 1200)
    endforeach()
    scratchscope_oclgrind_test(${subject}_simd_f32 device.${subject} simd f32 0 small)
    scratchscope_oclgrind_test(${subject}_simd_f16 device.${subject} simd f16 0 small)
    scratchscope_oclgrind_test(${subject}_simt_f32 device.${subject} simt f32 3 small)
    scratchscope_oclgrind_test(${subject}_simt_f16 device.${subject} simt f16 4 small)
endforeach()
scratchscope_test(device.index device device/test_index.c attention)
scratchscope_test(device.mutations device device/test_mutations.c attention)

# Whole sweeps, profiles and searches; sweep_case.c stands between them and three functions of attention.
foreach(test sweep sweep_pairs profile tune)
    scratchscope_test(device.${test} device device/test_${test}.c bench)
    target_sources(test_device_${test} PRIVATE device/sweep_case.c)
    target_link_options(test_device_${test} PRIVATE -Wl,--wrap=attention_check
                                                    -Wl,--wrap=attention_launch
                                                    -Wl,--wrap=attention_own_local_bytes)
endforeach()
set_tests_properties(device.profile PROPERTIES TIMEOUT 1200) # some fifty builds

# host/device on a device; test_cold needs none.
scratchscope_test(device.device device device/test_device.c device)
scratchscope_test(device.build device device/test_build.c device)
scratchscope_test(device.roofline device device/test_roofline.c bench m)
scratchscope_test(device.cold device device/test_cold.c device)
scratchscope_test(device.pe_arenas device device/test_pe_arenas.c device)
scratchscope_oclgrind_test(pe_arenas device.pe_arenas)
