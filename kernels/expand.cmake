# cmake -DINPUT=file.cl -DOUTPUT=file.c -DSYMBOL=kernels_file -DROOT=kernels -P expand.cmake
#
# Writes a C file with one string: INPUT with each line `#include "name"` replaced, the first time
# by the text of ROOT/name, later by an empty line. #line directives keep the names and numbers of
# the originals in compiler messages. The text is written as bytes, which no length limit of C
# string literals applies to. Texts are cut with string(FIND) alone: a CMake list would eat
# semicolons, brackets and backslashes.
cmake_minimum_required(VERSION 3.25)

# Number of lines that end in `text`.
function(count_lines text out)
    string(REGEX REPLACE "[^\n]+" "" ends "${text}")
    string(LENGTH "${ends}" count)
    set(${out} ${count} PARENT_SCOPE)
endfunction()

# Cuts `text` after its first line: the line with its end, and the rest.
function(cut_line text line rest)
    string(FIND "${text}" "\n" end)
    math(EXPR next "${end} + 1")
    string(SUBSTRING "${text}" 0 ${next} head)
    string(SUBSTRING "${text}" ${next} -1 tail)
    set(${line} "${head}" PARENT_SCOPE)
    set(${rest} "${tail}" PARENT_SCOPE)
endfunction()

set_property(GLOBAL PROPERTY expanded "")

function(expand path name out)
    file(READ "${path}" text)
    if(NOT text MATCHES "\n$")
        string(APPEND text "\n")
    endif()
    set(result "#line 1 \"${name}\"\n")
    set(number 1)
    # A line end before the text lets the first line be found like all others.
    set(text "\n${text}")
    while(TRUE)
        string(FIND "${text}" "\n#include \"" start)
        if(start EQUAL -1)
            break()
        endif()
        math(EXPR start "${start} + 1")
        string(SUBSTRING "${text}" 0 ${start} before)
        string(SUBSTRING "${text}" ${start} -1 text)
        cut_line("${text}" line text)
        # `before` begins with a line end that is not the text's own.
        count_lines("${before}" lines)
        math(EXPR number "${number} + ${lines}")
        string(SUBSTRING "${before}" 1 -1 before)
        set(text "\n${text}")
        string(REGEX REPLACE "^#include \"([^\"\n]*)\".*$" "\\1" child "${line}")
        get_property(expanded GLOBAL PROPERTY expanded)
        if(child IN_LIST expanded)
            string(APPEND result "${before}\n")
        else()
            set_property(GLOBAL APPEND PROPERTY expanded "${child}")
            expand("${ROOT}/${child}" "${child}" child_text)
            string(APPEND result "${before}${child_text}#line ${number} \"${name}\"\n")
        endif()
    endwhile()
    string(SUBSTRING "${text}" 1 -1 text)
    set(${out} "${result}${text}" PARENT_SCOPE)
endfunction()

get_filename_component(name "${INPUT}" NAME)
expand("${INPUT}" "${name}" text)
file(WRITE "${OUTPUT}.cl" "${text}")
file(READ "${OUTPUT}.cl" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REPEAT "." 80 row)
string(REGEX REPLACE "(${row})" "\\1\n" bytes "${bytes}")
file(WRITE "${OUTPUT}" "/* Generated from ${name}. */\n#include \"kernels/kernels.h\"\n\n"
                       "static const unsigned char text[] = {\n${bytes}0x00};\n\n"
                       "const char *const ${SYMBOL} = (const char *)text;\n")
