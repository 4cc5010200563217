#include "io/onnx_node/known.hpp"

#include "graph/types/half.hpp"

#include <algorithm>
#include <concepts>
#include <cstring>
#include <functional>

namespace cairn::inline v0::onnx {
namespace {

template <typename T>
void append(const TensorProto& tensor, std::int64_t count, Known& to) {
    for (std::int64_t i = 0; i < count; ++i) {
        T element;
        std::memcpy(&element, tensor.data.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
        if constexpr (std::floating_point<T>)
            to.floats.push_back(static_cast<double>(element));
        else
            to.integers.emplace_back(static_cast<std::int64_t>(element));
    }
}

template <typename Convert>
void append_halves(const TensorProto& tensor, std::int64_t count, Known& to, Convert convert) {
    for (std::int64_t i = 0; i < count; ++i) {
        std::uint16_t bits;
        std::memcpy(&bits, tensor.data.data() + 2 * i, 2);
        to.floats.push_back(static_cast<double>(convert(bits)));
    }
}

/// `of` of two constants as unsigned integers, which wrap; otherwise of the sizes.
template <typename Of>
Dim wrapping(const Dim& a, const Dim& b, Of of) {
    if (!a.is_constant() || !b.is_constant()) return of(a, b);
    return static_cast<std::int64_t>(
        of(static_cast<std::uint64_t>(a.constant()), static_cast<std::uint64_t>(b.constant())));
}

}  // namespace

bool is_float_type(ElementType type) noexcept {
    return type == ElementType::f32 || type == ElementType::f64 || type == ElementType::f16 ||
           type == ElementType::bf16;
}

bool is_integer_type(ElementType type) noexcept {
    switch (type) {
        case ElementType::u8:
        case ElementType::i8:
        case ElementType::u16:
        case ElementType::i16:
        case ElementType::i32:
        case ElementType::i64:
        case ElementType::u32:
        case ElementType::u64: return true;
        default: return false;
    }
}

bool Known::is_float() const noexcept { return is_float_type(type); }

bool Known::is_constant() const noexcept {
    return std::ranges::all_of(integers, [](const Dim& dim) { return dim.is_constant(); });
}

Known Known::scalar(ElementType type, Dim value) { return {type, {}, {std::move(value)}, {}}; }

Known Known::list(std::vector<Dim> values, ElementType type) {
    const auto size = static_cast<std::int64_t>(values.size());
    return {type, {size}, std::move(values), {}};
}

Known Known::number(ElementType type, double value) { return {type, {}, {}, {value}}; }

std::optional<Known> known_from(const TensorProto& tensor) {
    const std::int64_t count = tensor.elements();
    if (tensor.is_external || count > (is_float_type(tensor.type) ? most_known_floats : most_known_elements))
        return std::nullopt;
    Known known{tensor.type, tensor.dims, {}, {}};
    switch (tensor.type) {
        case ElementType::f32: append<float>(tensor, count, known); break;
        case ElementType::f64: append<double>(tensor, count, known); break;
        case ElementType::f16: append_halves(tensor, count, known, types::f16_to_f32); break;
        case ElementType::bf16: append_halves(tensor, count, known, types::bf16_to_f32); break;
        case ElementType::boolean:
        case ElementType::u8: append<std::uint8_t>(tensor, count, known); break;
        case ElementType::i8: append<std::int8_t>(tensor, count, known); break;
        case ElementType::u16: append<std::uint16_t>(tensor, count, known); break;
        case ElementType::i16: append<std::int16_t>(tensor, count, known); break;
        case ElementType::i32: append<std::int32_t>(tensor, count, known); break;
        case ElementType::u32: append<std::uint32_t>(tensor, count, known); break;
        case ElementType::i64: append<std::int64_t>(tensor, count, known); break;
        default: return std::nullopt;
    }
    return known;
}

double rounded_to(ElementType type, double value) {
    switch (type) {
        case ElementType::f32: return static_cast<double>(static_cast<float>(value));
        case ElementType::f16: return static_cast<double>(types::f16_to_f32(types::f64_to_f16(value)));
        case ElementType::bf16: return static_cast<double>(types::bf16_to_f32(types::f64_to_bf16(value)));
        default: return value;
    }
}

std::int64_t wrapped_to(ElementType type, std::int64_t value) noexcept {
    switch (type) {
        case ElementType::boolean: return value != 0 ? 1 : 0;
        case ElementType::u8: return static_cast<std::uint8_t>(value);
        case ElementType::i8: return static_cast<std::int8_t>(value);
        case ElementType::u16: return static_cast<std::uint16_t>(value);
        case ElementType::i16: return static_cast<std::int16_t>(value);
        case ElementType::i32: return static_cast<std::int32_t>(value);
        case ElementType::u32: return static_cast<std::uint32_t>(value);
        default: return value;
    }
}

Dim wrapping_sum(const Dim& a, const Dim& b) { return wrapping(a, b, std::plus()); }
Dim wrapping_difference(const Dim& a, const Dim& b) { return wrapping(a, b, std::minus()); }
Dim wrapping_product(const Dim& a, const Dim& b) { return wrapping(a, b, std::multiplies()); }

}  // namespace cairn::inline v0::onnx
