# Third-party libraries. All are private: no public header includes one. A room lists the libraries it needs by the
# short names defined here, cairn_room(... USES sqlite json); every room has threads and fmt.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(SQLite3 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(utf8proc REQUIRED)
find_package(tommath REQUIRED)
find_package(libmd REQUIRED)
find_package(protozero REQUIRED)
# Only the programs parse command lines.
if(CAIRN_BUILD_COMMAND OR CAIRN_BUILD_EXAMPLES)
    find_package(CLI11 REQUIRED)
endif()
# cairn-compare is configured by TOML files.
if(CAIRN_BUILD_COMMAND)
    find_package(tomlplusplus REQUIRED)
endif()

# cairn_dependency(<short name> <CMake target> <CMake package> [REQUIRES pkg-config name] [LIBS flags])
#
# Defines the short name of a library. The package configuration and the pkg-config files of the static library name the
# package, REQUIRES and LIBS.
function(cairn_dependency word target package)
    cmake_parse_arguments(PARSE_ARGV 3 arg "" "REQUIRES;LIBS" "")
    set(CAIRN_TARGET_${word} ${target} PARENT_SCOPE)
    set(CAIRN_PACKAGE_${word} ${package} PARENT_SCOPE)
    set(CAIRN_PC_REQUIRES_${word} "${arg_REQUIRES}" PARENT_SCOPE)
    set(CAIRN_PC_LIBS_${word} "${arg_LIBS}" PARENT_SCOPE)
endfunction()

cairn_dependency(threads Threads::Threads Threads LIBS "-pthread")
cairn_dependency(fmt fmt::fmt fmt REQUIRES fmt)
cairn_dependency(eigen Eigen3::Eigen Eigen3)
cairn_dependency(sqlite SQLite::SQLite3 SQLite3 REQUIRES sqlite3)
cairn_dependency(json nlohmann_json::nlohmann_json nlohmann_json)
cairn_dependency(utf8proc utf8proc::utf8proc utf8proc REQUIRES libutf8proc)
cairn_dependency(cli11 CLI11::CLI11 CLI11)
cairn_dependency(tommath tommath::tommath tommath REQUIRES libtommath)
cairn_dependency(libmd libmd::libmd libmd REQUIRES libmd)
cairn_dependency(tomlplusplus tomlplusplus::tomlplusplus tomlplusplus)
cairn_dependency(protozero protozero::protozero protozero)

# Header-only libraries: users of the static library need not have them installed.
set(CAIRN_HEADER_ONLY eigen json cli11 protozero)
