#include "cairn/error.hpp"
#include "cairn/onnx/import.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

// Any bytes are a model that is imported, or one that is refused by a cairn::Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const int file = ::memfd_create("model.onnx", MFD_CLOEXEC);
    if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) __builtin_trap();
    try {
        cairn::onnx::import(cairn::onnx::Model::open("/proc/self/fd/" + std::to_string(file)), {.unroll_limit = 4});
    } catch (const cairn::InternalError&) { __builtin_trap(); } catch (const cairn::Error&) {
    }
    return 0;
}
