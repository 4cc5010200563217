#include "canon/canon.hpp"

#include "ir/infer.hpp"
#include "types/hash.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace cairn::inline v0::canon {
namespace {

using ir::Node;
using ir::Op;
using types::mix;
using Parts = std::span<const Scaled>;

// Leaves out parts, and numbers, which are equal within a tolerance.
std::size_t hash_without_parts(const Term& term) {
    std::size_t seed = (static_cast<std::size_t>(term.kind) * 64 + static_cast<std::size_t>(term.op)) * 16 +
                       static_cast<std::size_t>(term.dtype);
    mix(seed, term.node);
    mix(seed, term.values.size());
    mix(seed, term.shape);
    for (const Attribute& attribute : term.attributes)
        if (const auto* list = std::get_if<std::vector<Dim>>(&attribute.value)) mix(seed, *list);
    return seed;
}

std::size_t hash_of(const Term& term) {
    std::size_t seed = hash_without_parts(term);
    for (const Scaled& part : term.parts) mix(seed, part.core);
    return seed;
}

// Terms that differ in numbers alone are told apart by the size of all their numbers together: it is equal within the
// same tolerance, so equal terms lie in one cell or in two neighbouring ones.
double size_of_numbers(const Term& term) {
    double size = 0;
    const auto add = [&](double number) { size += std::isfinite(number) ? std::fabs(number) : 0; };
    for (const Scaled& part : term.parts) add(part.factor);
    for (const double value : term.values) add(value);
    for (const Attribute& attribute : term.attributes)
        if (const auto* number = std::get_if<double>(&attribute.value)) add(*number);
    return size;
}

std::size_t cell_of(double size) {
    constexpr double cells = 1e5;  // of numbers e times as large: ten times as wide as the tolerance
    return size > 0 ? static_cast<std::size_t>(static_cast<std::int64_t>(std::floor(std::log(size) * cells))) : 0;
}

bool same_attributes(const Attributes& a, const Attributes& b, DType dtype) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const Attribute& x, const Attribute& y) {
        const auto *p = std::get_if<double>(&x.value), *q = std::get_if<double>(&y.value);
        return x.name == y.name && (p != nullptr && q != nullptr ? Canon::close(*p, *q, dtype) : x.value == y.value);
    });
}

}  // namespace

Shape trimmed(const Shape& shape) {
    const auto first = std::find_if(shape.begin(), shape.end(), [](const Dim& size) { return !(size == Dim(1)); });
    return {first, shape.end()};
}

Canon::Canon() = default;

bool Canon::close(double a, double b, DType dtype) noexcept {
    if (!is_float(dtype)) return a == b;
    if (!std::isfinite(a) || !std::isfinite(b)) return a == b || (std::isnan(a) && std::isnan(b));
    const double tolerance = dtype == DType::f64 ? 1e-14 : 1e-6;
    return std::fabs(a - b) <= tolerance * std::max(std::fabs(a), std::fabs(b));
}

bool Canon::same(const Scaled& a, const Scaled& b) const noexcept {
    return a.core == b.core && close(a.factor, b.factor, terms_[a.core].dtype);
}

bool Canon::same_term(const Term& a, const Term& b) const {
    const auto same_part = [&](const Scaled& x, const Scaled& y) { return same(x, y); };
    const auto same_value = [&](double x, double y) { return close(x, y, a.dtype); };
    return a.kind == b.kind && a.op == b.op && a.dtype == b.dtype && a.node == b.node && a.shape == b.shape &&
           std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(), same_part) &&
           std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(), same_value) &&
           same_attributes(a.attributes, b.attributes, a.dtype);
}

std::size_t Canon::structure_of(const Term& term) const {
    const bool is_number = term.kind == TermKind::one || (term.values.size() == 1 && term.shape.empty());
    if (is_number) return static_cast<std::size_t>(term.dtype);
    std::size_t seed = hash_without_parts(term), sum = 0;
    const bool is_ordered = term.kind == TermKind::op && !ir::info(term.op).has(ir::Fact::commutes);
    for (const Scaled& part : term.parts) {
        if (is_ordered) mix(seed, structures_[part.core]);
        std::size_t spread = term.parts.size();
        mix(spread, structures_[part.core]);
        sum += spread;
    }
    mix(seed, sum);
    return seed;
}

CanonId Canon::intern(Term term) {
    constexpr double margin = 2e-6;  // twice the tolerance
    const std::size_t hash = hash_of(term);
    const double size = size_of_numbers(term);
    const auto key = [&](double at) {
        std::size_t seed = hash;
        mix(seed, cell_of(at));
        return seed;
    };
    const std::size_t low = key(size * (1 - margin)), high = key(size * (1 + margin));
    const auto id = static_cast<CanonId>(terms_.size());
    CanonId known = id;
    for (const std::size_t cell : {low, high}) {
        const auto [first, last] = index_.equal_range(cell);
        for (auto it = first; it != last; ++it)
            if (it->second < known && same_term(terms_[it->second], term)) known = it->second;
        if (low == high) break;
    }
    if (known != id) return known;
    structures_.push_back(structure_of(term));
    terms_.push_back(std::move(term));
    index_.emplace(key(size), id);
    return id;
}

CanonId Canon::one(DType dtype) {
    Term term;
    term.dtype = dtype;
    return intern(std::move(term));
}

CanonId Canon::op_term(Op op, DType dtype, Shape shape, std::vector<Scaled> parts, Attributes attributes) {
    if (ir::info(op).has(ir::Fact::commutes))
        std::sort(parts.begin(), parts.end(), [](const Scaled& a, const Scaled& b) {
            return a.core != b.core ? a.core < b.core : a.factor < b.factor;
        });
    Term term;
    term.kind = TermKind::op;
    term.op = op;
    term.dtype = dtype;
    term.shape = std::move(shape);
    term.parts = std::move(parts);
    term.attributes = std::move(attributes);
    return intern(std::move(term));
}

Shape Canon::joint_shape(Parts parts) const {
    Shape shape;
    for (const Scaled& part : parts)
        if (auto joined = ir::broadcast_shapes(shape, terms_[part.core].shape)) shape = std::move(*joined);
    return shape;
}

Scaled Canon::constant(const Node& node) {
    if (node.shape.empty() && std::isfinite(node.values->front())) {
        const double value = node.values->front();
        if (node.dtype == DType::boolean) return {value != 0 ? 1.0 : -1.0, one(node.dtype)};
        return {value, one(node.dtype)};
    }
    Term term;
    term.kind = TermKind::op;
    term.dtype = node.dtype;
    term.shape = trimmed(node.shape);
    term.values = *node.values;
    return {1, intern(std::move(term))};
}

// f(c x) = c f(x), for ops linear in their first operand.
Scaled Canon::with_factor_outside(const Node& node, Parts operands) {
    std::vector<Scaled> parts(operands.begin(), operands.end());
    const double factor = std::exchange(parts[0].factor, 1);
    return {factor, op_term(node.op, node.dtype, trimmed(node.shape), std::move(parts), node.attributes)};
}

Scaled Canon::concat(const Node& node, Parts operands) {
    std::vector<Scaled> parts(operands.begin(), operands.end());
    double factor = 1;
    if ((is_float(node.dtype) || node.dtype == DType::boolean) && std::isnormal(parts[0].factor)) {
        factor = parts[0].factor;
        for (Scaled& part : parts) part.factor /= factor;
    }
    return {factor, op_term(node.op, node.dtype, trimmed(node.shape), std::move(parts), node.attributes)};
}

Scaled Canon::real(Op op, DType dtype, const Attributes& attributes, Parts x) {
    const Shape shape = joint_shape(x);
    const auto of_part = [&](double sign, double factor) {
        return Scaled{sign, op_term(op, dtype, shape, {Scaled{factor, x[0].core}})};
    };
    const auto minus = [](const Scaled& value) { return Scaled{-value.factor, value.core}; };
    if (op == Op::neg) return minus(x[0]);
    if (op == Op::add) return add({x[0], x[1]}, dtype);
    if (op == Op::sub) return add({x[0], minus(x[1])}, dtype);
    if (op == Op::mul) return multiply(x[0], x[1]);
    if (op == Op::div) return multiply(x[0], power(x[1], -1));
    if (op == Op::sqrt) return power(x[0], 0.5);
    if (op == Op::rsqrt) return power(x[0], -0.5);
    if (op == Op::pow && terms_[x[1].core].kind == TermKind::one) return power(x[0], x[1].factor);
    if (op == Op::exp) return exponential(x[0], dtype);
    if (op == Op::log) return logarithm(x[0], dtype);
    if (op == Op::max) return larger(x[0], x[1], dtype);
    if (op == Op::min) return minus(larger(minus(x[0]), minus(x[1]), dtype));
    if (op == Op::abs) return {std::fabs(x[0].factor), op_term(op, dtype, shape, {Scaled{1, x[0].core}})};
    if (ir::info(op).has(ir::Fact::odd)) return of_part(std::copysign(1, x[0].factor), std::fabs(x[0].factor));
    if (ir::info(op).has(ir::Fact::even)) return of_part(1, std::fabs(x[0].factor));
    return {1, op_term(op, dtype, shape, {x.begin(), x.end()}, attributes)};
}

Scaled Canon::apply(Op op, DType dtype, const Attributes& attributes, Parts x) {
    if (ir::info(op).has(ir::Fact::compares)) return compare(op, x[0], x[1]);
    if (op == Op::logical_and) return both({x.begin(), x.end()});
    if (op == Op::logical_not) return {-x[0].factor, x[0].core};
    if (op == Op::logical_or) {
        const Scaled neither = both({{-x[0].factor, x[0].core}, {-x[1].factor, x[1].core}});
        return {-neither.factor, neither.core};
    }
    if (op == Op::where) return choose(x[0], x[1], x[2], dtype);
    if (op == Op::cast)
        if (auto counted = counted_in(dtype, x[0])) return from_affine(std::move(*counted), dtype);
    const bool is_arithmetic = op != Op::cast && dtype != DType::boolean;
    if (is_arithmetic) return is_float(dtype) ? real(op, dtype, attributes, x) : integer(op, dtype, attributes, x);
    return {1, op_term(op, dtype, joint_shape(x), {x.begin(), x.end()}, attributes)};
}

// What is not looked into: a constant that doubles cannot tell from its neighbours, too.
Scaled Canon::of_leaf(const Node& node, ir::NodeId id) {
    Term term;
    term.kind = TermKind::leaf;
    term.dtype = node.dtype;
    term.shape = trimmed(node.shape);
    term.node = id;
    return {1, intern(std::move(term))};
}

Scaled Canon::of(const Node& node, ir::NodeId id, Parts x) {
    if (node.op == Op::constant) return node.wide ? of_leaf(node, id) : constant(node);
    if (node.op == Op::iota && !is_float(node.dtype)) return counting(node);
    if (ir::is_given(node) || ir::is(node, ir::OpClass::effect)) return of_leaf(node, id);
    if (node.op == Op::reshape || node.op == Op::transpose) return move(node, x[0]);
    if (node.op == Op::concat) return concat(node, x);
    if (ir::is(node, ir::OpClass::elementwise)) return apply(node.op, node.dtype, node.attributes, x);
    const bool real = is_float(node.dtype);
    if (node.op == Op::sum && real) return summed(node, x[0]);
    if (node.op == Op::matmul && real) return multiply_matrices(x[0], x[1]);
    if (node.op == Op::max_reduce && real && x[0].factor != 0) {
        const Scaled part{std::copysign(1, x[0].factor), x[0].core};
        return {std::fabs(x[0].factor), op_term(node.op, node.dtype, trimmed(node.shape), {part}, node.attributes)};
    }
    if (ir::info(node.op).has(ir::Fact::linear) && (real || node.dtype == DType::boolean))
        return with_factor_outside(node, x);
    return {1, op_term(node.op, node.dtype, trimmed(node.shape), {x.begin(), x.end()}, node.attributes)};
}

}  // namespace cairn::inline v0::canon
