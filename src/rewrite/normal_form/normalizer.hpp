#pragma once

#include "rewrite/normal_form/laws.hpp"
#include "rewrite/normal_form/terms.hpp"

#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

/// Normal form of values: two values have one form exactly when a few laws of real arithmetic make them equal. Forms
/// are stored beside the graph, which keeps the user's arithmetic.
///
///     x * 0.5 * (1 + erf(x / sqrt 2))    0.5*x + erf(0.70710678*x) * x/2    ->   0.5 * [x^1 * (erf(0.707 * x) + 1)^1]
///
/// Laws:
/// - Sums and products are associative and commutative; products distribute over sums (up to a size). sub, neg, div,
///   sqrt, rsqrt and pow by a constant are sums and products.
/// - Factors that do not vary along a summed axis leave matmul and sums; coefficients leave movement.
/// - e^(a + b) = e^a e^b, log(e^a b) = a + log b, 1 + tanh x = 2 / (1 + e^-2x). A shift by the maximum leaves softmax.
/// - (a b)^T = b^T a^T. Movement is pushed down through elementwise ops; reshapes of gathered rows to the indices;
///   reshapes of a product's rows to its left operand; reshapes that add or drop axes of size 1 through all ops that
///   work along the last axes.
/// - Slices are pushed down through elementwise ops, products, sums and concat; gathers through elementwise ops.
/// - Bound factors and terms move to the bound operand of a product: (x g + r) W = x (g W) + r W for bound rows g and
///   r.
/// - With Law::reassociated: (a b) c = a (b c), (a + b) c = a c + b c and concat(a, b) c = a slice(c) + b slice(c) of
///   matrices.
/// - Comparisons have one order and negations are outside them. Positions are the same in i32 and i64. Leading axes of
///   size 1 are ignored.
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
    explicit Normalizer(Laws laws = Laws::of_definitions()) : laws_(laws) {}
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

    // arithmetic.cpp
    ScaledTerm multiply(const ScaledTerm& a, const ScaledTerm& b);
    ScaledTerm power(const ScaledTerm& base, double exponent);
    ScaledTerm add(std::span<const ScaledTerm> terms, DType dtype);
    ScaledTerm add(std::initializer_list<ScaledTerm> terms, DType dtype) {
        return add(std::span(terms.begin(), terms.size()), dtype);
    }

private:
    /// The entries of a list: powers of a product or terms of a sum.
    enum class ListKind { powers, terms };
    /// An affine integer expression: terms (such as iotas) with integer coefficients, plus a Dim.
    struct Affine {
        std::vector<ScaledTerm> terms;
        Dim offset = 0;
    };
    /// A movement op: reshape, transpose, slice or gather. Its pointers refer to storage of the terms.
    struct Move {
        ir::Op op;
        const Shape* shape;  ///< of the result, without leading axes of size 1
        const Shape* order;  ///< of a transpose: the permutation without unchanged leading axes, as negative axes; of a
                             ///< slice: axis (negative), start and step; of a gather: axis (negative); else empty
        ScaledTerm ids = {};  ///< of a gather
        friend bool operator==(const Move&, const Move&) = default;
    };
    struct CachedMove {
        TermId core;
        Move move;
        ScaledTerm result;
    };
    /// A masked value: where(condition, seen, hidden), or with the last two swapped.
    struct Masking {
        ScaledTerm condition, seen, hidden;
        bool seen_first;
    };
    /// A term that a move is pushed through, and the resulting move of each part.
    struct MovementPushdown {
        TermId core;
        Move move;
        std::vector<Move> parts;
    };

    /// Computes the form of an op of this dtype from the forms of its operands.
    using Formula = ScaledTerm (*)(Normalizer& normalizer, DType dtype, std::span<const ScaledTerm> operands);
    /// A cached result of an op that depends on nothing but its operands.
    struct Result {
        ir::Op op = ir::Op::constant;
        std::size_t count = 0;
        ScaledTerm operands[2], result;
    };

    // normalizer.cpp
    ScaledTerm made_of(const ir::Node& node, ir::NodeId id, std::span<const ScaledTerm> operands);
    TermId one(DType dtype);
    TermId op_term(ir::Op op, DType dtype, const Shape* shape, std::span<const ScaledTerm> parts,
                   const Attributes* attributes = nullptr);
    TermId op_term(ir::Op op, DType dtype, const Shape* shape, std::initializer_list<ScaledTerm> parts,
                   const Attributes* attributes = nullptr) {
        return op_term(op, dtype, shape, std::span(parts.begin(), parts.size()), attributes);
    }
    const Shape* trimmed_shape(const Shape& shape);
    ScaledTerm of_leaf(const ir::Node& node, ir::NodeId id);
    ScaledTerm constant(const ir::Node& node);
    const Shape* joint_shape(std::span<const ScaledTerm> parts);
    const Shape* joint_shape(std::initializer_list<ScaledTerm> parts) {
        return joint_shape(std::span(parts.begin(), parts.size()));
    }
    /// The form of an elementwise op of any dtype.
    ScaledTerm apply(ir::Op op, DType dtype, const Attributes& attributes, std::span<const ScaledTerm> operands);
    ScaledTerm real(ir::Op op, DType dtype, const Attributes& attributes, std::span<const ScaledTerm> operands);
    ScaledTerm with_factor_outside(const ir::Node& node, std::span<const ScaledTerm> operands);
    ScaledTerm concat(DType dtype, const Shape* shape, const Attributes& attributes, std::vector<ScaledTerm> parts);
    ScaledTerm of_whole(const ir::Node& node, std::span<const ScaledTerm> operands);
    ScaledTerm largest(const Attributes& attributes, const Shape* shape, const ScaledTerm& x);

    // arithmetic.cpp
    std::span<const ScaledTerm> powers_of(TermId core) const;
    TermId product(std::span<ScaledTerm> powers, DType dtype);
    void expand(const ScaledTerm& term, std::vector<ScaledTerm>& out);
    std::vector<ScaledTerm> common_powers(std::span<const ScaledTerm> terms) const;
    void join_numbers(std::vector<ScaledTerm>& terms, bool are_factors, DType dtype);
    bool hides(const ScaledTerm& value) const;
    bool is_lowest(const ScaledTerm& value) const;
    bool is_score(const ScaledTerm& value) const;
    std::optional<Masking> masking(const ScaledTerm& value) const;
    ScaledTerm masked(const Masking& by, const ScaledTerm& seen, DType dtype);
    std::optional<ScaledTerm> additive_mask(std::span<const ScaledTerm> terms, DType dtype);
    std::optional<ScaledTerm> beneath_mask(std::span<const ScaledTerm> terms, DType dtype);
    ScaledTerm opaque(ir::Op op, DType dtype, std::span<const ScaledTerm> parts);

    // exponential.cpp
    bool is_op(TermId core, ir::Op op) const;
    bool is_exponential(TermId core) const;
    ScaledTerm exponential(const ScaledTerm& x, DType dtype);
    ScaledTerm logarithm(const ScaledTerm& x, DType dtype);
    bool is_falling(TermId core) const;
    std::optional<ScaledTerm> logistic_sum(const ScaledTerm& first, const ScaledTerm& second, DType dtype);
    bool shifts(const ScaledTerm& shift, TermId sum, DType dtype);
    std::optional<ScaledTerm> shift_in(const ScaledTerm& entry, ListKind entries) const;
    std::optional<TermId> total_in(const ScaledTerm& entry, ListKind entries) const;
    void drop_shifts(std::vector<ScaledTerm>& list, ListKind entries, DType dtype);
    void drop_logistic(std::vector<ScaledTerm>& powers);

    // contraction.cpp
    ScaledTerm take_constant_along(std::span<const Dim> axes, ScaledTerm& value);
    ScaledTerm summed(const Attributes& attributes, ScaledTerm x);
    bool is_bound(TermId core);
    bool is_bound_row(TermId core);
    void move_factors_to_bound_side(ScaledTerm& a, ScaledTerm& b);
    std::optional<ScaledTerm> with_bound_rows_apart(const ScaledTerm& a, const ScaledTerm& b);
    std::optional<ScaledTerm> parts_multiplied(const ScaledTerm& a, const ScaledTerm& b);
    ScaledTerm multiply_matrices(ScaledTerm a, ScaledTerm b);
    ScaledTerm multiply_two(ScaledTerm a, ScaledTerm b);
    std::optional<ScaledTerm> multiplied_out(const ScaledTerm& a, const ScaledTerm& b);
    std::vector<ScaledTerm> terms_beside(const ScaledTerm& x, std::size_t back);
    std::vector<ScaledTerm> chain_factors(const ScaledTerm& x) const;
    ScaledTerm reassociated_chain(ScaledTerm a, ScaledTerm b);
    ScaledTerm product_of_matrices(ScaledTerm a, ScaledTerm b);

    // logic.cpp
    ScaledTerm maximum(ScaledTerm a, ScaledTerm b, DType dtype);
    ScaledTerm compare(ir::Op op, const ScaledTerm& a, const ScaledTerm& b);
    ScaledTerm compare_integers(const ScaledTerm& low, const ScaledTerm& high);
    ScaledTerm conjunction(std::vector<ScaledTerm> parts);
    ScaledTerm choose(ScaledTerm condition, ScaledTerm a, ScaledTerm b, DType dtype);
    std::optional<ScaledTerm> choose_by_comparison(const ScaledTerm& condition, const ScaledTerm& a,
                                                   const ScaledTerm& b, DType dtype);
    bool is_constant(const ScaledTerm& value, double number) const;

    // integer.cpp
    ScaledTerm integer(ir::Op op, DType dtype, const Attributes& attributes, std::span<const ScaledTerm> operands);
    ScaledTerm from_iota(const ir::Node& iota);
    Affine affine(const ScaledTerm& value) const;
    ScaledTerm from_affine(Affine sum, DType dtype);
    static void add_scaled(Affine& sum, const Affine& other, std::int64_t factor);
    const Term* iota_under(TermId core) const;
    bool is_iota_sum(const Affine& sum) const;
    bool is_narrow(const Affine& sum) const;
    TermId with_iota_dtype(TermId core, DType dtype);
    std::optional<Affine> affine_in(DType dtype, const ScaledTerm& value);
    std::optional<ScaledTerm> compare_positions(const ScaledTerm& low, const ScaledTerm& high);
    std::optional<ScaledTerm> compare_difference(Affine minuend, const Affine& subtrahend);

    // movement.cpp
    ScaledTerm move(const ir::Node& node, const ScaledTerm& x);
    ScaledTerm moved(TermId core, const Move& move);
    bool stays(TermId core, const Move& move) const;
    std::optional<ScaledTerm> cached_move(TermId core, const Move& move) const;
    ScaledTerm cache_move(TermId core, const Move& move, const ScaledTerm& result);
    std::optional<std::vector<MovementPushdown>> inside(TermId core, const Move& move);
    ScaledTerm pushed_down(const MovementPushdown& passage);
    ScaledTerm opaque_move(TermId core, const Move& move);

    // movement_pushdown.cpp
    std::vector<Move> push_down(const Term& term, const Move& move);
    std::vector<Move> push_into_product(const Term& term, const Move& move);
    std::vector<Move> push_into_indices(const Term& term, const Move& move);
    std::vector<Move> push_past_unit_axes(const Term& term, const Move& move);
    std::vector<Move> push_past_broadcast(const Term& term, const Move& move);
    Move composed(const Term& first, const Move& second);
    Move plainest(TermId core, const Move& move) const;
    Move unmoved(const ScaledTerm& part) const;
    ScaledTerm rebuilt_of(const Term& term, const Move& move, std::vector<ScaledTerm> parts);

    // slice_pushdown.cpp
    std::optional<Move> slice_of(const ir::Node& node, const ScaledTerm& x);
    std::optional<Move> slice_part(const ScaledTerm& part, const Dim& axis, const Dim& whole, const Move& slice);
    std::vector<Move> push_slice(const Term& term, const Move& slice);
    std::vector<Move> push_slice_into_each(const Term& term, const Move& slice);
    std::vector<Move> push_slice_into_product(const Term& term, const Move& slice);
    std::optional<std::pair<std::size_t, Dim>> part_within(const Term& concat, const Move& slice) const;
    std::vector<Move> push_slice_into_concat(const Term& term, const Move& slice);
    ScaledTerm concat_of_cut(const Term& term, const Move& slice, std::vector<ScaledTerm> parts);
    std::vector<Move> push_slice_into_move(const Term& term, const Move& slice);
    static bool is_slice(const Term& term);

    // gather_pushdown.cpp
    std::optional<Move> gather_of(const ir::Node& node, const ScaledTerm& table, const ScaledTerm& ids);
    std::vector<Move> push_gather(const Term& term, const Move& gather);

    Laws laws_;
    Terms terms_;
    std::vector<CachedMove> move_cache_;
    types::HashIndex move_cache_index_;
    std::vector<bool> bound_;  // by term, computed on demand: parts precede the terms that contain them
    static constexpr std::size_t results_kept = 1024;
    std::vector<Result> results_;  // direct-mapped cache, indexed by hash
};

/// Maximum number of parts of a sum, a product or a conjunction that is flattened into a larger one. Without a limit
/// the residual stream of a transformer would be one sum over all layers.
constexpr std::size_t most_flattened_parts = 8;

/// The size of the axis `back` places before the last; 1 if the shape has no such axis.
Dim from_end(const Shape& shape, std::size_t back);
/// True for terms whose elements are each computed from the elements at the same position.
bool is_elementwise(const Term& term);
/// True for a product of float matrices.
bool is_product(const Term& term);
/// A shape without its leading axes of size 1.
Shape trimmed(const Shape& shape);
/// The trimmed shape of a transposed value; `order` is the permutation in negative axes, without unchanged leading
/// axes.
Shape permuted(Shape shape, const std::vector<Dim>& order);
/// The permutation equal to `first` followed by `second`, without unchanged leading axes; empty for the identity.
std::vector<Dim> composed_order(const std::vector<Dim>& first, const std::vector<Dim>& second);

}  // namespace cairn::normal_form
