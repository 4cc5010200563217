# Installs the command and one linkage of the library into FIRST, moves the tree to THEN, and runs the command there.
file(REMOVE_RECURSE "${FIRST}" "${THEN}")
foreach(component cairn_command cairn_${LINKAGE})
    execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${FIRST}" --component ${component}
        COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(RENAME "${FIRST}" "${THEN}")

execute_process(COMMAND "${THEN}/${BINDIR}/cairn" --version OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
if(NOT said STREQUAL "cairn ${VERSION}\n")
    message(FATAL_ERROR "cairn --version said ${said}")
endif()
execute_process(COMMAND "${THEN}/${BINDIR}/cairn" bench "exp | f32[64] -> f32[64]" --budget 5ms
    OUTPUT_VARIABLE times COMMAND_ERROR_IS_FATAL ANY)
if(NOT times MATCHES "cpu.reference.exp@1")
    message(FATAL_ERROR "cairn bench said ${times}")
endif()
