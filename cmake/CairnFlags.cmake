# cairn_tell_flags(<target> <source> [flag...]): `source` sees, as texts, CAIRN_KERNEL_FLAGS, all flags that `target` and
# these flags compile code with, and CAIRN_KERNEL_LIBRARIES, the versions of what is compiled in. Times measured with one
# set of them say nothing of code compiled with another.
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
