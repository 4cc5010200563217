#include "types/convert_floats.hpp"

#include "types/half.hpp"

#include <cstdint>
#include <cstring>

namespace cairn::inline v0::types {
namespace {

template <typename T>
T element(const std::byte* data, std::size_t i) {
    T value;
    std::memcpy(&value, data + i * sizeof value, sizeof value);
    return value;
}
template <typename T>
void set_element(std::byte* data, std::size_t i, T value) {
    std::memcpy(data + i * sizeof value, &value, sizeof value);
}

/// Calls work(number of an element as double).
template <typename Work>
void with_reader(DType dtype, const std::byte* from, const Work& work) {
    switch (dtype) {
        case DType::f64: return work([=](std::size_t i) { return element<double>(from, i); });
        case DType::f32: return work([=](std::size_t i) -> double { return element<float>(from, i); });
        case DType::f16:
            return work([=](std::size_t i) -> double { return f16_to_f32(element<std::uint16_t>(from, i)); });
        case DType::bf16:
            return work([=](std::size_t i) -> double { return bf16_to_f32(element<std::uint16_t>(from, i)); });
        case DType::i64:
        case DType::i32:
        case DType::i8:
        case DType::u8:
        case DType::boolean: throw InternalError("types", "integers are not converted as floats");
    }
}

}  // namespace

void convert_floats(std::byte* to, DType to_dtype, const std::byte* from, DType from_dtype, std::size_t count) {
    with_reader(from_dtype, from, [&](const auto& read) {
        const auto write = [&](const auto& rounded) {
            for (std::size_t i = 0; i < count; ++i) set_element(to, i, rounded(read(i)));
        };
        switch (to_dtype) {
            case DType::f64: return write([](double x) { return x; });
            case DType::f32: return write([](double x) { return static_cast<float>(x); });
            case DType::f16: return write([](double x) { return f64_to_f16(x); });
            case DType::bf16: return write([](double x) { return f64_to_bf16(x); });
            case DType::i64:
            case DType::i32:
            case DType::i8:
            case DType::u8:
            case DType::boolean: throw InternalError("types", "floats are not converted to integers");
        }
    });
}

}  // namespace cairn::inline v0::types
