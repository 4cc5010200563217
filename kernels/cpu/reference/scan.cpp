#include "kernels/cpu/reference/element.hpp"
#include "kernels/cpu/reference/registration.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

/// Reference kernels of cumsum and argsort: one line along the axis at a time, each by one member.
namespace cairn::kernels::cpu::reference {
namespace {

struct Scan {
    int axis;
    DType dtype;
    bool descending;
};

// Offset of the first element of the `line`-th line along the axis.
std::int64_t line_offset(const StridedView& view, int axis, std::int64_t line) noexcept {
    std::int64_t offset = 0;
    for (int i = view.rank - 1; i >= 0; --i) {
        if (i == axis) continue;
        offset += line % view.shape[i] * view.strides[i];
        line /= view.shape[i];
    }
    return offset;
}

std::int64_t count_lines(const StridedView& view, int axis) noexcept {
    std::int64_t lines = 1;
    for (int i = 0; i < view.rank; ++i) lines *= i == axis ? std::min<std::int64_t>(view.shape[i], 1) : view.shape[i];
    return lines;
}

// Calls `work` for each line that this member claims.
template <typename Work>
void each_line(const StridedView& view, int axis, Team& team, const Work& work) {
    const std::int64_t lines = count_lines(view, axis);
    for (std::int64_t line = team.next_chunk(); line < lines; line = team.next_chunk()) work(line);
}

void run_cumsum(const Args& args, Team& team) {
    const Scan& scan = *static_cast<const Scan*>(args.prepared);
    const StridedView in = strided_view_of(args.inputs[0]), out = strided_view_of(args.outputs[0]);
    each_line(in, scan.axis, team, [&](std::int64_t line) {
        const std::int64_t from = line_offset(in, scan.axis, line), to = line_offset(out, scan.axis, line);
        const std::int64_t size = in.shape[scan.axis];
        double real = 0;
        std::uint64_t whole = 0;
        for (std::int64_t i = 0; i < size; i += block_size) {
            const int count = static_cast<int>(std::min<std::int64_t>(block_size, size - i));
            ElementBlock block;
            load(block, in.data, from + i * in.strides[scan.axis], in.strides[scan.axis], count, scan.dtype);
            for (int j = 0; j < count; ++j) {
                if (is_float(scan.dtype)) {
                    real = i + j == 0 ? block.real[j] : real + block.real[j];
                    block.real[j] = real;
                } else {
                    whole += static_cast<std::uint64_t>(block.whole[j]);
                    block.whole[j] = static_cast<std::int64_t>(whole);
                }
            }
            store(block, out.data, to + i * out.strides[scan.axis], out.strides[scan.axis], count, scan.dtype);
        }
    });
}

// An element, as an integer or as the bits of a double, and its index.
struct SortEntry {
    std::int64_t value, index;

    double real() const noexcept { return std::bit_cast<double>(value); }
};

// Three-way comparison of a and b: -1, 0 or 1. NaN is greater than all numbers.
int order(const SortEntry& a, const SortEntry& b, bool is_real) noexcept {
    if (!is_real) return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
    const double x = a.real(), y = b.real();
    if (std::isnan(x) || std::isnan(y)) return static_cast<int>(std::isnan(x)) - std::isnan(y);
    return x < y ? -1 : x > y ? 1 : 0;
}

std::int64_t entries_bytes(std::int64_t size) noexcept {
    return rounded_to_line(size * static_cast<std::int64_t>(sizeof(SortEntry)));
}

void run_argsort(const Args& args, Team& team) {
    const Scan& scan = *static_cast<const Scan*>(args.prepared);
    const StridedView in = strided_view_of(args.inputs[0]), out = strided_view_of(args.outputs[0]);
    const std::int64_t size = in.shape[scan.axis];
    const bool is_real = is_float(scan.dtype);
    // Scratch is indexed by the member's first line if there are fewer lines than members, otherwise by its rank.
    const bool has_few_lines = count_lines(in, scan.axis) < team.size();
    SortEntry* entries = nullptr;
    each_line(in, scan.axis, team, [&](std::int64_t line) {
        if (entries == nullptr)
            entries = reinterpret_cast<SortEntry*>(args.workspace +
                                                   entries_bytes(size) * (has_few_lines ? line : team.rank()));
        const std::int64_t from = line_offset(in, scan.axis, line), to = line_offset(out, scan.axis, line);
        ElementBlock block;
        for (std::int64_t i = 0; i < size; ++i) {
            load(block, in.data, from + i * in.strides[scan.axis], 1, 1, scan.dtype);
            entries[i] = {is_real ? std::bit_cast<std::int64_t>(block.real[0]) : block.whole[0], i};
        }
        // Ties are broken by index: std::stable_sort would allocate.
        std::sort(entries, entries + size, [&](const SortEntry& a, const SortEntry& b) {
            const int sign = scan.descending ? order(b, a, is_real) : order(a, b, is_real);
            return sign != 0 ? sign < 0 : a.index < b.index;
        });
        for (std::int64_t i = 0; i < size; ++i) {
            block.whole[0] = entries[i].index;
            store(block, out.data, to + i * out.strides[scan.axis], 1, 1, DType::i32);
        }
    });
}

Refusal accepts(const Problem& problem) {
    if (Refusal refusal = needs_plain_memory(problem); !refusal.empty()) return refusal;
    if (problem.inputs.size() != 1 || problem.outputs.size() != 1) return "needs one input and one output";
    if (problem.inputs[0].shape != problem.outputs[0].shape) return "needs equal shapes";
    if (problem.inputs[0].dtype == DType::boolean) return "needs numbers";
    return {};
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    const auto axis = axis_index(problem.attributes.integer("axis"), problem.inputs[0].shape.size());
    const bool sorts = problem.definition == "argsort";
    return std::make_shared<Scan>(
        Scan{axis, problem.inputs[0].dtype, sorts && problem.attributes.integer("descending") != 0});
}

// A sort of n elements takes about log2(n) comparisons per element.
Cost cost(const Problem& problem) {
    const Shape& shape = problem.inputs[0].shape;
    const auto axis = static_cast<std::size_t>(axis_index(problem.attributes.integer("axis"), shape.size()));
    const double length = std::max(2.0, static_cast<double>(shape[axis].constant()));
    const double steps = problem.definition == "argsort" ? std::log2(length) : 1;
    return scalar_cost(steps * static_cast<double>(element_count(shape).constant()),
                       size_in_bytes(problem.inputs[0]) + size_in_bytes(problem.outputs[0]));
}

}  // namespace

void add_scans(std::vector<Kernel>& kernels) {
    kernels.push_back(reference_kernel(
        "cumsum", accepts, run_cumsum, prepare,
        {"cumsum axis=(-1) | f32[3,N] -> f32[3,N] where N in 0..300",
         "cumsum axis=(-3) | f64[4,5,6]:(60,6,1) -> f64[4,5,6]", "cumsum axis=(-2) | f16[2,9,3] -> f16[2,9,3]",
         "cumsum axis=(-1) | bf16[7,3]:(1,7) -> bf16[7,3]:(1,7)", "cumsum axis=(-1) | i8[40,9] -> i8[40,9]",
         "cumsum axis=(-2) | u8[9,4]:(0,1) -> u8[9,4]", "cumsum axis=(-1) | i32[2,90] -> i32[2,90]",
         "cumsum axis=(-1) | i64[20] -> i64[20]"}));
    kernels.back().cost = cost;
    kernels.push_back(reference_kernel("argsort", accepts, run_argsort, prepare,
                                       {"argsort axis=(-1) descending=(0) | f32[3,N] -> i32[3,N] where N in 0..300",
                                        "argsort axis=(-2) descending=(1) | f64[4,5,6]:(60,6,1) -> i32[4,5,6]",
                                        "argsort axis=(-1) descending=(1) | f16[2,70] -> i32[2,70]",
                                        "argsort axis=(-1) descending=(0) | bf16[9,3]:(1,9) -> i32[9,3]:(1,9)",
                                        "argsort axis=(-1) descending=(0) | i8[4,300] -> i32[4,300]",
                                        "argsort axis=(-1) descending=(1) | u8[40,9] -> i32[40,9]",
                                        "argsort axis=(-1) descending=(0) | i32[33] -> i32[33]",
                                        "argsort axis=(-1) descending=(1) | i64[2,33] -> i32[2,33]"}));
    kernels.back().cost = cost;
    kernels.back().workspace = [](const Problem& problem, int threads) {
        const Shape& shape = problem.inputs[0].shape;
        const auto axis = axis_index(problem.attributes.integer("axis"), shape.size());
        const Dim bytes = shape[static_cast<std::size_t>(axis)] * static_cast<std::int64_t>(sizeof(SortEntry));
        Dim lines = 1;
        for (std::size_t i = 0; i < shape.size(); ++i)
            if (static_cast<int>(i) != axis) lines *= shape[i];
        return ceildiv(bytes, 64) * 64 * min(lines, threads);
    };
    kernels.back().cost = [](const Problem& problem) {
        const Shape& shape = problem.inputs[0].shape;
        const auto axis = static_cast<std::size_t>(axis_index(problem.attributes.integer("axis"), shape.size()));
        const double elements = static_cast<double>(element_count(shape).constant()),
                     bytes = elements * static_cast<double>(size_of(problem.inputs[0].dtype) + size_of(DType::i32));
        // In comparisons.
        return Cost{elements * std::log2(static_cast<double>(shape[axis].constant()) + 2), bytes, efficiency};
    };
}

}  // namespace cairn::kernels::cpu::reference
