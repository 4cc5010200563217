#include "rewrite/normal_form/permutation.hpp"

#include "rewrite/normal_form/normalizer.hpp"

#include <algorithm>
#include <utility>

namespace cairn::normal_form {
namespace {

// `order` extended by unchanged leading axes to rank `rank`.
std::vector<Dim> lengthened(const std::vector<Dim>& order, std::size_t rank) {
    std::vector<Dim> result;
    for (std::size_t i = rank; i > order.size(); --i) result.emplace_back(-static_cast<std::int64_t>(i));
    result.insert(result.end(), order.begin(), order.end());
    return result;
}

std::size_t from_front(const Dim& axis, std::size_t rank) {
    return static_cast<std::size_t>(axis.constant() + static_cast<std::int64_t>(rank));
}

}  // namespace

std::vector<Dim> shortest(std::vector<Dim> order) {
    std::size_t kept = 0;
    const auto rank = static_cast<std::int64_t>(order.size());
    while (kept < order.size() && order[kept] == Dim(static_cast<std::int64_t>(kept) - rank)) ++kept;
    order.erase(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept));
    return order;
}

Shape permuted(Shape shape, const std::vector<Dim>& order) {
    while (shape.size() < order.size()) shape.insert(shape.begin(), Dim(1));
    const std::vector<Dim> whole = lengthened(order, shape.size());
    Shape result;
    for (const Dim& axis : whole) result.push_back(shape[from_front(axis, shape.size())]);
    return trimmed(result);
}

std::vector<Dim> composed_order(const std::vector<Dim>& first, const std::vector<Dim>& second) {
    const std::size_t rank = std::max(first.size(), second.size());
    const auto a = lengthened(first, rank), b = lengthened(second, rank);
    std::vector<Dim> order;
    for (const Dim& axis : b) order.push_back(a[from_front(axis, rank)]);
    return shortest(std::move(order));
}

}  // namespace cairn::normal_form
