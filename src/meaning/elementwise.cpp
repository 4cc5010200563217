#include "ir/number.hpp"
#include "meaning/value.hpp"

#include <cmath>
#include <limits>

namespace cairn::inline v0::meaning {

namespace {

double float_unary(Op op, double x) {
    switch (op) {
        case Op::neg: return -x;
        case Op::abs: return std::fabs(x);
        case Op::exp: return std::exp(x);
        case Op::log: return std::log(x);
        case Op::sqrt: return std::sqrt(x);
        case Op::rsqrt: return 1 / std::sqrt(x);
        case Op::sin: return std::sin(x);
        case Op::cos: return std::cos(x);
        case Op::tanh: return std::tanh(x);
        case Op::erf: return std::erf(x);
        default: return std::floor(x);
    }
}

double float_binary(Op op, double a, double b) {
    const bool no_number = std::isnan(a) || std::isnan(b);
    switch (op) {
        case Op::add: return a + b;
        case Op::sub: return a - b;
        case Op::mul: return a * b;
        case Op::div: return a / b;
        case Op::min: return no_number ? std::numeric_limits<double>::quiet_NaN() : std::min(a, b);
        case Op::max: return no_number ? std::numeric_limits<double>::quiet_NaN() : std::max(a, b);
        default: return std::pow(a, b);
    }
}

std::int64_t wrapping(std::uint64_t bits) noexcept { return static_cast<std::int64_t>(bits); }

std::int64_t integer_binary(Op op, std::int64_t a, std::int64_t b) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    switch (op) {
        case Op::add: return wrapping(x + y);
        case Op::sub: return wrapping(x - y);
        case Op::mul: return wrapping(x * y);
        case Op::div: return b == 0 ? 0 : b == -1 ? wrapping(0 - x) : a / b;
        case Op::min: return std::min(a, b);
        case Op::max: return std::max(a, b);
        case Op::logical_and: return a & b;
        case Op::logical_or: return a | b;
        default: return a ^ b;
    }
}

template <typename T>
bool compare(Op op, T a, T b) {
    switch (op) {
        case Op::eq: return a == b;
        case Op::ne: return a != b;
        case Op::lt: return a < b;
        case Op::le: return a <= b;
        case Op::gt: return a > b;
        default: return a >= b;
    }
}

Value evaluate_cast(const Evaluation& e) {
    const Value& x = e.operand(0);
    Value out = e.result();
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (is_float(x.dtype) && is_float(out.dtype)) out.data[i] = round_to(out.dtype, x.data[i]);
        if (is_float(x.dtype) && !is_float(out.dtype)) out.integers[i] = truncate_to(out.dtype, x.data[i]);
        if (!is_float(x.dtype) && !is_float(out.dtype)) out.integers[i] = saturate_to(out.dtype, x.integers[i]);
        if (!is_float(x.dtype) && is_float(out.dtype)) out.data[i] = round_integer(out.dtype, x.integers[i]);
    }
    return out;
}

Value evaluate_unary(const Evaluation& e) {
    const Value& x = e.operand(0);
    Value out = e.result();
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (is_float(x.dtype)) {
            out.data[i] = float_unary(e.node().op, x.data[i]);
            continue;
        }
        const std::int64_t a = x.integers[i];
        const std::int64_t minus = wrapping(0 - static_cast<std::uint64_t>(a));
        if (e.node().op == Op::logical_not)
            out.integers[i] = a == 0 ? 1 : 0;
        else
            out.integers[i] = wrap_to(x.dtype, e.node().op == Op::neg || a < 0 ? minus : a);
    }
    return out;
}

Value evaluate_where(const Evaluation& e, std::span<const std::vector<std::int64_t>> at) {
    Value out = e.result();
    with_storage(
        out.dtype,
        [&](auto& to, const auto& a, const auto& b) {
            for (std::size_t i = 0; i < to.size(); ++i) {
                const bool yes = e.operand(0).integers[static_cast<std::size_t>(at[0][i])] != 0;
                to[i] = yes ? a[static_cast<std::size_t>(at[1][i])] : b[static_cast<std::size_t>(at[2][i])];
            }
        },
        out, e.operand(1), e.operand(2));
    return out;
}

Value evaluate_binary(const Evaluation& e, std::span<const std::vector<std::int64_t>> at) {
    const Op op = e.node().op;
    const bool compares = op >= Op::eq && op <= Op::ge;
    const Value &a = e.operand(0), &b = e.operand(1);
    Value out = e.result();
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto p = static_cast<std::size_t>(at[0][i]), q = static_cast<std::size_t>(at[1][i]);
        if (is_float(a.dtype) && compares) out.integers[i] = compare(op, a.data[p], b.data[q]) ? 1 : 0;
        if (is_float(a.dtype) && !compares) out.data[i] = float_binary(op, a.data[p], b.data[q]);
        if (!is_float(a.dtype) && compares) out.integers[i] = compare(op, a.integers[p], b.integers[q]) ? 1 : 0;
        if (!is_float(a.dtype) && !compares)
            out.integers[i] = wrap_to(a.dtype, integer_binary(op, a.integers[p], b.integers[q]));
    }
    return out;
}

}  // namespace

Value evaluate_elementwise(const Evaluation& e) {
    if (e.node().op == Op::cast) return evaluate_cast(e);
    if (e.operands.size() == 1) return evaluate_unary(e);
    std::vector<std::vector<std::int64_t>> at;
    for (const Value* operand : e.operands) at.push_back(places(e.shape, {broadcast_strides(operand->shape, e.shape)}));
    return e.node().op == Op::where ? evaluate_where(e, at) : evaluate_binary(e, at);
}

}  // namespace cairn::inline v0::meaning
