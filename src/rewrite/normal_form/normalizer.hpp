#pragma once

#include "rewrite/normal_form/identity.hpp"
#include "rewrite/normal_form/terms.hpp"

#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

/// Normal form of values: two values have one form exactly when a few laws of real arithmetic make them equal. Forms
/// are stored beside the graph, which keeps the user's arithmetic.
///
///     x * 0.5 * (1 + erf(x / sqrt 2))    0.5*x + erf(0.70710678*x) * x/2    ->   0.5 * [x^1 * (erf(0.707 * x) + 1)^1]
///
/// The identities are the rows of identities.cpp, printed in docs/laws.md. A law of `Laws` that is not allowed omits
/// the rows that need it.
///
/// Nothing else is cancelled (x - x, x / x and 0 * x stay), so that forms keep what docs/numbers.md promises of fused
/// kernels. Floats are equal within a relative 1e-6, as constants rounded to f32 are; in f64 within 1e-14; integers if
/// identical.
///
/// Laws apply up to a size: a sum, product or conjunction of many parts is not flattened into a larger one, and
/// movement is pushed down through a limited number of terms. The limits depend on the form alone, so they are the same
/// for all expressions of a value, and time and stack for the forms of a graph grow with its number of nodes.
namespace cairn::normal_form {

/// Builds and stores the normal forms of one graph, and of values compared with it.
class Normalizer {
public:
    /// Forms use the exact laws and `laws` only.
    explicit Normalizer(Laws laws = Laws::of_definitions()) : table_(&IdentityTable::under(laws)) {}
    /// Forms use the identities of `table`, which must outlive it; tests omit rows.
    explicit Normalizer(const IdentityTable& table) : table_(&table) {}
    /// The form of a node whose operands have the forms `operands`; `id` distinguishes leaves.
    ScaledTerm of(const ir::Node& node, ir::NodeId id, std::span<const ScaledTerm> operands);
    /// The form of a finite scalar constant of this dtype.
    ScaledTerm number(double value, DType dtype) { return {value, one(dtype)}; }
    const Term& term(TermId id) const { return terms_[id]; }
    /// The number of terms; terms made later have this id or a higher one.
    TermId size() const noexcept { return terms_.size(); }
    /// Structural hash: equal for forms that differ in numbers only.
    std::size_t structure(TermId id) const { return terms_.structure(id); }
    /// True if the values are equal: equal cores, and factors equal within the tolerance.
    bool same(const ScaledTerm& a, const ScaledTerm& b) const noexcept { return terms_.same(a, b); }
    static bool close(double a, double b, DType dtype = DType::f32) noexcept { return normal_form::close(a, b, dtype); }

    /// Caches results of ops with one or two operands from here on, for callers that repeat the same queries often.
    void keep_results() { results_.resize(results_kept); }

    // What identities build forms with.
    Terms& terms() noexcept { return terms_; }
    bool allows(Law law) const noexcept { return table_->laws().has(law); }
    TermId one(DType dtype) { return terms_.intern(terms_.draft(TermKind::one, dtype, terms_.scalar())); }
    /// A term of an op as it is: no identity is applied.
    TermId op_term(ir::Op op, DType dtype, const Shape* shape, std::span<const ScaledTerm> parts,
                   const Attributes* attributes = nullptr);
    TermId op_term(ir::Op op, DType dtype, const Shape* shape, std::initializer_list<ScaledTerm> parts,
                   const Attributes* attributes = nullptr) {
        return op_term(op, dtype, shape, std::span(parts.begin(), parts.size()), attributes);
    }
    /// The shape to which the shapes of the parts are broadcast.
    const Shape* joint_shape(std::span<const ScaledTerm> parts);
    /// A shape without its leading axes of size 1, kept.
    const Shape* trimmed_shape(const Shape& shape);
    bool is_op(TermId core, ir::Op op) const;
    bool is_constant(const ScaledTerm& value, double number) const;
    /// True for terms that depend on weights and constants only.
    bool is_bound(TermId core);

    /// The form of an op, by its identities.
    ScaledTerm apply(const Operation& operation);
    ScaledTerm apply(ir::Op op, DType dtype, std::initializer_list<ScaledTerm> operands) {
        return apply({op, dtype, std::span(operands.begin(), operands.size())});
    }
    ScaledTerm multiply(const ScaledTerm& a, const ScaledTerm& b);
    ScaledTerm power(const ScaledTerm& base, double exponent);
    /// Appends the powers that core ^ exponent is a product of.
    void append_powers(TermId core, double exponent, std::vector<ScaledTerm>& out);
    /// The powers that a term is a product of: of a product with few parts its parts, else the term itself.
    std::span<const ScaledTerm> powers_of(TermId core) const;
    /// The term of a product of powers, which it sorts.
    TermId product(std::span<ScaledTerm> powers, DType dtype);
    ScaledTerm add(std::span<const ScaledTerm> terms, DType dtype);
    ScaledTerm add(std::initializer_list<ScaledTerm> terms, DType dtype) {
        return add(std::span(terms.begin(), terms.size()), dtype);
    }
    /// Appends the terms of a summand.
    void append_terms(const ScaledTerm& summand, std::vector<ScaledTerm>& out);
    /// The product of float matrices, by the identities of a step and the later ones.
    ScaledTerm multiply_matrices(ScaledTerm a, ScaledTerm b, MatrixStep step = MatrixStep::sums);
    /// The form of a move of a term.
    ScaledTerm moved(TermId core, const Move& move);
    /// The move that changes nothing.
    Move unmoved(const ScaledTerm& part) const { return {ir::Op::reshape, terms_[part.core].shape, terms_.scalar()}; }

private:
    struct CachedMove {
        TermId core;
        Move move;
        ScaledTerm result;
    };
    /// A term that a move is pushed through, and the resulting move of each part.
    struct MovementPushdown {
        TermId core;
        Move move;
        std::vector<Move> parts;
    };
    /// A cached result of an op that depends on nothing but its operands.
    struct Result {
        ir::Op op = ir::Op::constant;
        std::size_t count = 0;
        ScaledTerm operands[2], result;
    };

    // normalizer.cpp
    ScaledTerm compute(const ir::Node& node, ir::NodeId id, std::span<const ScaledTerm> operands);
    ScaledTerm of_leaf(const ir::Node& node, ir::NodeId id);
    ScaledTerm constant(const ir::Node& node);

    // movement.cpp
    ScaledTerm move(const ir::Node& node, const ScaledTerm& x);
    Move canonical_move(TermId core, const Move& move);
    std::optional<Move> joined(const Term& term, const Move& move);
    std::vector<Move> push_down(const Term& term, const Move& move);
    bool stays(TermId core, const Move& move) const;
    std::optional<ScaledTerm> cached_move(TermId core, const Move& move) const;
    ScaledTerm cache_move(TermId core, const Move& move, const ScaledTerm& result);
    std::optional<std::vector<MovementPushdown>> inside(TermId core, const Move& move);
    ScaledTerm pushed_down(const MovementPushdown& pushdown);
    ScaledTerm rebuilt_of(const Term& term, const Move& move, std::vector<ScaledTerm> parts);
    ScaledTerm opaque_move(TermId core, const Move& move);

    const IdentityTable* table_;
    Terms terms_;
    std::vector<CachedMove> move_cache_;
    types::HashIndex move_cache_index_;
    std::vector<bool> bound_;  // by term, computed on demand: parts precede the terms that contain them
    static constexpr std::size_t results_kept = 1024;
    std::vector<Result> results_;  // direct-mapped cache, indexed by hash
};

/// Maximum number of parts of a sum, a product or a conjunction that is flattened into a larger one. Without a limit
/// the residual stream of a transformer would be one sum over all layers.
constexpr std::size_t max_flattened_parts = 8;

/// The size of the axis `back` places before the last; 1 if the shape has no such axis.
Dim from_end(const Shape& shape, std::size_t back);
/// True for terms whose elements are each computed from the elements at the same position.
bool is_elementwise(const Term& term);
/// True for a product of float matrices.
bool is_product(const Term& term);
/// A shape without its leading axes of size 1.
Shape trimmed(const Shape& shape);
/// The trimmed shape of the result of a reduction over `axes`.
Shape reduced(Shape shape, const std::vector<Dim>& axes);

}  // namespace cairn::normal_form
