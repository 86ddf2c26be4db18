# Tests of this folder.

# Attention in both styles and types. SCRATCHSCOPE_TEST_DEVICE chooses another device.
add_executable(test_device_attention device/test_attention.c)
target_include_directories(test_device_attention PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(test_device_attention PRIVATE project_flags attention PkgConfig::CMOCKA)
foreach(style simd simt)
    foreach(dtype f32 f16)
        add_test(NAME device.attention_${style}_${dtype}
                 COMMAND test_device_attention ${style} ${dtype} 0)
        set_tests_properties(device.attention_${style}_${dtype} PROPERTIES LABELS device TIMEOUT
                                                                           1200)
    endforeach()
endforeach()
scratchscope_oclgrind_test(attention_simd_f32 device.attention simd f32 0 small)
scratchscope_oclgrind_test(attention_simd_f16 device.attention simd f16 0 small)
scratchscope_oclgrind_test(attention_simt_f32 device.attention simt f32 3 small)
scratchscope_oclgrind_test(attention_simt_f16 device.attention simt f16 4 small)
scratchscope_test(device.mutations device device/test_mutations.c attention)

# Whole sweeps; sweep_case.c stands between the sweep and two functions of attention.
foreach(test sweep sweep_pairs)
    scratchscope_test(device.${test} device device/test_${test}.c bench)
    target_sources(test_device_${test} PRIVATE device/sweep_case.c)
    target_link_options(test_device_${test} PRIVATE -Wl,--wrap=attention_check
                                                    -Wl,--wrap=attention_launch)
endforeach()

# host/device on a device; test_cold needs none.
scratchscope_test(device.device device device/test_device.c device)
scratchscope_test(device.build device device/test_build.c device)
scratchscope_test(device.cold device device/test_cold.c device)
scratchscope_test(device.pe_arenas device device/test_pe_arenas.c device)
scratchscope_oclgrind_test(pe_arenas device.pe_arenas)
