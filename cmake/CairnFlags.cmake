# cairn_tell_flags(<target> <source> [flag...])
#
# Defines two string macros in `source`: CAIRN_KERNEL_FLAGS, the compiler flags of `target` and the given ones, and
# CAIRN_KERNEL_LIBRARIES, the versions of the libraries compiled in. They are part of the hardware fingerprint: times
# measured with one set of flags are not valid for code compiled with another.
function(cairn_tell_flags target source)
    set(flags "${CMAKE_CXX_FLAGS}")
    foreach(config Debug Release RelWithDebInfo MinSizeRel)
        string(TOUPPER ${config} upper)
        string(APPEND flags " $<$<CONFIG:${config}>:${CMAKE_CXX_FLAGS_${upper}}>")
    endforeach()
    string(APPEND flags " $<JOIN:$<TARGET_PROPERTY:${target},COMPILE_OPTIONS>, >")
    string(JOIN " " more ${ARGN})
    set_property(SOURCE "${source}" TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_DEFINITIONS
        "CAIRN_KERNEL_FLAGS=\"${flags} ${more}\"" "CAIRN_KERNEL_LIBRARIES=\"eigen ${Eigen3_VERSION}\"")
endfunction()
