#include "graph/interpreter/evaluation.hpp"
#include "graph/ir/scalar_cast.hpp"

#include <cmath>
#include <limits>

namespace cairn::interpreter {
namespace {

bool larger(double a, double b) noexcept { return std::isnan(a) ? !std::isnan(b) : a > b; }
bool larger(std::int64_t a, std::int64_t b) noexcept { return a > b; }

// For each element of the operand, in row-major order, the offset of the result that it contributes to.
std::vector<std::int64_t> targets(const Evaluation& e) {
    return element_offsets(e.operand(0).shape, {broadcast_strides(e.shape, e.operand(0).shape)});
}

Value evaluate_sum(const Evaluation& e) {
    const Value& x = e.operand(0);
    Value out = e.result();
    const auto to = targets(e);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const auto index = static_cast<std::size_t>(to[i]);
        if (is_float(x.dtype)) {
            out.data[index] += x.data[i];
        } else {
            const auto a = static_cast<std::uint64_t>(out.integers[index]),
                       b = static_cast<std::uint64_t>(x.integers[i]);
            out.integers[index] = wrap_to(x.dtype, static_cast<std::int64_t>(a + b));
        }
    }
    return out;
}

Value evaluate_prod(const Evaluation& e) {
    const Value& x = e.operand(0);
    Value out = e.result();
    out.data.assign(out.data.size(), 1);
    out.integers.assign(out.integers.size(), 1);
    const auto to = targets(e);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const auto index = static_cast<std::size_t>(to[i]);
        if (is_float(x.dtype)) {
            out.data[index] *= x.data[i];
        } else {
            const auto a = static_cast<std::uint64_t>(out.integers[index]),
                       b = static_cast<std::uint64_t>(x.integers[i]);
            out.integers[index] = wrap_to(x.dtype, static_cast<std::int64_t>(a * b));
        }
    }
    return out;
}

Value evaluate_max(const Evaluation& e) {
    const Value& x = e.operand(0);
    Value out = e.result();
    out.data.assign(out.data.size(), -std::numeric_limits<double>::infinity());
    out.integers.assign(out.integers.size(), lowest_integer(x.dtype));
    const auto to = targets(e);
    visit_storage(
        x.dtype,
        [&](auto& result, const auto& values) {
            for (std::size_t i = 0; i < values.size(); ++i)
                if (auto& best = result[static_cast<std::size_t>(to[i])]; larger(values[i], best)) best = values[i];
        },
        out, x);
    return out;
}

Value evaluate_argmax(const Evaluation& e) {
    const Value& x = e.operand(0);
    Value out = e.result();
    const auto to = targets(e);
    const auto stride = row_major(x.shape)[e.axis()];
    const std::int64_t size = x.shape[e.axis()];
    std::vector<std::int64_t> best(out.size(), -1);
    visit_storage(
        x.dtype,
        [&](const auto& values) {
            for (std::size_t i = 0; i < values.size(); ++i) {
                const auto index = static_cast<std::size_t>(to[i]);
                if (best[index] >= 0 && !larger(values[i], values[static_cast<std::size_t>(best[index])])) continue;
                best[index] = static_cast<std::int64_t>(i);
                out.integers[index] = static_cast<std::int64_t>(i) / stride % size;
            }
        },
        x);
    return out;
}

}  // namespace

Value evaluate_reduction(const Evaluation& e) {
    static constexpr auto rows = std::to_array<OpMapEntry<EvaluateFunction>>({{Op::sum, evaluate_sum},
                                                                              {Op::max_reduce, evaluate_max},
                                                                              {Op::prod, evaluate_prod},
                                                                              {Op::argmax, evaluate_argmax}});
    return op_entry(rows, e.node().op, "interpret")(e);
}

}  // namespace cairn::interpreter
