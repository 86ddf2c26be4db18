# The real program, run as a user would; usage and plan need no device. cap16 is the full-size sweep.
function(scratchscope_cli_test name label)
    scratchscope_test(cli.${name} ${label} cli/test_${name}.c PkgConfig::JANSSON)
    target_sources(test_cli_${name} PRIVATE cli/cli_case.c)
    target_compile_definitions(test_cli_${name} PRIVATE
                               SCRATCHSCOPE_PROGRAM="$<TARGET_FILE:scratchscope>")
    add_dependencies(test_cli_${name} scratchscope)
endfunction()
foreach(name usage plan devices sweep arena files attend attend_files roofline profile tune)
    scratchscope_cli_test(${name} cli)
endforeach()
foreach(name arena attend attend_files tune)
    target_sources(test_cli_${name} PRIVATE cli/attend_case.c)
    target_link_libraries(test_cli_${name} PRIVATE base) # inputs in f16
endforeach()
target_link_libraries(test_cli_roofline PRIVATE m)
set_tests_properties(cli.tune PROPERTIES TIMEOUT 1200) # some twenty builds
scratchscope_cli_test(cap16 slow)

# Scripts of bench/. One that lacks its interpreter exits 77.
function(scratchscope_script_test name)
    add_test(NAME cli.${name} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cli/${name}.sh ${PROJECT_SOURCE_DIR})
    set_tests_properties(cli.${name} PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 120)
endfunction()
scratchscope_script_test(compare_torch)
scratchscope_script_test(goals)
