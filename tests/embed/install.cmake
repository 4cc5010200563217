# Installs one linkage of the library into FIRST and moves the tree to THEN. Package files must not contain the path of
# FIRST or of the build.
file(REMOVE_RECURSE "${FIRST}" "${THEN}")
foreach(component cairn_dev cairn_${LINKAGE})
    execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${FIRST}" --component ${component}
        COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(RENAME "${FIRST}" "${THEN}")

file(GLOB_RECURSE texts "${THEN}/*.cmake" "${THEN}/*.pc")
if(NOT texts)
    message(FATAL_ERROR "no package file was installed")
endif()
foreach(path IN LISTS texts)
    file(READ "${path}" text)
    foreach(place "${FIRST}" "${BUILD}")
        string(FIND "${text}" "${place}" at)
        if(NOT at EQUAL -1)
            message(FATAL_ERROR "${path} names ${place}")
        endif()
    endforeach()
endforeach()
