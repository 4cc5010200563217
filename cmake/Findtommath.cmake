# Finds LibTomMath, which has no CMake package of its own in Debian. Defines tommath::tommath.
find_path(tommath_INCLUDE_DIR tommath.h)
find_library(tommath_LIBRARY tommath)
mark_as_advanced(tommath_INCLUDE_DIR tommath_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(tommath REQUIRED_VARS tommath_LIBRARY tommath_INCLUDE_DIR)

if(tommath_FOUND AND NOT TARGET tommath::tommath)
    add_library(tommath::tommath UNKNOWN IMPORTED)
    set_target_properties(tommath::tommath PROPERTIES
        IMPORTED_LOCATION "${tommath_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${tommath_INCLUDE_DIR}")
endif()
