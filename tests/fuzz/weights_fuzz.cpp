#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cairn/error.hpp"
#include "io/weights/gguf_header.hpp"
#include "io/weights/safetensors_header.hpp"

namespace {

using Bytes = std::span<const std::byte>;

void require(bool holds) {
    if (!holds) __builtin_trap();
}

unsigned __int128 element_count(const std::vector<std::int64_t>& shape) {
    unsigned __int128 count = 1;
    for (const std::int64_t size : shape) {
        require(size >= 0);
        count *= static_cast<std::uint64_t>(size);
    }
    return count;
}

/// Tensors cover the file exactly.
void check_safetensors(Bytes bytes) {
    const auto header = cairn::weights::parse_safetensors_header(bytes, "fuzz");
    if (header.tensors.empty()) return;
    std::uint64_t reached = header.tensors.front().begin;
    require(reached >= 8);
    for (const auto& tensor : header.tensors) {
        require(tensor.begin == reached && tensor.end <= bytes.size());
        require(element_count(tensor.shape) * tensor.dtype->bits ==
                static_cast<unsigned __int128>(tensor.end - tensor.begin) * 8);
        reached = tensor.end;
    }
    require(reached == bytes.size());
}

/// Tensors are inside the file, without overlap, and every value can be read.
void check_gguf(Bytes bytes) {
    const auto header = cairn::weights::parse_gguf_header(bytes, "fuzz");
    std::vector<std::pair<std::uint64_t, std::uint64_t>> spans;
    for (const auto& tensor : header.tensors) {
        require(tensor.begin <= tensor.end && tensor.end <= bytes.size());
        require(element_count(tensor.shape) * tensor.type->bytes ==
                static_cast<unsigned __int128>(tensor.end - tensor.begin) * tensor.type->elements);
        if (tensor.begin != tensor.end) spans.emplace_back(tensor.begin, tensor.end);
    }
    std::sort(spans.begin(), spans.end());
    for (std::size_t i = 1; i < spans.size(); ++i) require(spans[i - 1].second <= spans[i].first);
    for (const auto& [key, value] : header.values) {
        const auto numbers = cairn::weights::numbers_of(value, bytes);
        const auto booleans = cairn::weights::booleans_of(value, bytes);
        const auto strings = cairn::weights::strings_of(value, bytes);
        const std::size_t count =
            (numbers ? numbers->size() : 0) + (booleans ? booleans->size() : 0) + (strings ? strings->size() : 0);
        require(count == value.count && !describe(value).empty());
        static_cast<void>(cairn::weights::integers_of(value, bytes));
    }
}

}  // namespace

/// All bytes are either rejected by a cairn::Error of kind file or satisfy the invariants of their format; anything
/// else stops the fuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    for (void (*const check)(Bytes) : {check_safetensors, check_gguf}) {
        try {
            check(std::as_bytes(std::span(data, size)));
        } catch (const cairn::Error& error) { require(error.kind() == cairn::ErrorKind::file); }
    }
    return 0;
}
