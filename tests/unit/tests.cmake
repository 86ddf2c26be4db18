# Tests of this folder.

# host/base and host/scratch.
foreach(name status text size dtype units)
    scratchscope_test(unit.${name} unit unit/test_${name}.c base)
endforeach()
foreach(name arena line_set scratch scope copy_to spec program footprint footprint_table
             footprint_text random random_program cases)
    scratchscope_test(unit.${name} unit unit/test_${name}.c scratch)
endforeach()
target_link_libraries(test_unit_dtype PRIVATE m)
foreach(name status line_set scratch program footprint) # tests/unit/fail_alloc.h
    target_link_options(test_unit_${name} PRIVATE
                        -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc)
endforeach()

