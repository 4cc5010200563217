# cairn_test(<name> SOURCES file... [LIBS room|component|target...] [EXACT] [APART] [COMPUTES] [LABELS label...]
#            [TIMEOUT seconds] [COST seconds])
#
#   cairn_test(simplify_test SOURCES algebra_test.cpp simplify_test.cpp LIBS simplify)
#
# Builds a GoogleTest executable and registers each of its test cases with ctest. LIBS may name
#   * a room (`simplify`): its objects and those of every room it sees are linked, so that internal headers can be used;
#     with EXACT only the rooms named;
#   * `everything`: all objects of cairn::cairn, so that internal names can be linked;
#   * `text`, `models`, `onnx`: the same for these components;
#   * a third-party library by its short name in CairnDependencies.cmake (`json`), or any other CMake target.
# APART excludes the test from unity builds (CAIRN_UNITY).
# COMPUTES: the test itself computes so much that its code is optimised.
# COST is about how long its longest test takes: ctest begins with the longest ones, so that none is left to run alone.
# Tests find the source tree by the macro CAIRN_SOURCE_DIR and may write files under CAIRN_BINARY_DIR.
find_package(GTest REQUIRED)
include(GoogleTest)

# Sets `out` to a static library with all objects of a component, in which internal names can be linked: the component's
# static library if it is built, else an archive for tests.
function(cairn_inside out component)
    if(TARGET cairn_lib_${component}_static)
        set(${out} cairn_lib_${component}_static PARENT_SCOPE)
        return()
    endif()
    if(NOT TARGET cairn_inside_${component})
        get_property(rooms GLOBAL PROPERTY CAIRN_ROOMS_OF_${component})
        add_library(cairn_inside_${component} STATIC EXCLUDE_FROM_ALL)
        cairn_add_rooms(cairn_inside_${component} ${rooms})
        cairn_links_of(uses ${rooms})
        foreach(use IN LISTS uses)
            target_link_libraries(cairn_inside_${component} PRIVATE ${CAIRN_TARGET_${use}})
        endforeach()
        set_target_properties(cairn_inside_${component} PROPERTIES LINKER_LANGUAGE CXX)
        get_property(links GLOBAL PROPERTY CAIRN_LINKS_OF_${component})
        foreach(other IN LISTS links)
            cairn_inside(inside ${other})
            target_link_libraries(cairn_inside_${component} PUBLIC ${inside})
        endforeach()
    endif()
    set(${out} cairn_inside_${component} PARENT_SCOPE)
endfunction()

# Links `everything`, all of it in front of the target's own code: of functions that both instantiate, the linker takes
# the first, which is optimised.
function(cairn_link_everything target)
    cairn_inside(inside cairn)
    target_link_options(${target} PRIVATE
        "SHELL:-Wl,--whole-archive $<TARGET_FILE:${inside}> -Wl,--no-whole-archive")
    target_link_libraries(${target} PRIVATE ${inside})
endfunction()

function(cairn_test_settings target)
    cairn_compile_settings(${target})
    target_include_directories(${target} PRIVATE
        "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}")
    target_compile_definitions(${target} PRIVATE
        "CAIRN_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"" "CAIRN_BINARY_DIR=\"${PROJECT_BINARY_DIR}\"")
    # Tests spend their run time in the library: their own code compiles in two thirds of the time without optimisation.
    target_compile_options(${target} PRIVATE -O0)
endfunction()

function(cairn_computing_test_settings target)
    cairn_test_settings(${target})
    # Sanitizers instrument every expectation, which makes optimisation slower still.
    if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
        target_compile_options(${target} PRIVATE -O1)
    endif()
endfunction()

function(cairn_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "EXACT;APART;COMPUTES" "TIMEOUT;COST" "SOURCES;LIBS;LABELS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "cairn_test(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 600)
    endif()
    if(NOT arg_COST)
        set(arg_COST 0)
    endif()
    add_executable(${name} ${arg_SOURCES})
    set(kind test)
    if(arg_COMPUTES)
        set(kind computing_test)
    endif()
    cmake_language(CALL cairn_${kind}_settings ${name})
    cairn_share_headers(${name} cairn_${kind}_headers cairn_${kind}_settings
        LINKS GTest::gmock HEADERS <gmock/gmock.h> <gtest/gtest.h>)
    if(CAIRN_UNITY AND NOT arg_APART)
        cairn_compile_together(${name})
    endif()
    target_link_libraries(${name} PRIVATE GTest::gmock GTest::gtest_main)

    set(rooms)
    foreach(lib IN LISTS arg_LIBS)
        if(lib STREQUAL "everything")
            cairn_link_everything(${name})
        elseif(lib MATCHES "^(cairn::)?(text|models|onnx)$")
            cairn_inside(inside ${CMAKE_MATCH_2})
            target_link_libraries(${name} PRIVATE ${inside})
        elseif(TARGET cairn_${lib})
            list(APPEND rooms ${lib})
        elseif(DEFINED CAIRN_TARGET_${lib})
            target_link_libraries(${name} PRIVATE ${CAIRN_TARGET_${lib}})
        else()
            target_link_libraries(${name} PRIVATE ${lib})
        endif()
    endforeach()
    if(NOT arg_EXACT)
        cairn_rooms_seen_by(rooms ${rooms})
    endif()
    cairn_add_rooms(${name} ${rooms})
    cairn_links_of(uses ${rooms})
    foreach(use threads fmt ${uses})
        target_link_libraries(${name} PRIVATE ${CAIRN_TARGET_${use}})
    endforeach()

    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 300
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
        PROPERTIES TIMEOUT ${arg_TIMEOUT} COST ${arg_COST} LABELS "${arg_LABELS}")
endfunction()
