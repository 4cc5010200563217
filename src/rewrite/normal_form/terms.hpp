#pragma once

#include "graph/ir/graph_data.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/types/hash_index.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace cairn::normal_form {

using TermId = std::uint32_t;

/// factor * core; for booleans a factor of -1 is a negation. Among the parts of a product: core ^ factor.
struct ScaledTerm {
    double factor = 1;
    TermId core = 0;
    friend bool operator==(const ScaledTerm&, const ScaledTerm&) = default;
};
/// The value times -1; the negation of a boolean.
inline ScaledTerm negated(const ScaledTerm& value) { return {-value.factor, value.core}; }
/// Canonical order of the parts of commutative terms.
inline bool by_core(const ScaledTerm& a, const ScaledTerm& b) {
    return a.core != b.core ? a.core < b.core : a.factor < b.factor;
}

/// Kinds of terms.
enum class TermKind : std::uint8_t {
    one,      ///< 1 (of booleans: true): the core of constants
    leaf,     ///< an input, weight or state of the graph
    sum,      ///< of `parts`, and of integers plus `offset`
    product,  ///< of powers of `parts`
    op,       ///< any other op on `parts`
};

/// A term of a normal form. Its pointers and spans refer to storage owned by Terms.
struct Term {
    TermKind kind = TermKind::one;
    ir::Op op = ir::Op::constant;  ///< of an op and of a leaf
    DType dtype = DType::f32;
    ir::NodeId node = 0;           ///< of a leaf
    const Shape* shape = nullptr;  ///< without leading axes of size 1; interned, so that equal shapes have one address
    const Attributes* attributes = nullptr;  ///< of an op; of a sum of integers: `offset`
    std::span<const ScaledTerm> parts;       ///< empty for a leaf and for 1
    std::span<const double> values;          ///< of a constant that is not a finite scalar
    ScaledTerm whole;                        ///< this term with factor 1
};

/// Hash-consed terms in the order of their creation. They are stored in blocks, which are freed together: there are
/// many more terms than nodes.
class Terms {
public:
    Terms();
    const Term& operator[](TermId id) const { return blocks_[id / block_size][id % block_size]; }
    TermId size() const noexcept { return static_cast<TermId>(structures_.size()); }
    /// Structural hash: equal for terms that differ in numbers only.
    std::size_t structure(TermId id) const { return structures_[id]; }

    /// A term to be interned; `shape` must come from keep(). Attributes and values set on it need not outlive the call
    /// to intern().
    Term draft(TermKind kind, DType dtype, const Shape* shape) const;
    /// The term equal to `draft`; it is created if there is none.
    TermId intern(const Term& draft);
    /// Interns a list of sizes or axes: equal lists have one address.
    const Shape* keep(const Shape& shape);
    /// The shape [] as keep() gives it.
    const Shape* scalar() const { return &shapes_.front(); }

    /// The same value: equal cores, factors equal within the tolerance.
    bool same(const ScaledTerm& a, const ScaledTerm& b) const noexcept;

private:
    static constexpr std::size_t block_size = 64;

    bool same_term(const Term& a, const Term& b) const;
    std::size_t structure_of(const Term& term, std::size_t hash) const;
    std::span<const ScaledTerm> stored(std::span<const ScaledTerm> parts);
    const Attributes* stored(const Attributes* attributes);

    std::vector<std::unique_ptr<Term[]>> blocks_;
    std::vector<std::size_t> structures_;
    types::HashIndex index_;
    std::vector<std::unique_ptr<ScaledTerm[]>> part_blocks_;
    std::span<ScaledTerm> free_parts_;  // unused part of the last block
    std::deque<Shape> shapes_;
    types::HashIndex shape_index_;
    std::deque<Attributes> attributes_;  // the first one is empty
    std::unordered_multimap<std::size_t, const Attributes*> attribute_index_;
    std::deque<std::vector<double>> values_;
};

/// Hash keys by which values equal within the tolerance are found: the `own` key of one is the `low` or the `high` key
/// of the other.
struct ToleranceCells {
    std::size_t low, own, high;
};
ToleranceCells cells_of(const ScaledTerm& value);

/// True if a and b are equal within the tolerance of the dtype.
bool close(double a, double b, DType dtype) noexcept;

}  // namespace cairn::normal_form
