# Compiles SOURCE with the flags of pkg-config for the library under PREFIX, and runs it.
set(ENV{PKG_CONFIG_PATH} "${PREFIX}/${LIBDIR}/pkgconfig")
set(arguments --cflags --libs)
if(LINKAGE STREQUAL "static")
    list(PREPEND arguments --static)
endif()
execute_process(COMMAND pkg-config ${arguments} cairn
    OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
execute_process(COMMAND "${CXX}" -std=c++20 -O1 -Wall -Wextra -Wconversion -Werror "${SOURCE}" -o "${PROGRAM}" ${flags}
    COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
set(ENV{LD_LIBRARY_PATH} "${PREFIX}/${LIBDIR}")
execute_process(COMMAND "${PROGRAM}" COMMAND_ERROR_IS_FATAL ANY)
