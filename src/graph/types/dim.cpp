#include <limits>

#include "graph/types/dim_table.hpp"

namespace cairn::inline v0 {

namespace detail {

namespace {

std::int64_t power_product(const Monomial& factors, std::span<const std::int64_t> values);

// The sum is computed in 128 bits: only the result has to fit.
std::int64_t evaluate(const Polynomial& polynomial, std::span<const std::int64_t> values) {
    Wide sum = 0;
    for (const auto& term : polynomial.terms) {
        const Wide product = Wide(term.coefficient) * power_product(term.factors, values);
        if (__builtin_add_overflow(sum, product, &sum)) throw SizeOverflow{};
    }
    if (sum != Wide(to_int64(sum))) throw SizeOverflow{};
    return to_int64(sum);
}

std::int64_t evaluate(const Atom& atom, std::span<const std::int64_t> values) {
    if (atom.kind == AtomKind::symbol) return values[atom.index];
    std::int64_t result = evaluate(atom.args[0], values);
    for (std::size_t i = 1; i < atom.args.size(); ++i) {
        const std::int64_t next = evaluate(atom.args[i], values);
        if (atom.kind == AtomKind::min) {
            result = std::min(result, next);
        } else if (atom.kind == AtomKind::max) {
            result = std::max(result, next);
        } else if (next == 0) {
            throw Error(ErrorKind::argument, "size", "division by zero: the divisor is 0 for the given symbol values");
        } else if (atom.kind == AtomKind::floordiv) {
            result = checked_floordiv(result, next);
        } else {
            result = next == -1 ? 0 : result - next * checked_floordiv(result, next);
        }
    }
    return result;
}

std::int64_t power_product(const Monomial& factors, std::span<const std::int64_t> values) {
    std::int64_t product = 1;
    for (const auto* atom : factors) product = checked_multiply(product, evaluate(*atom, values));
    return product;
}

bool is_number(const Dim& dim, std::int64_t number) { return dim.is_constant() && dim.constant() == number; }

}  // namespace

Dim without_overflow(std::string_view operation, const Dim& a, const Dim& b, const std::function<Dim()>& work) {
    try {
        return work();
    } catch (const SizeOverflow&) {
        const bool infix = operation.size() == 1;
        const std::string left = to_string(a), right = to_string(b);
        throw Error(ErrorKind::graph, "size",
                    (infix ? "(" + left + ") " + std::string(operation) + " (" + right + ")"
                           : std::string(operation) + "(" + left + ", " + right + ")") +
                        " does not fit into 64 bits");
    }
}

}  // namespace detail

using detail::DimTable;
using detail::Polynomial;

void Dim::refuse(std::uint64_t value) {
    throw Error(ErrorKind::graph, "size", std::to_string(value) + " does not fit into a signed 64-bit size");
}

std::int64_t Dim::constant() const {
    if (node_ != nullptr) {
        throw Error(ErrorKind::graph, "size", "a constant is needed here; got the symbolic size " + to_string(*this));
    }
    return value_;
}

std::int64_t Dim::evaluate(std::span<const std::int64_t> symbol_values) const {
    if (node_ == nullptr) return value_;
    if (symbol_values.size() < node_->symbols_needed) {
        throw Error(ErrorKind::argument, "size",
                    to_string(*this) + " needs the values of " + std::to_string(node_->symbols_needed) +
                        " symbols; got " + std::to_string(symbol_values.size()));
    }
    try {
        return detail::evaluate(*node_->polynomial, symbol_values);
    } catch (const detail::SizeOverflow&) {
        throw Error(ErrorKind::graph, "size",
                    to_string(*this) + " does not fit into 64 bits for the given symbol values");
    }
}

std::int64_t Dim::lower_bound() const { return node_ == nullptr ? value_ : node_->low; }

std::int64_t Dim::upper_bound() const { return node_ == nullptr ? value_ : node_->high; }

std::string_view Dim::symbol() const noexcept {
    if (node_ == nullptr || node_->polynomial->terms.size() != 1) return {};
    const auto& term = node_->polynomial->terms[0];
    if (term.coefficient != 1 || term.factors.size() != 1) return {};
    return term.factors[0]->name;
}

std::shared_ptr<Symbols> Dim::symbols() const { return node_ == nullptr ? nullptr : node_->table->shared_from_this(); }

Dim operator+(const Dim& a, const Dim& b) {
    if (detail::is_number(a, 0)) return b;
    if (detail::is_number(b, 0)) return a;
    return detail::without_overflow("+", a, b, [&]() -> Dim {
        if (a.is_constant() && b.is_constant()) return detail::checked_add(a.value_, b.value_);
        const auto table = DimTable::shared(a, b);
        return DimTable::dim(*table, add(DimTable::polynomial(a), DimTable::polynomial(b)));
    });
}

Dim operator-(const Dim& a, const Dim& b) {
    return detail::without_overflow("-", a, b, [&]() -> Dim {
        std::int64_t difference = 0;
        if (a.is_constant() && b.is_constant()) {
            if (__builtin_sub_overflow(a.value_, b.value_, &difference)) throw detail::SizeOverflow{};
            return difference;
        }
        const auto table = DimTable::shared(a, b);
        return DimTable::dim(*table, subtract(DimTable::polynomial(a), DimTable::polynomial(b)));
    });
}

Dim operator*(const Dim& a, const Dim& b) {
    if (detail::is_number(a, 1)) return b;
    if (detail::is_number(b, 1)) return a;
    std::int64_t product = 0;
    const bool are_constant = a.is_constant() && b.is_constant();
    if (are_constant && !__builtin_mul_overflow(a.value_, b.value_, &product)) return product;
    return detail::without_overflow("*", a, b, [&]() -> Dim {
        if (a.is_constant() && b.is_constant()) return detail::checked_multiply(a.value_, b.value_);
        const auto table = DimTable::shared(a, b);
        return DimTable::dim(*table, multiply(DimTable::polynomial(a), DimTable::polynomial(b)));
    });
}

}  // namespace cairn::inline v0
