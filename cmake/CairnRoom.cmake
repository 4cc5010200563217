# cairn_room(<name> SOURCES file... [SEES room...] [USES eigen|sqlite|json|utf8proc|tommath|libmd...] [APART])
#
#   cairn_room(simplify SOURCES algebra.cpp simplify.cpp SEES types ir)
#
# Defines a room: the OBJECT library cairn_<name>. SEES lists the rooms whose headers its files include; house_test
# compares it with the table of permitted includes in docs/layout.md, and a test of the room links these rooms and,
# transitively, those that they see. APART excludes the room from unity builds (CAIRN_UNITY), because its files define
# equal names in unnamed namespaces.

# Compile settings of all code of the project, including tests and examples.
function(cairn_compile_settings target)
    target_compile_features(${target} PUBLIC cxx_std_20)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE -Wno-restrict)  # g++ 12 warns wrongly about std::string's operator+
    else()
        target_compile_options(${target} PRIVATE -Wno-sign-conversion)  # as g++ understands -Wconversion
    endif()
    if(CAIRN_WERROR)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
endfunction()

function(cairn_compile_together target)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # g++ takes the files that a unity source includes for headers and warns of their unnamed namespaces.
        target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
endfunction()

# Additional compile settings of code that is linked into a library.
function(cairn_object_settings target)
    cairn_compile_settings(${target})
    set_target_properties(${target} PROPERTIES
        POSITION_INDEPENDENT_CODE ON
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON)
    target_include_directories(${target} PRIVATE
        "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}")
endfunction()

# cairn_share_headers(<target> <owner> <settings> [LINKS target...] [HEADERS header...])
#
# Precompiles the most common standard headers and HEADERS once for all targets with the compile settings of the
# function `settings`. The precompiled header belongs to `owner`, an object library that the first call creates. Without
# CAIRN_UNITY, and with CAIRN_BUILD_FUZZERS, this does nothing.
function(cairn_share_headers target owner settings)
    # Fuzz targets instrument some rooms only, and Clang refuses a precompiled header with other sanitizers.
    if(NOT CAIRN_UNITY OR CAIRN_BUILD_FUZZERS)
        return()
    endif()
    cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "LINKS;HEADERS")
    if(NOT TARGET ${owner})
        set(source "${PROJECT_BINARY_DIR}/${owner}.cpp")
        file(GENERATE OUTPUT "${source}" CONTENT "")
        add_library(${owner} OBJECT "${source}")
        cmake_language(CALL ${settings} ${owner})
        target_link_libraries(${owner} PRIVATE ${arg_LINKS})
        target_precompile_headers(${owner} PRIVATE
            <algorithm> <functional> <map> <memory> <optional> <set> <span> <string> <variant> <vector> ${arg_HEADERS})
    endif()
    target_precompile_headers(${target} REUSE_FROM ${owner})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # g++ reports false positives in std::string if it comes from a precompiled header, which is no system header.
        # The preset `dev` has no precompiled headers and keeps these warnings.
        target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
    endif()
endfunction()

function(cairn_room name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "APART" "" "SOURCES;SEES;USES")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "cairn_room(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
    endif()
    set(target cairn_${name})
    add_library(${target} OBJECT ${arg_SOURCES})
    cairn_object_settings(${target})
    cairn_share_headers(${target} cairn_room_headers cairn_object_settings
        LINKS ${CAIRN_TARGET_threads} ${CAIRN_TARGET_fmt} HEADERS <fmt/format.h>)
    if(CAIRN_UNITY AND NOT arg_APART)
        cairn_compile_together(${target})
    endif()
    set(uses threads fmt ${arg_USES})
    foreach(use IN LISTS uses)
        if(NOT DEFINED CAIRN_TARGET_${use})
            message(FATAL_ERROR "cairn_room(${name}): USES ${use} is not in cmake/CairnDependencies.cmake")
        endif()
        target_link_libraries(${target} PRIVATE ${CAIRN_TARGET_${use}})
    endforeach()
    list(REMOVE_ITEM uses ${CAIRN_HEADER_ONLY})
    set_target_properties(${target} PROPERTIES CAIRN_SEES "${arg_SEES}" CAIRN_LINKS "${uses}")
endfunction()

# Sets `out` to the given rooms and, transitively, the rooms that they see, each once.
function(cairn_rooms_seen_by out)
    set(pending ${ARGN})
    set(found)
    while(pending)
        list(POP_FRONT pending room)
        if(NOT TARGET cairn_${room} OR room IN_LIST found)
            continue()
        endif()
        list(APPEND found ${room})
        get_target_property(seen cairn_${room} CAIRN_SEES)
        if(seen)
            list(APPEND pending ${seen})
        endif()
    endwhile()
    set(${out} ${found} PARENT_SCOPE)
endfunction()

# Sets `out` to the third-party libraries (short names of cmake/CairnDependencies.cmake) that the objects of the given
# rooms must be linked with.
function(cairn_links_of out)
    set(found)
    foreach(room IN LISTS ARGN)
        if(TARGET cairn_${room})
            get_target_property(links cairn_${room} CAIRN_LINKS)
            list(APPEND found ${links})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES found)
    set(${out} ${found} PARENT_SCOPE)
endfunction()

# Adds the objects of the given rooms to `target`, without the rooms that they see. The caller links the libraries of
# cairn_links_of().
function(cairn_add_rooms target)
    foreach(room IN LISTS ARGN)
        if(NOT TARGET cairn_${room})
            continue()
        endif()
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:cairn_${room}>)
        get_target_property(isa_objects cairn_${room} CAIRN_ISA_OBJECTS)
        if(isa_objects)
            target_sources(${target} PRIVATE ${isa_objects})
            set_source_files_properties(${isa_objects} TARGET_DIRECTORY ${target}
                PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
            get_target_property(isa_targets cairn_${room} CAIRN_ISA_TARGETS)
            add_dependencies(${target} ${isa_targets})
        endif()
    endforeach()
endfunction()
