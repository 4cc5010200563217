# cairn_command(<program> MAIN file ROOMS room... [LINKS component...])
#
# Builds build/<preset>/bin/<program> from a main file and the objects of rooms that include only public headers of
# the library and of the components in LINKS.
function(cairn_command program)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "MAIN" "ROOMS;LINKS")
    set(target ${program}_command)
    add_executable(${target} ${arg_MAIN})
    cairn_object_settings(${target})
    cairn_add_rooms(${target} ${arg_ROOMS})
    cairn_links_of(uses ${arg_ROOMS})
    foreach(use IN LISTS uses)
        target_link_libraries(${target} PRIVATE ${CAIRN_TARGET_${use}})
    endforeach()
    target_link_libraries(${target} PRIVATE cairn::cairn)
    foreach(component IN LISTS arg_LINKS)
        target_link_libraries(${target} PRIVATE cairn::${component})
    endforeach()
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
endfunction()
