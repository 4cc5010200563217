#include <cstdint>
#include <span>

#include "cairn/error.hpp"
#include "io/weights/safetensors_header.hpp"

/// All bytes are either rejected by a cairn::Error or describe tensors that cover the file exactly; anything else stops
/// the fuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    try {
        const auto header = cairn::weights::parse_safetensors_header(bytes, "fuzz");
        if (header.tensors.empty()) return 0;
        std::uint64_t reached = header.tensors.front().begin;
        if (reached < 8) __builtin_trap();
        for (const auto& tensor : header.tensors) {
            unsigned __int128 bits = tensor.dtype->bits;
            for (const auto count : tensor.shape) {
                if (count < 0) __builtin_trap();
                bits *= static_cast<std::uint64_t>(count);
            }
            if (tensor.begin != reached || tensor.end > size) __builtin_trap();
            if (bits != static_cast<unsigned __int128>(tensor.end - tensor.begin) * 8) __builtin_trap();
            reached = tensor.end;
        }
        if (reached != size) __builtin_trap();
    } catch (const cairn::Error& error) {
        if (error.kind() != cairn::ErrorKind::file) __builtin_trap();
    }
    return 0;
}
