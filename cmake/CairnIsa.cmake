# cairn_isa_sources(<room> LEVEL avx2 [FLAGS -mavx2...] TABLE cairn_table_avx2 SOURCES file... [USES eigen...])
#
# Compiles the sources for one instruction set and adds them to the room as ONE object whose only global symbol is
# TABLE. Reason: a template instance or inline function compiled for AVX-512 is a weak symbol; the linker may choose
# that copy for the whole program, which then fails with an illegal instruction on an older machine. So the objects of
# each level are
#   1. compiled with hidden visibility and without GNU-unique symbols,
#   2. merged by `ld -r --force-group-allocation`, which dissolves their COMDAT groups,
#   3. stripped of all global symbols but the table's by `objcopy --keep-global-symbol`.
# objects_test checks the result. The macro CAIRN_ISA is the level as an identifier, for namespaces and the table's
# name. A level without sources is omitted.
function(cairn_isa_sources room)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "LEVEL;TABLE" "FLAGS;SOURCES;USES")
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_LEVEL OR NOT arg_TABLE)
        message(FATAL_ERROR "cairn_isa_sources(${room}): LEVEL and TABLE are needed; unknown: ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT arg_SOURCES)
        return()
    endif()

    set(level_target cairn_${room}_${arg_LEVEL})
    add_library(${level_target} OBJECT ${arg_SOURCES})
    cairn_object_settings(${level_target})
    foreach(use fmt ${arg_USES})
        target_link_libraries(${level_target} PRIVATE ${CAIRN_TARGET_${use}})
    endforeach()
    target_compile_definitions(${level_target} PRIVATE CAIRN_ISA=${arg_LEVEL})
    # No code reads errno or the floating-point exception flags after a kernel; contraction only removes roundings.
    target_compile_options(${level_target} PRIVATE
        $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique> -fno-math-errno -fno-trapping-math -ffp-contract=fast ${arg_FLAGS})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # At -O1 GCC contracts only with this option: without it, each multiply-add would round twice.
        target_compile_options(${level_target} PRIVATE $<$<CONFIG:Debug>:-fexpensive-optimizations>)
        # The compiler's own AVX-512 headers leave "undefined" vectors uninitialised on purpose.
        target_compile_options(${level_target} PRIVATE -Wno-maybe-uninitialized -Wno-uninitialized)
    endif()
    # Link-time optimisation would hide the code from step 2 and could inline code of one level into another.
    set_target_properties(${level_target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)

    set(merged "${CMAKE_CURRENT_BINARY_DIR}/isa/${arg_LEVEL}.merged.o")
    set(object "${CMAKE_CURRENT_BINARY_DIR}/isa/${arg_TABLE}.o")
    file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/isa")
    add_custom_command(OUTPUT "${object}"
        COMMAND "${CMAKE_LINKER}" -r --force-group-allocation -o "${merged}" "$<TARGET_OBJECTS:${level_target}>"
        COMMAND "${CMAKE_OBJCOPY}" "--keep-global-symbol=${arg_TABLE}" "${merged}" "${object}"
        COMMAND "${CMAKE_COMMAND}" -E rm -f "${merged}"
        DEPENDS "$<TARGET_OBJECTS:${level_target}>"
        COMMENT "Merging the ${arg_LEVEL} kernels into one object"
        COMMAND_EXPAND_LISTS VERBATIM)
    add_custom_target(${level_target}_object DEPENDS "${object}")
    add_dependencies(${level_target}_object ${level_target})

    set_property(TARGET cairn_${room} APPEND PROPERTY CAIRN_ISA_OBJECTS "${object}")
    set_property(TARGET cairn_${room} APPEND PROPERTY CAIRN_ISA_TARGETS ${level_target}_object)
endfunction()
