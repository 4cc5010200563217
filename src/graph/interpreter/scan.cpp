#include "graph/interpreter/evaluation.hpp"
#include "graph/ir/scalar_cast.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cairn::interpreter {
namespace {

bool comes_after(double a, double b) noexcept { return std::isnan(a) ? !std::isnan(b) : a > b; }
bool comes_after(std::int64_t a, std::int64_t b) noexcept { return a > b; }

double plus(double a, double b) noexcept { return a + b; }
std::int64_t plus(std::int64_t a, std::int64_t b) noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// The offset of the first element of each line along the axis.
std::vector<std::int64_t> line_offsets(const Evaluation& e) {
    Sizes firsts = e.shape;
    firsts[e.axis()] = std::min<std::int64_t>(firsts[e.axis()], 1);
    return element_offsets(firsts, {row_major(e.shape)});
}

Value evaluate_cumsum(const Evaluation& e) {
    Value out = e.operand(0);
    const std::int64_t size = e.shape[e.axis()], stride = row_major(e.shape)[e.axis()];
    visit_storage(
        out.dtype,
        [&](auto& values) {
            for (const std::int64_t line : line_offsets(e))
                for (std::int64_t i = 1; i < size; ++i) {
                    auto& value = values[static_cast<std::size_t>(line + i * stride)];
                    value = plus(values[static_cast<std::size_t>(line + (i - 1) * stride)], value);
                }
        },
        out);
    for (std::int64_t& value : out.integers) value = wrap_to(out.dtype, value);
    return out;
}

Value evaluate_argsort(const Evaluation& e) {
    Value out = e.result();
    const std::int64_t size = e.shape[e.axis()], stride = row_major(e.shape)[e.axis()];
    const bool descending = e.integer("descending") != 0;
    Sizes order(static_cast<std::size_t>(size));
    visit_storage(
        e.operand(0).dtype,
        [&](const auto& values) {
            for (const std::int64_t line : line_offsets(e)) {
                const auto at = [&](std::int64_t i) { return values[static_cast<std::size_t>(line + i * stride)]; };
                std::iota(order.begin(), order.end(), 0);
                std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
                    return descending ? comes_after(at(a), at(b)) : comes_after(at(b), at(a));
                });
                for (std::int64_t i = 0; i < size; ++i)
                    out.integers[static_cast<std::size_t>(line + i * stride)] = order[static_cast<std::size_t>(i)];
            }
        },
        e.operand(0));
    return out;
}

}  // namespace

Value evaluate_scan(const Evaluation& e) {
    static constexpr auto rows =
        std::to_array<OpMapEntry<EvaluateFunction>>({{Op::cumsum, evaluate_cumsum}, {Op::argsort, evaluate_argsort}});
    return op_entry(rows, e.node().op, "interpret")(e);
}

}  // namespace cairn::interpreter
