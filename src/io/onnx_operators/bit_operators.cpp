#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/small_floats.hpp"

#include <fmt/format.h>

#include <array>

namespace cairn::inline v0::onnx {
namespace {

void make_bitwise_and(Node& node) {
    const Tensor a = node.tensor(0), b = node.tensor(1);
    node.set(0, bitwise_and(a, b));
}

// Bits that both have are carried out of a + b; the sums wrap around.
void make_bitwise_or(Node& node) {
    const Tensor a = node.tensor(0), b = node.tensor(1), common = bitwise_and(a, b);
    node.set(0, a + b - common);
}

void make_bitwise_xor(Node& node) {
    const Tensor a = node.tensor(0), b = node.tensor(1), common = bitwise_and(a, b);
    node.set(0, a + b - common - common);
}

/// All bits inverted: -1 - x, in u8 255 - x.
Tensor inverted_bits(const Tensor& x) { return x.dtype() == DType::u8 ? 255 - x : -1 - x; }

void make_bitwise_not(Node& node) {
    const Tensor x = node.tensor(0);
    if (!is_integer(x.dtype())) node.refuse(fmt::format("there are no bits of {}", to_string(x.dtype())));
    node.set(0, inverted_bits(x));
}

/// 2^shift for 0 <= shift < bits, wrapped around: the product of 2^(2^k) over the bits k of `shift`.
Tensor power_of_shift(const Tensor& shift, int bits) {
    Tensor power;
    for (int k = 0; (1 << k) < bits; ++k) {
        const Tensor has_bit = bitwise_and(shift, 1 << k) != 0;
        const Tensor one = cast(has_bit, shift.dtype());
        const Tensor factor = one * ((std::int64_t{1} << (1 << k)) - 1) + 1;
        power = power.empty() ? factor : power * factor;
    }
    return power;
}

/// x moved `shift` bits to the left, or to the right with copies of the sign.
void make_bit_shift(Node& node) {
    const std::string direction = node.text("direction", "");
    if (direction != "LEFT" && direction != "RIGHT")
        node.refuse(fmt::format("its direction is '{}' instead of LEFT or RIGHT", direction));
    const Tensor x = node.tensor(0), shift = node.tensor(1);
    const bool has_sign = x.dtype() != DType::u8;
    const int bits = static_cast<int>(8 * size_of(x.dtype()));
    const Tensor power = power_of_shift(shift, bits);
    // Without the sign, the highest power that is positive.
    const int end = direction == "RIGHT" && has_sign ? bits - 1 : bits;
    Tensor is_inside = shift < end;
    if (has_sign) is_inside = is_inside && shift >= 0;
    if (direction == "LEFT") return node.set(0, where(is_inside, x * power, 0));
    if (!has_sign) return node.set(0, where(is_inside, x / power, 0));
    // Division truncates: negative numbers are divided by way of their inverted bits, which are not negative.
    const Tensor is_negative = x < 0;
    const Tensor magnitude = where(is_negative, inverted_bits(x), x);
    const Tensor moved = where(is_inside, magnitude / power, 0);
    node.set(0, where(is_negative, inverted_bits(moved), moved));
}

/// Floats of 8 bits are held in u8.
DType bits_dtype(ElementType type) {
    return is_small_float(type) && type != ElementType::f4_e2m1 ? DType::u8 : require_dtype(type);
}

void make_bit_cast(Node& node) {
    node.integer("to");  // required
    const ElementType from = node.type(0), to = node.element_type("to", ElementType::undefined);
    const DType source = bits_dtype(from), target = bits_dtype(to);
    if (size_of(source) != size_of(target))
        node.refuse(fmt::format("{} and {} differ in size", to_string(from), to_string(to)));
    Tensor bits = node.held(0);
    if (source == DType::boolean && target != DType::boolean) bits = cast(bits, DType::u8);
    if (target == DType::boolean && source != DType::boolean)
        bits = bits != 0;
    else if (bits.dtype() != target)
        bits = bitcast(bits, target);
    node.set(0, Value::of(bits, to));
}

constexpr std::array<Operator, 6> bit_rows{{{"BitwiseAnd", 18, make_bitwise_and},
                                            {"BitwiseOr", 18, make_bitwise_or},
                                            {"BitwiseXor", 18, make_bitwise_xor},
                                            {"BitwiseNot", 18, make_bitwise_not},
                                            {"BitShift", 11, make_bit_shift},
                                            {"BitCast", 26, make_bit_cast}}};

}  // namespace

std::span<const Operator> bit_operators() { return bit_rows; }

}  // namespace cairn::inline v0::onnx
