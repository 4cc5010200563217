#pragma once

#include "cairn/kernel.hpp"

#include <exception>
#include <new>
#include <string>

namespace cairn::autotune {

/// Runs code of a kernel. Exceptions become an Error that names the kernel; Cancelled is passed on unchanged.
template <typename F>
auto with_kernel_errors(const Kernel& kernel, const F& work) {
    const std::string prefix = kernel.id + ": ";
    try {
        return work();
    } catch (const Cancelled&) { throw; } catch (const Error& error) {
        throw Error(error.kind(), "measure", prefix + error.what());
    } catch (const std::bad_alloc&) {
        throw Error(ErrorKind::memory, "measure", prefix + "out of memory");
    } catch (const std::exception& error) {
        throw Error(ErrorKind::argument, "measure", prefix + error.what());
    } catch (...) {
        throw Error(ErrorKind::argument, "measure", prefix + "threw an exception that is not a std::exception");
    }
}

}  // namespace cairn::autotune
