#pragma once

/// The functions of a shared object that the emulator finds by name.
#define CAIRN_ENTRY __attribute__((visibility("default"), no_sanitize("thread")))

/// Calls of kernels with their arguments as cuLaunchKernel takes them: an array of addresses of values.
namespace cairn::emulated_cuda {

template <unsigned... n>
struct Numbers {};
template <unsigned n, unsigned... more>
struct NumbersBelow : NumbersBelow<n - 1, n - 1, more...> {};
template <unsigned... more>
struct NumbersBelow<0, more...> {
    using type = Numbers<more...>;
};

// Arguments are in memory of the host, so that reading them is not an access of the kernel.
template <class... Parameters, unsigned... n>
__attribute__((no_sanitize("thread"))) void call_numbered(void (*kernel)(Parameters...), void** arguments,
                                                          Numbers<n...>) {
    kernel(*static_cast<Parameters*>(arguments[n])...);
}

template <class... Parameters>
__attribute__((no_sanitize("thread"))) void call(void (*kernel)(Parameters...), void** arguments) {
    call_numbered(kernel, arguments, typename NumbersBelow<sizeof...(Parameters)>::type());
}

/// The number of parameters, which a launch must give.
template <class... Parameters>
constexpr unsigned parameters(void (*)(Parameters...)) {
    return sizeof...(Parameters);
}

}  // namespace cairn::emulated_cuda
