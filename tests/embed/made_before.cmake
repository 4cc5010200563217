# A compiler launcher for Cairn as a subdirectory, in the build folder HERE. It copies an object from the build folder
# BUILD if that build compiled the same source by the same command, and fails otherwise. The user's own sources are
# compiled.
#
#   cmake -DBUILD=... -DHERE=... -P made_before.cmake -- c++ flags... -o OBJECT -c SOURCE
set(command)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE 6 ${last})
    list(APPEND command "${CMAKE_ARGV${i}}")
endforeach()
list(FIND command "-o" at)
math(EXPR at "${at} + 1")
list(GET command ${at} object)
if(NOT object MATCHES "^cairn/")
    execute_process(COMMAND ${command} COMMAND_ERROR_IS_FATAL ANY)
    return()
endif()

list(GET command -1 source)
string(REPLACE "${HERE}/cairn/" "${BUILD}/" source_there "${source}")
string(REGEX MATCH "^cairn/(.*/CMakeFiles/[^/]+[.]dir)/" _ "${object}")
set(target "${CMAKE_MATCH_1}")
file(STRINGS "${BUILD}/compile_commands.json" line REGEX " -o ${target}/[^ ]+ -c ${source_there}\"")
string(REGEX REPLACE "^ *\"command\": \"(.*)\",?$" "\\1" there "${line}")
string(REGEX REPLACE "^.* -o ([^ ]+) -c .*$" "\\1" made "${there}")

# Sets `out` to the command without paths of its own build, and without quotes, since their escaping depends on where
# the command was read.
function(bare out command)
    string(REGEX REPLACE " -MD -MT [^ ]+ -MF [^ ]+" "" command "${command}")
    string(REGEX REPLACE " -o [^ ]+ -c [^ ]+$" "" command "${command}")
    string(REPLACE "${HERE}/cairn/" "${BUILD}/" command "${command}")
    string(REGEX REPLACE "[\\\"]" "" command "${command}")
    set(${out} "${command}" PARENT_SCOPE)
endfunction()
list(JOIN command " " here)
bare(here "${here}")
bare(there "${there}")
if(NOT here STREQUAL there)
    message(FATAL_ERROR "${object} as a subdirectory:\n${here}\nby itself:\n${there}")
endif()
file(SHA256 "${source}" text_here)
file(SHA256 "${source_there}" text_there)
if(NOT text_here STREQUAL text_there)
    message(FATAL_ERROR "${source} is not what ${source_there} is")
endif()
file(COPY_FILE "${BUILD}/${made}" "${HERE}/${object}")
# Ninja expects the dependency file that the command names.
list(FIND command "-MF" at)
if(NOT at EQUAL -1)
    math(EXPR at "${at} + 1")
    list(GET command ${at} headers)
    file(WRITE "${HERE}/${headers}" "${object}:\n")
endif()
