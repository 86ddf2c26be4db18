# Fuzzing, by clang's libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer, whatever compiler
# builds the rest. A short, repeatable run; without clang or its runtime it is left out.
find_program(FUZZ_CLANG NAMES clang clang-19 clang-14)
mark_as_advanced(FUZZ_CLANG)
set(fuzz_flags -std=c11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
set(fuzz_folder ${CMAKE_CURRENT_BINARY_DIR}/fuzz)
file(MAKE_DIRECTORY ${fuzz_folder})
if(FUZZ_CLANG)
    file(WRITE ${fuzz_folder}/probe.c
         "int LLVMFuzzerTestOneInput(const char *bytes, unsigned long size);\n"
         "int LLVMFuzzerTestOneInput(const char *bytes, unsigned long size)\n"
         "{ return size > 0 && bytes[0] == 0 ? 0 : 0; }\n")
    execute_process(COMMAND ${FUZZ_CLANG} ${fuzz_flags} probe.c -o probe
                    WORKING_DIRECTORY ${fuzz_folder} RESULT_VARIABLE fuzz_missing OUTPUT_QUIET ERROR_QUIET)
else()
    set(fuzz_missing 1)
endif()
if(NOT fuzz_missing EQUAL 0)
    message(STATUS "clang with libFuzzer (libclang-rt-dev) is not here: the tests fuzz.* are left out")
endif()

# scratchscope_fuzz_test(NAME SOURCE ...): tests/fuzz/fuzz_NAME.c with those sources of the project, on
# the files of tests/fuzz/seeds/NAME. What it finds stays in the build.
function(scratchscope_fuzz_test name)
    if(NOT fuzz_missing EQUAL 0)
        return()
    endif()
    set(program ${fuzz_folder}/fuzz_${name})
    set(sources ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/fuzz_${name}.c)
    foreach(source IN LISTS ARGN)
        list(APPEND sources ${PROJECT_SOURCE_DIR}/${source})
    endforeach()
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/host/base/*.h
                                                ${PROJECT_SOURCE_DIR}/host/app/*.h)
    add_custom_command(
        OUTPUT ${program}
        COMMAND ${FUZZ_CLANG} ${fuzz_flags} -D_POSIX_C_SOURCE=200809L -I${PROJECT_SOURCE_DIR} ${sources}
                -o ${program}
        DEPENDS ${sources} ${headers}
        VERBATIM)
    add_custom_target(fuzz_${name} ALL DEPENDS ${program})
    file(MAKE_DIRECTORY ${fuzz_folder}/found_${name})
    add_test(NAME fuzz.${name}
             COMMAND ${program} -seed=1 -runs=20000 -max_len=4096 -verbosity=0
                     -artifact_prefix=${fuzz_folder}/ ${fuzz_folder}/found_${name}
                     ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/seeds/${name})
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 600)
endfunction()

scratchscope_fuzz_test(npy host/app/npy.c host/base/dtype.c host/base/size.c host/base/status.c
                       host/base/text.c)
