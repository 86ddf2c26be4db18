# Checks of the sources as they stand. A script that lacks its tool exits 77: ctest then says at its
# end which checks did not run.
function(scratchscope_lint name script)
    add_test(NAME lint.${name} COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/lint/${script} ${ARGN})
    set_tests_properties(lint.${name} PROPERTIES LABELS lint SKIP_RETURN_CODE 77 TIMEOUT 600)
endfunction()

scratchscope_lint(selftest selftest.sh)
scratchscope_lint(layers layers.sh ${PROJECT_SOURCE_DIR})
scratchscope_lint(words words.sh ${PROJECT_SOURCE_DIR})
scratchscope_lint(kernels kernels.sh ${PROJECT_SOURCE_DIR})
scratchscope_lint(format format.sh ${PROJECT_SOURCE_DIR})
scratchscope_lint(tidy tidy.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
set_tests_properties(lint.tidy PROPERTIES PROCESSORS ${cores}) # it starts one process a core
