#include "cairn/dequantize.hpp"

#include "cairn/composites.hpp"
#include "cairn/graph.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace cairn::inline v0 {
namespace {

/// The blocks of one tensor: [.., B, bytes] of u8.
class Blocks {
public:
    Blocks(const CompositeScope& scope, const Operand& operand, std::int64_t bytes) : all_(operand.tensor()) {
        const std::string text = to_string(all_.dtype(), all_.shape());
        if (all_.dtype() != DType::u8 || all_.rank() < 2 || !(all_.dim(-1) == Dim(bytes)))
            scope.fail("needs blocks u8[..," + std::to_string(bytes) + "]: blocks " + text);
    }

    /// Bytes from `begin` to `end` of each block, [.., B, end - begin].
    Tensor bytes(std::int64_t begin, std::int64_t end) const { return slice(all_, -1, begin, end); }
    /// The f16 at a byte, [.., B, 1] of f32.
    Tensor half(std::int64_t at) const {
        return split(cast(bitcast(bytes(at, at + 2), DType::f16), DType::f32), {1}, 0);
    }
    /// A tensor [.., B] or [.., B, n] with other axes in place of the last `joined`.
    static Tensor split(const Tensor& x, std::initializer_list<std::int64_t> axes, int joined = 1) {
        Shape shape(x.shape().begin(), x.shape().end() - joined);
        shape.insert(shape.end(), axes.begin(), axes.end());
        return reshape(x, shape);
    }
    /// Elements [.., B, n] as [.., B * n].
    static Tensor rows(const Tensor& elements) {
        Shape shape = elements.shape();
        const Dim size = shape.back();
        shape.pop_back();
        shape.back() = shape.back() * size;
        return reshape(elements, shape);
    }
    /// The 256 elements of each block, [.., B, groups, n], as [.., B * 256].
    static Tensor rows_of_256(const Tensor& elements) { return rows(split(elements, {256}, 2)); }
    /// Numbers along the last axes, as a constant.
    Tensor numbers(DType dtype, const std::vector<double>& values, Shape shape) const {
        return Graph(all_.graph()).constant(dtype, std::move(shape), std::span(values));
    }
    /// Each byte divided by 1, 2, 4 .. 128, and by 1, 4, 16, 64: its bits and its pairs of bits, along axis -2.
    Tensor bits(const Tensor& x) const {
        return bitwise_and(x / numbers(DType::u8, {1, 2, 4, 8, 16, 32, 64, 128}, {8, 1}), 1);
    }
    Tensor pairs(const Tensor& x) const { return bitwise_and(x / numbers(DType::u8, {1, 4, 16, 64}, {4, 1}), 3); }

private:
    Tensor all_;
};

Tensor low(const Tensor& bytes) { return bitwise_and(bytes, 15); }
Tensor high(const Tensor& bytes) { return bytes / 16; }
/// The low halves of bytes, then the high ones: codes of 4 bits along an axis.
Tensor nibbles(const Tensor& bytes, int axis = -1) { return concat({low(bytes), high(bytes)}, axis); }
Tensor to_f32(const Tensor& codes) { return cast(codes, DType::f32); }

/// The fifth bits of 32 codes of 4 bits, as 0 or 16: byte j, bit i is that of code 8 j + i.
Tensor fifth_bits(const Blocks& blocks, std::int64_t begin) {
    return Blocks::split(blocks.bits(Blocks::split(blocks.bytes(begin, begin + 4), {4, 1, 1})), {32}, 3) * 16;
}

/// Scales and minima of q4_k and q5_k, 8 of each, of 6 bits: the low ones in bytes 0 to 3 and 4 to 7, the others' low
/// bits in bytes 8 to 11 and their upper bits in those of the first.
struct ScalesAndMinima {
    Tensor scales, minima;
    ScalesAndMinima(const Blocks& blocks, std::int64_t begin) {
        const Tensor first = blocks.bytes(begin, begin + 4), second = blocks.bytes(begin + 4, begin + 8),
                     third = blocks.bytes(begin + 8, begin + 12);
        scales = concat({bitwise_and(first, 63), low(third) + first / 64 * 16}, -1);
        minima = concat({bitwise_and(second, 63), high(third) + second / 64 * 16}, -1);
    }
};

/// Codes [.., B, groups, n] times scales, less minima, of f32[.., B, groups].
Tensor affine_groups(const Tensor& codes, std::int64_t groups, const Tensor& scales, const Tensor& minima) {
    const Tensor scaled = to_f32(codes) * Blocks::split(scales, {groups, 1});
    return Blocks::rows_of_256(scaled - Blocks::split(minima, {groups, 1}));
}

/// The elements of q4_k and q5_k, from their codes [.., B, 8, 32].
Tensor affine_groups_of_32(const Blocks& blocks, const Tensor& codes) {
    const ScalesAndMinima of(blocks, 4);
    return affine_groups(codes, 8, blocks.half(0) * to_f32(of.scales), blocks.half(2) * to_f32(of.minima));
}

/// Codes of 4 bits of q4_k and q5_k, [.., B, 8, 32]: 32 bytes hold 32 codes and the 32 after them.
Tensor codes_of_4_bits(const Blocks& blocks, std::int64_t begin) {
    const Tensor bytes = Blocks::split(blocks.bytes(begin, begin + 128), {4, 1, 32});
    return Blocks::split(nibbles(bytes, -2), {8, 32}, 3);
}

/// Codes of 2 bits of q2_k and q3_k, [.., B, 2, 4, 32]: 32 bytes hold four times 32 codes.
Tensor codes_of_2_bits(const Blocks& blocks, std::int64_t begin) {
    return blocks.pairs(Blocks::split(blocks.bytes(begin, begin + 64), {2, 1, 32}));
}

/// Floats of 8 bits with a sign, by a table of f16, which holds all of them exactly: what is read untransposed may be
/// kept in 16 bits. `magnitude(exponent, mantissa)`: of the fields without the sign.
Tensor widened_floats(const CompositeScope& scope, const Operand& operand, double (*magnitude)(int, int),
                      int mantissa_bits) {
    const Tensor& bytes = operand.tensor();
    if (bytes.dtype() != DType::u8) scope.fail("needs u8: bytes " + to_string(bytes.dtype(), bytes.shape()));
    std::vector<double> values;
    for (int code = 0; code < 256; ++code) {
        const double value = magnitude(code % 128 >> mantissa_bits, code & ((1 << mantissa_bits) - 1));
        values.push_back(code < 128 ? value : -value);
    }
    const Tensor table = Graph(bytes.graph()).constant(DType::f16, {256}, std::span<const double>(values));
    return cast(gather(table, cast(bytes, DType::i32), 0), DType::f32);
}

struct Dequantizer {
    std::string_view type;
    Tensor (*apply)(const Operand&);
};

}  // namespace

Tensor dequantize_q8_0(const Operand& operand) {
    const CompositeScope scope("dequantize_q8_0", operand);
    const Blocks blocks(scope, operand, 34);
    return Blocks::rows(blocks.half(0) * to_f32(bitcast(blocks.bytes(2, 34), DType::i8)));
}

Tensor dequantize_q4_0(const Operand& operand) {
    const CompositeScope scope("dequantize_q4_0", operand);
    const Blocks blocks(scope, operand, 18);
    return Blocks::rows(blocks.half(0) * (to_f32(nibbles(blocks.bytes(2, 18))) - 8));
}

Tensor dequantize_q4_1(const Operand& operand) {
    const CompositeScope scope("dequantize_q4_1", operand);
    const Blocks blocks(scope, operand, 20);
    return Blocks::rows(blocks.half(0) * to_f32(nibbles(blocks.bytes(4, 20))) + blocks.half(2));
}

Tensor dequantize_q5_0(const Operand& operand) {
    const CompositeScope scope("dequantize_q5_0", operand);
    const Blocks blocks(scope, operand, 22);
    return Blocks::rows(blocks.half(0) * (to_f32(nibbles(blocks.bytes(6, 22)) + fifth_bits(blocks, 2)) - 16));
}

Tensor dequantize_q5_1(const Operand& operand) {
    const CompositeScope scope("dequantize_q5_1", operand);
    const Blocks blocks(scope, operand, 24);
    return Blocks::rows(blocks.half(0) * to_f32(nibbles(blocks.bytes(8, 24)) + fifth_bits(blocks, 4)) + blocks.half(2));
}

Tensor dequantize_q2_k(const Operand& operand) {
    const CompositeScope scope("dequantize_q2_k", operand);
    const Blocks blocks(scope, operand, 84);
    const Tensor scales = blocks.bytes(0, 16), codes = Blocks::split(codes_of_2_bits(blocks, 16), {16, 16}, 3);
    return affine_groups(codes, 16, blocks.half(80) * to_f32(low(scales)), blocks.half(82) * to_f32(high(scales)));
}

Tensor dequantize_q3_k(const Operand& operand) {
    const CompositeScope scope("dequantize_q3_k", operand);
    const Blocks blocks(scope, operand, 110);
    const Tensor upper = blocks.bits(Blocks::split(blocks.bytes(0, 32), {1, 32})),
                 lower = Blocks::split(codes_of_2_bits(blocks, 32), {8, 32}, 3);
    const Tensor codes = Blocks::split(to_f32(lower + upper * 4) - 4, {16, 16}, 2);
    const Tensor upper_scales = Blocks::split(blocks.pairs(Blocks::split(blocks.bytes(104, 108), {1, 4})), {16}, 2);
    const Tensor scales = to_f32(nibbles(blocks.bytes(96, 104)) + upper_scales * 16) - 32;
    return Blocks::rows_of_256(codes * Blocks::split(blocks.half(108) * scales, {16, 1}));
}

Tensor dequantize_q4_k(const Operand& operand) {
    const CompositeScope scope("dequantize_q4_k", operand);
    const Blocks blocks(scope, operand, 144);
    return affine_groups_of_32(blocks, codes_of_4_bits(blocks, 16));
}

Tensor dequantize_q5_k(const Operand& operand) {
    const CompositeScope scope("dequantize_q5_k", operand);
    const Blocks blocks(scope, operand, 176);
    const Tensor fifth = blocks.bits(Blocks::split(blocks.bytes(16, 48), {1, 32}));
    return affine_groups_of_32(blocks, codes_of_4_bits(blocks, 48) + fifth * 16);
}

Tensor dequantize_q6_k(const Operand& operand) {
    const CompositeScope scope("dequantize_q6_k", operand);
    const Blocks blocks(scope, operand, 210);
    // Half a block: 64 bytes with the low bits of 64 codes and of the 64 after them, 32 with the upper ones of all.
    const Tensor lower = nibbles(Blocks::split(blocks.bytes(0, 128), {2, 2, 32}), -2),
                 upper = blocks.pairs(Blocks::split(blocks.bytes(128, 192), {2, 1, 32}));
    const Tensor codes = Blocks::split(to_f32(lower + upper * 16) - 32, {16, 16}, 3);
    const Tensor scales = blocks.half(208) * to_f32(bitcast(blocks.bytes(192, 208), DType::i8));
    return Blocks::rows_of_256(codes * Blocks::split(scales, {16, 1}));
}

Tensor dequantize_iq4_nl(const Operand& operand) {
    const CompositeScope scope("dequantize_iq4_nl", operand);
    const Blocks blocks(scope, operand, 18);
    const Tensor table =
        blocks.numbers(DType::f32, {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}, {16});
    return Blocks::rows(blocks.half(0) * gather(table, cast(nibbles(blocks.bytes(2, 18)), DType::i32)));
}

Tensor dequantize_mxfp4(const Operand& operand) {
    const CompositeScope scope("dequantize_mxfp4", operand);
    const Blocks blocks(scope, operand, 17);
    // Entries are twice the numbers that the codes mean, so scales are half of theirs.
    const Tensor table = blocks.numbers(DType::f32, {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}, {16});
    std::vector<double> powers;
    for (int exponent = 0; exponent < 256; ++exponent) powers.push_back(std::ldexp(1.0, exponent - 128));
    const Tensor scales = blocks.numbers(DType::f32, powers, {256});
    return Blocks::rows(gather(scales, cast(blocks.bytes(0, 1), DType::i32)) *
                        gather(table, cast(nibbles(blocks.bytes(1, 17)), DType::i32)));
}

Tensor dequantize_f8_e4m3(const Operand& operand) {
    const CompositeScope scope("dequantize_f8_e4m3", operand);
    return widened_floats(
        scope, operand,
        [](int exponent, int mantissa) {
            if (exponent == 15 && mantissa == 7) return std::nan("");
            return exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
        },
        3);
}

Tensor dequantize_f8_e5m2(const Operand& operand) {
    const CompositeScope scope("dequantize_f8_e5m2", operand);
    return widened_floats(
        scope, operand,
        [](int exponent, int mantissa) {
            if (exponent == 31) return mantissa == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
            return exponent == 0 ? std::ldexp(mantissa, -16) : std::ldexp(4 + mantissa, exponent - 17);
        },
        2);
}

Tensor dequantize(const Operand& blocks, std::string_view type) {
    static constexpr std::array<Dequantizer, 12> dequantizers{{{"Q8_0", dequantize_q8_0},
                                                               {"Q4_0", dequantize_q4_0},
                                                               {"Q4_1", dequantize_q4_1},
                                                               {"Q5_0", dequantize_q5_0},
                                                               {"Q5_1", dequantize_q5_1},
                                                               {"Q2_K", dequantize_q2_k},
                                                               {"Q3_K", dequantize_q3_k},
                                                               {"Q4_K", dequantize_q4_k},
                                                               {"Q5_K", dequantize_q5_k},
                                                               {"Q6_K", dequantize_q6_k},
                                                               {"IQ4_NL", dequantize_iq4_nl},
                                                               {"MXFP4", dequantize_mxfp4}}};
    const auto* found = std::find_if(dequantizers.begin(), dequantizers.end(),
                                     [&](const Dequantizer& each) { return each.type == type; });
    if (found != dequantizers.end()) return found->apply(blocks);
    std::string known;
    for (const Dequantizer& each : dequantizers) known += (known.empty() ? "" : ", ") + std::string(each.type);
    throw Error(ErrorKind::unsupported, "dequantize", "type " + std::string(type) + " is not known; known are " + known,
                blocks.where());
}

}  // namespace cairn::inline v0
