#include "accuracy/kernel_check/problem_variations.hpp"

#include <algorithm>
#include <functional>
#include <set>

namespace cairn::kernel_check {
namespace {

// Both bounds, low + 1, and sizes that are no multiple of a vector; at most 4096, or the lower bound.
std::vector<std::int64_t> values_of(const Symbols::Symbol& symbol) {
    std::set<std::int64_t> values;
    for (const std::int64_t value :
         {symbol.low, symbol.low + 1, std::int64_t{3}, std::int64_t{17}, std::int64_t{33}, symbol.high})
        if (value >= symbol.low && value <= symbol.high)
            values.insert(std::min(value, std::max<std::int64_t>(4096, symbol.low)));
    return {values.begin(), values.end()};
}

// Combinations that contain every value of every symbol (if `limit` allows), but not all combinations.
std::vector<std::vector<std::int64_t>> sizes_of(const Symbols& symbols, std::size_t limit) {
    std::vector<std::vector<std::int64_t>> all;
    std::size_t most = 1;
    for (const auto& symbol : symbols.list()) {
        all.push_back(values_of(symbol));
        most = std::max(most, all.back().size());
    }
    if (all.empty()) return {{}};
    std::vector<std::vector<std::int64_t>> sizes;
    for (std::size_t i = 0; i < std::min(most + (all.size() > 1 ? 2 : 0), limit); ++i) {
        std::vector<std::int64_t> chosen;
        for (std::size_t s = 0; s < all.size(); ++s)
            chosen.push_back(all[s][(limit < most ? most - 1 - i : i * (s + 1) + i / most) % all[s].size()]);
        sizes.push_back(chosen);
    }
    return sizes;
}

using Change = std::function<bool(TensorDesc&)>;

// Strides of a dense tensor whose last axis is 5 elements longer.
bool pad_rows(TensorDesc& tensor) {
    const std::size_t rank = tensor.shape.size();
    if (rank < 2) return false;
    Shape wider = tensor.shape;
    wider.back() = wider.back() + Dim(5);
    tensor.strides = dense_strides(wider);
    return true;
}
bool swap_last(TensorDesc& tensor) {
    const std::size_t rank = tensor.shape.size();
    if (rank < 2) return false;
    Shape swapped = tensor.shape;
    std::swap(swapped[rank - 1], swapped[rank - 2]);
    tensor.strides = dense_strides(swapped);
    std::swap(tensor.strides[rank - 1], tensor.strides[rank - 2]);
    return true;
}
bool swap_first(TensorDesc& tensor) {
    if (tensor.shape.size() < 3) return false;
    Shape swapped = tensor.shape;
    std::swap(swapped[0], swapped[1]);
    tensor.strides = dense_strides(swapped);
    std::swap(tensor.strides[0], tensor.strides[1]);
    return true;
}
bool double_strides(TensorDesc& tensor) {
    if (tensor.shape.empty()) return false;
    for (Dim& stride : tensor.strides) stride = stride * Dim(2);
    return true;
}
bool broadcast_first(TensorDesc& tensor) {
    if (tensor.shape.empty()) return false;
    tensor.strides[0] = 0;
    return true;
}
bool broadcast_last(TensorDesc& tensor) {
    if (tensor.shape.empty()) return false;
    tensor.strides.back() = 0;
    return true;
}

void add_if_accepted(std::vector<Variation>& found, const Kernel& kernel, std::string what, Problem problem,
                     std::vector<std::vector<std::int64_t>> sizes) {
    for (const Variation& known : found)
        if (known.problem == problem) return;
    if (kernel.accepts(problem).empty()) found.push_back({std::move(what), std::move(problem), std::move(sizes)});
}

void add_strides(std::vector<Variation>& found, const Kernel& kernel, const Problem& sample, const Symbols& symbols) {
    const std::pair<const char*, bool (*)(TensorDesc&)> changes[] = {{"padded rows", pad_rows},
                                                                     {"transposed", swap_last},
                                                                     {"outer axes swapped", swap_first},
                                                                     {"every second element", double_strides},
                                                                     {"first axis repeated", broadcast_first},
                                                                     {"last axis repeated", broadcast_last}};
    for (const auto& [name, change] : changes) {
        const bool repeats = std::string_view(name).ends_with("repeated");
        for (std::size_t i = 0; i < sample.inputs.size() + sample.outputs.size(); ++i) {
            Problem problem = sample;
            const bool is_output = i >= sample.inputs.size();
            TensorDesc& tensor = is_output ? problem.outputs[i - sample.inputs.size()] : problem.inputs[i];
            if ((is_output && repeats) || !tensor.layout.empty() || !change(tensor)) continue;
            add_if_accepted(
                found, kernel,
                std::string(name) + (is_output ? ", output" : ", input ") + (is_output ? "" : std::to_string(i)),
                problem, sizes_of(symbols, 3));
        }
    }
}

void add_dtypes(std::vector<Variation>& found, const Kernel& kernel, const Problem& sample, const Symbols& symbols) {
    for (const DType to :
         {DType::f64, DType::f16, DType::bf16, DType::i32, DType::i64, DType::i8, DType::u8, DType::boolean}) {
        Problem problem = sample;
        for (auto* list : {&problem.inputs, &problem.outputs})
            for (TensorDesc& tensor : *list)
                if (tensor.dtype == DType::f32) tensor.dtype = to;
        // Bodies, and attributes that name a dtype, would have to change as well.
        if (!problem.body.empty() || problem.attributes.has("dtype") || problem == sample) continue;
        add_if_accepted(found, kernel, "as " + std::string(to_string(to)), problem, sizes_of(symbols, 2));
    }
}

}  // namespace

std::vector<Variation> variations_of(const Kernel& kernel, const std::string& sample,
                                     const std::shared_ptr<Symbols>& symbols) {
    const Problem problem = parse_problem(sample, *symbols);
    std::vector<Variation> found{{"sample", problem, sizes_of(*symbols, 8)}};
    add_strides(found, kernel, problem, *symbols);
    add_dtypes(found, kernel, problem, *symbols);
    return found;
}

std::vector<std::vector<std::int64_t>> sizes_within(const Variation& variation) {
    constexpr std::int64_t smallest = 70;
    std::vector<std::vector<std::int64_t>> all = variation.sizes;
    const std::vector<Symbols::Symbol> symbols = symbols_of(variation.problem)->list();
    for (std::int64_t step = 0; step < smallest; ++step) {
        std::vector<std::int64_t>& sizes = all.emplace_back();
        for (const Symbols::Symbol& symbol : symbols) sizes.push_back(std::min(symbol.low + step, symbol.high));
        if (all.size() > 1 && all.back() == all[all.size() - 2]) all.pop_back();
    }
    return all;
}

}  // namespace cairn::kernel_check
