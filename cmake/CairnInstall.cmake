# Install rules: headers, libraries, CMake package, pkg-config files. The installed tree is relocatable. Install
# components: cairn_dev (headers, package files), cairn_static, cairn_shared (libraries), cairn_command (the command,
# which contains the static library or finds the shared one relative to itself).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/cairn")
get_property(components GLOBAL PROPERTY CAIRN_COMPONENTS)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/cairn" TYPE INCLUDE COMPONENT cairn_dev FILES_MATCHING PATTERN "*.hpp")

foreach(linkage IN LISTS CAIRN_LINKAGES)
    foreach(component IN LISTS components)
        install(TARGETS cairn_lib_${component}_${linkage} EXPORT cairn-${linkage}
            LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT cairn_${linkage}
            ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT cairn_${linkage})
        # The installed libraries find one another relative to their own folder.
        set_target_properties(cairn_lib_${component}_${linkage} PROPERTIES INSTALL_RPATH "$ORIGIN")
    endforeach()
    if(components)
        install(EXPORT cairn-${linkage} NAMESPACE cairn:: DESTINATION "${package_dir}"
            FILE cairn-${linkage}.cmake COMPONENT cairn_${linkage})
    endif()
endforeach()

if(CAIRN_BUILD_COMMAND)
    file(RELATIVE_PATH lib_from_bin "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(cairn_command cairn-compare_command PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_bin}")
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/apps/compare/adapters" DESTINATION "${CMAKE_INSTALL_DATADIR}/cairn"
        COMPONENT cairn_command)
    install(TARGETS cairn_command cairn-compare_command RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT cairn_command)
endif()

# The relative path from lib/pkgconfig to the prefix.
file(RELATIVE_PATH PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" PC_PREFIX "${PC_PREFIX}")

# The packages that a static link of the library needs, and a pkg-config file for each component.
set(dependencies)
foreach(component IN LISTS components)
    get_property(rooms GLOBAL PROPERTY CAIRN_ROOMS_OF_${component})
    cairn_links_of(uses ${rooms})
    set(requires)
    set(libs)
    foreach(use IN LISTS uses)
        string(APPEND requires "${CAIRN_PC_REQUIRES_${use}} ")
        string(APPEND libs "${CAIRN_PC_LIBS_${use}} ")
        list(APPEND dependencies ${CAIRN_PACKAGE_${use}})
    endforeach()
    get_property(links GLOBAL PROPERTY CAIRN_LINKS_OF_${component})
    list(TRANSFORM links REPLACE "^(text|models|onnx)$" "cairn-\\1")
    string(REPLACE ";" " " PC_REQUIRES "${links}")
    string(STRIP "${requires}" PC_REQUIRES_PRIVATE)
    string(STRIP "${libs}" PC_LIBS_PRIVATE)
    if(component STREQUAL "cairn")
        set(PC_NAME cairn)
        set(PC_LIBRARY cairn)
    else()
        set(PC_NAME cairn-${component})
        set(PC_LIBRARY cairn_${component})
    endif()
    configure_file("${PROJECT_SOURCE_DIR}/cmake/cairn.pc.in" "${PROJECT_BINARY_DIR}/pkgconfig/${PC_NAME}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/pkgconfig/${PC_NAME}.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT cairn_dev)
endforeach()

list(REMOVE_DUPLICATES dependencies)
set(STATIC_DEPENDENCIES "${dependencies}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/cairnConfig.cmake.in" "${PROJECT_BINARY_DIR}/cairnConfig.cmake"
    INSTALL_DESTINATION "${package_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cairnConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cairnConfig.cmake" "${PROJECT_BINARY_DIR}/cairnConfigVersion.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/Findutf8proc.cmake" "${PROJECT_SOURCE_DIR}/cmake/Findtommath.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/Findlibmd.cmake"
    DESTINATION "${package_dir}" COMPONENT cairn_dev)
