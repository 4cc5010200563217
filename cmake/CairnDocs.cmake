# The optional target `docs`: the interface reference of include/cairn by Doxygen, in build/<preset>/docs/html. Warnings
# of Doxygen are errors.
find_package(Doxygen QUIET)
if(NOT DOXYGEN_FOUND)
    return()
endif()
set(DOXYGEN_PROJECT_NAME Cairn)
set(DOXYGEN_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/docs")
set(DOXYGEN_STRIP_FROM_PATH "${PROJECT_SOURCE_DIR}/include")
set(DOXYGEN_STRIP_FROM_INC_PATH "${PROJECT_SOURCE_DIR}/include")
set(DOXYGEN_JAVADOC_AUTOBRIEF YES)
set(DOXYGEN_EXTRACT_ALL YES)  # documented_test checks comments instead; it accepts one comment for a run of declarations
set(DOXYGEN_QUIET YES)
set(DOXYGEN_WARN_AS_ERROR FAIL_ON_WARNINGS)
set(DOXYGEN_MACRO_EXPANSION YES)
set(DOXYGEN_EXPAND_ONLY_PREDEF YES)
set(DOXYGEN_PREDEFINED CAIRN_API= __GNUC__=12 __cplusplus=202002L)
set(DOXYGEN_HIDE_FRIEND_COMPOUNDS YES)
set(DOXYGEN_USE_MDFILE_AS_MAINPAGE "${PROJECT_SOURCE_DIR}/docs/guide.md")
set(DOXYGEN_HAVE_DOT NO)
set(DOXYGEN_GENERATE_LATEX NO)
doxygen_add_docs(docs "${PROJECT_SOURCE_DIR}/include/cairn" "${PROJECT_SOURCE_DIR}/docs/guide.md"
                 "${PROJECT_SOURCE_DIR}/docs/gpu.md" "${PROJECT_SOURCE_DIR}/docs/add_a_kernel.md"
                 COMMENT "Writing the reference to ${PROJECT_BINARY_DIR}/docs/html")
