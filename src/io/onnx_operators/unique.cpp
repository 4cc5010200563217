#include "io/onnx_operators/unique.hpp"

#include "io/onnx_node/known_index.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <numeric>
#include <optional>
#include <utility>

namespace cairn::inline v0::onnx {
namespace {

/// Whether an element is not zero; empty if that depends on a size.
std::optional<bool> is_nonzero(const Known& x, std::size_t i) {
    if (x.is_float()) return x.floats[i] != 0;
    if (x.integers[i].is_constant()) return x.integers[i].constant() != 0;
    if (provably_ne(x.integers[i], 0)) return true;
    return std::nullopt;
}

Known list_of(const std::vector<std::size_t>& values) { return Known::list({values.begin(), values.end()}); }

/// The slices of a tensor along an axis, or its elements, in order.
class Slices {
public:
    Slices(const Known& x, std::optional<std::size_t> axis) : x_(x), axis_(axis) {
        if (!axis.has_value()) {
            size_ = x.count();
            return;
        }
        size_ = static_cast<std::size_t>(x.dims[*axis]);
        for (std::size_t i = 0; i < *axis; ++i) before_ *= static_cast<std::size_t>(x.dims[i]);
        for (std::size_t i = *axis + 1; i < x.dims.size(); ++i) after_ *= static_cast<std::size_t>(x.dims[i]);
    }

    std::size_t count() const { return size_; }
    std::partial_ordering compare(std::size_t i, std::size_t j) const {
        for (std::size_t before = 0; before < before_; ++before)
            for (std::size_t after = 0; after < after_; ++after)
                if (const auto order = compare_elements(element(before, i, after), element(before, j, after));
                    order != 0)
                    return order;
        return std::partial_ordering::equivalent;
    }
    /// The chosen slices, joined in their order.
    Known joined(const std::vector<std::size_t>& chosen) const {
        std::vector<std::int64_t> dims = x_.dims;
        if (!axis_.has_value()) dims = {0};
        dims[axis_.value_or(0)] = static_cast<std::int64_t>(chosen.size());
        std::vector<std::size_t> sources;
        for (std::size_t before = 0; before < before_; ++before)
            for (const std::size_t i : chosen)
                for (std::size_t after = 0; after < after_; ++after) sources.push_back(element(before, i, after));
        return picked(x_, std::move(dims), sources);
    }

private:
    std::size_t element(std::size_t before, std::size_t i, std::size_t after) const {
        return (before * size_ + i) * after_ + after;
    }
    std::partial_ordering compare_elements(std::size_t a, std::size_t b) const {
        if (x_.is_float()) return x_.floats[a] <=> x_.floats[b];
        return x_.integers[a].constant() <=> x_.integers[b].constant();
    }

    const Known& x_;
    std::optional<std::size_t> axis_;
    std::size_t size_ = 1, before_ = 1, after_ = 1;
};

/// The distinct slices by their first occurrence, and which of them each slice is.
struct DistinctSlices {
    std::vector<std::size_t> first, of_slice, counts;
};

DistinctSlices distinct_slices(const Slices& slices, bool sorted) {
    std::vector<std::size_t> order(slices.count());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return slices.compare(a, b) < 0; });
    // Groups of equal slices, each in the order of x.
    std::vector<std::vector<std::size_t>> groups;
    for (const std::size_t i : order) {
        if (groups.empty() || slices.compare(groups.back().front(), i) != 0) groups.emplace_back();
        groups.back().push_back(i);
    }
    if (!sorted) std::ranges::sort(groups, {}, [](const std::vector<std::size_t>& group) { return group.front(); });
    DistinctSlices result;
    result.of_slice.resize(slices.count());
    for (std::size_t i = 0; i < groups.size(); ++i) {
        result.first.push_back(groups[i].front());
        result.counts.push_back(groups[i].size());
        for (const std::size_t slice : groups[i]) result.of_slice[slice] = i;
    }
    return result;
}

}  // namespace

bool fold_nonzero(Node& node) {
    if (node.known(0) == nullptr) return false;
    const Known& x = node.elements(0);
    std::vector<std::vector<std::int64_t>> found;
    std::size_t next = 0;
    bool is_known = true;
    for_each_index(x.dims, [&](std::span<const std::int64_t> index) {
        const std::optional<bool> nonzero = is_nonzero(x, next++);
        is_known = is_known && nonzero.has_value();
        if (nonzero.value_or(false)) found.emplace_back(index.begin(), index.end());
    });
    if (!is_known) return false;
    Known result{
        ElementType::i64, {static_cast<std::int64_t>(x.dims.size()), static_cast<std::int64_t>(found.size())}, {}, {}};
    for (std::size_t axis = 0; axis < x.dims.size(); ++axis)
        for (const std::vector<std::int64_t>& index : found) result.integers.emplace_back(index[axis]);
    node.set(0, std::move(result));
    return true;
}

bool fold_unique(Node& node) {
    if (node.known(0) == nullptr) return false;
    const Known& x = node.elements(0);
    // Whether NaNs are one value is not specified.
    if (!x.is_constant() || std::ranges::any_of(x.floats, [](double value) { return std::isnan(value); })) return false;
    std::optional<std::size_t> axis;
    if (node.has_attribute("axis")) axis = static_cast<std::size_t>(node.axis(node.integer("axis"), node.rank(0)));
    const Slices slices(x, axis);
    const DistinctSlices distinct = distinct_slices(slices, node.integer("sorted", 1) != 0);
    node.set(0, slices.joined(distinct.first));
    node.set(1, list_of(distinct.first));
    node.set(2, list_of(distinct.of_slice));
    node.set(3, list_of(distinct.counts));
    return true;
}

}  // namespace cairn::inline v0::onnx
