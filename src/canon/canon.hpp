#pragma once

#include "canon/laws.hpp"
#include "canon/terms.hpp"

#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

/// The normal form in which values are compared: two values get one form exactly when a few laws of real arithmetic
/// make them equal. It lives beside the graph, which keeps the user's arithmetic.
///
///     x * 0.5 * (1 + erf(x / sqrt 2))    0.5*x + erf(0.70710678*x) * x/2    ->   0.5 * [x^1 * (erf(0.707 * x) + 1)^1]
///
/// Laws: sums and products are associative and commutative, products distribute over sums (up to a size), sub neg div
/// sqrt rsqrt and pow by a constant are sums and products; what does not vary along a summed axis leaves matmul and
/// sums, coefficients leave movement; e^(a + b) = e^a e^b, log(e^a b) = a + log b, 1 + tanh x = 2 / (1 + e^-2x); a
/// shift by the largest element leaves softmax; (a b)^T = b^T a^T; movement goes inward through elementwise ops,
/// reshapes of gathered rows to the ids, of a product's rows to its left side, and those that add or drop axes of size
/// 1 through all that works along the last axes; slices inward through all that computes each element apart, products,
/// sums and concat, gathers through all that computes each element apart; what is bound stands at the bound side of a
/// product: (x g + r) W = x (g W) + r W for bound rows g and r; where asked, (a b) c = a (b c), (a + b) c = a c + b c
/// and concat(a, b) c = a slice(c) + b slice(c) of matrices; orders and negations of comparisons; positions are the
/// same in i32 and i64; leading axes of size 1 do not count. Nothing else is cancelled (x - x, x / x stay; 0 * x stays
/// too): what docs/numbers.md tells of fused kernels holds of forms. Float numbers are equal within 1e-6 of their size,
/// as constants rounded to f32 are; in f64 within 1e-14; integers when they are the same.
///
/// A law holds up to a size: a sum, product or conjunction of many parts stays whole in a larger one, and movement goes
/// inward through a limited number of terms. That depends on nothing but the form itself, so all spellings see it
/// alike, and the forms of a graph take time and stack as its nodes do.
namespace cairn::inline v0::canon {

/// The store of normal forms of one graph, and of what is compared with it.
class Canon {
public:
    /// Of forms in which only exact laws and these are used.
    explicit Canon(Laws laws = Laws::of_definitions()) : laws_(laws) {}
    /// The form of a node whose operands have the forms `operands`; `id` distinguishes leaves.
    Scaled of(const ir::Node& node, ir::NodeId id, std::span<const Scaled> operands);
    /// The form of a constant of rank 0 that holds a finite number of this dtype.
    Scaled number(double value, DType dtype) { return {value, one(dtype)}; }
    const Term& term(CanonId id) const { return terms_[id]; }
    /// How many terms there are: what is made later has this number or a higher one.
    CanonId size() const noexcept { return terms_.size(); }
    /// Equal for forms that differ in numbers alone.
    std::size_t structure(CanonId id) const { return terms_.structure(id); }
    /// The same value: equal cores, factors equal within the tolerance.
    bool same(const Scaled& a, const Scaled& b) const noexcept { return terms_.same(a, b); }
    static bool close(double a, double b, DType dtype = DType::f32) noexcept { return canon::close(a, b, dtype); }

    /// From here on results of ops on one or two operands are kept for a while: for one who asks for the same often.
    void keep_results() { results_.resize(results_kept); }

    // arithmetic.cpp
    Scaled multiply(const Scaled& a, const Scaled& b);
    Scaled power(const Scaled& base, double exponent);
    Scaled add(std::span<const Scaled> terms, DType dtype);
    Scaled add(std::initializer_list<Scaled> terms, DType dtype) {
        return add(std::span(terms.begin(), terms.size()), dtype);
    }

private:
    /// What a list holds: the powers of a product or the terms of a sum.
    enum class Entries { powers, terms };
    /// A sum of integers: iota and its like with whole coefficients, and a Dim.
    struct Affine {
        std::vector<Scaled> terms;
        Dim offset = 0;
    };
    /// A reshape, a transpose, a slice or a gather; what it points at is kept by the terms.
    struct Move {
        ir::Op op;
        const Shape* shape;  ///< of the result, without leading axes of size 1
        const Shape* order;  ///< of a transpose: negative axes, the shortest that tells; of a slice: axis (negative),
                             ///< start and step; of a gather: axis (negative); else empty
        Scaled ids = {};     ///< of a gather
        friend bool operator==(const Move&, const Move&) = default;
    };
    struct Moved {
        CanonId core;
        Move move;
        Scaled result;
    };
    /// where(condition, seen, hidden), or with the last two swapped.
    struct Masking {
        Scaled condition, seen, hidden;
        bool seen_first;
    };
    /// A term that a move goes through, and what it does to each part.
    struct Passage {
        CanonId core;
        Move move;
        std::vector<Move> parts;
    };

    /// The form of an op on operands, of this dtype.
    using Formula = Scaled (*)(Canon& canon, DType dtype, std::span<const Scaled> operands);
    /// What an op made of operands that it needs nothing beside.
    struct Result {
        ir::Op op = ir::Op::constant;
        std::size_t count = 0;
        Scaled operands[2], result;
    };

    // canon.cpp
    Scaled made_of(const ir::Node& node, ir::NodeId id, std::span<const Scaled> operands);
    CanonId one(DType dtype);
    CanonId op_term(ir::Op op, DType dtype, const Shape* shape, std::span<const Scaled> parts,
                    const Attributes* attributes = nullptr);
    CanonId op_term(ir::Op op, DType dtype, const Shape* shape, std::initializer_list<Scaled> parts,
                    const Attributes* attributes = nullptr) {
        return op_term(op, dtype, shape, std::span(parts.begin(), parts.size()), attributes);
    }
    const Shape* trimmed_shape(const Shape& shape);
    Scaled of_leaf(const ir::Node& node, ir::NodeId id);
    Scaled constant(const ir::Node& node);
    const Shape* joint_shape(std::span<const Scaled> parts);
    const Shape* joint_shape(std::initializer_list<Scaled> parts) {
        return joint_shape(std::span(parts.begin(), parts.size()));
    }
    /// An elementwise op, of whatever dtype.
    Scaled apply(ir::Op op, DType dtype, const Attributes& attributes, std::span<const Scaled> operands);
    Scaled real(ir::Op op, DType dtype, const Attributes& attributes, std::span<const Scaled> operands);
    Scaled with_factor_outside(const ir::Node& node, std::span<const Scaled> operands);
    Scaled concat(DType dtype, const Shape* shape, const Attributes& attributes, std::vector<Scaled> parts);
    Scaled of_whole(const ir::Node& node, std::span<const Scaled> operands);
    Scaled largest(const Attributes& attributes, const Shape* shape, const Scaled& x);

    // arithmetic.cpp
    std::span<const Scaled> powers_of(CanonId core) const;
    CanonId product(std::span<Scaled> powers, DType dtype);
    void expand(const Scaled& term, std::vector<Scaled>& out);
    std::vector<Scaled> common_powers(std::span<const Scaled> terms) const;
    void join_numbers(std::vector<Scaled>& terms, bool are_factors, DType dtype);
    bool hides(const Scaled& value) const;
    bool is_lowest(const Scaled& value) const;
    bool is_score(const Scaled& value) const;
    std::optional<Masking> masking(const Scaled& value) const;
    Scaled masked(const Masking& by, const Scaled& seen, DType dtype);
    std::optional<Scaled> additive_mask(std::span<const Scaled> terms, DType dtype);
    std::optional<Scaled> beneath_mask(std::span<const Scaled> terms, DType dtype);
    Scaled opaque(ir::Op op, DType dtype, std::span<const Scaled> parts);

    // exponential.cpp
    bool is_op(CanonId core, ir::Op op) const;
    bool is_exponential(CanonId core) const;
    Scaled exponential(const Scaled& x, DType dtype);
    Scaled logarithm(const Scaled& x, DType dtype);
    bool is_falling(CanonId core) const;
    std::optional<Scaled> logistic_sum(const Scaled& first, const Scaled& second, DType dtype);
    bool shifts(const Scaled& shift, CanonId sum, DType dtype);
    std::optional<Scaled> shift_in(const Scaled& entry, Entries entries) const;
    std::optional<CanonId> total_in(const Scaled& entry, Entries entries) const;
    void drop_shifts(std::vector<Scaled>& list, Entries entries, DType dtype);
    void drop_logistic(std::vector<Scaled>& powers);

    // contraction.cpp
    Scaled take_constant_along(std::span<const Dim> axes, Scaled& value);
    Scaled summed(const Attributes& attributes, Scaled x);
    bool is_bound(CanonId core);
    bool is_bound_row(CanonId core);
    void give_bound_factors(Scaled& a, Scaled& b);
    std::optional<Scaled> with_bound_rows_apart(const Scaled& a, const Scaled& b);
    std::optional<Scaled> parts_multiplied(const Scaled& a, const Scaled& b);
    Scaled multiply_matrices(Scaled a, Scaled b);
    Scaled multiply_two(Scaled a, Scaled b);
    std::optional<Scaled> multiplied_out(const Scaled& a, const Scaled& b);
    std::vector<Scaled> terms_beside(const Scaled& x, std::size_t back);
    std::vector<Scaled> chain_of(const Scaled& x) const;
    Scaled in_a_row(Scaled a, Scaled b);
    Scaled product_of_matrices(Scaled a, Scaled b);

    // logic.cpp
    Scaled larger(Scaled a, Scaled b, DType dtype);
    Scaled compare(ir::Op op, const Scaled& a, const Scaled& b);
    Scaled compare_integers(const Scaled& low, const Scaled& high);
    Scaled both(std::vector<Scaled> parts);
    Scaled choose(Scaled condition, Scaled a, Scaled b, DType dtype);
    std::optional<Scaled> choose_by_comparison(const Scaled& condition, const Scaled& a, const Scaled& b, DType dtype);
    bool is_constant(const Scaled& value, double number) const;

    // integer.cpp
    Scaled integer(ir::Op op, DType dtype, const Attributes& attributes, std::span<const Scaled> operands);
    Scaled counting(const ir::Node& iota);
    Affine affine(const Scaled& value) const;
    Scaled from_affine(Affine sum, DType dtype);
    static void add_scaled(Affine& sum, const Affine& other, std::int64_t factor);
    const Term* iota_under(CanonId core) const;
    bool is_counting(const Affine& sum) const;
    bool is_narrow(const Affine& sum) const;
    CanonId recounted(CanonId core, DType dtype);
    std::optional<Affine> counted_in(DType dtype, const Scaled& value);
    std::optional<Scaled> compare_positions(const Scaled& low, const Scaled& high);
    std::optional<Scaled> compare_difference(Affine minuend, const Affine& subtrahend);

    // movement.cpp
    Scaled move(const ir::Node& node, const Scaled& x);
    Scaled moved(CanonId core, const Move& move);
    bool stays(CanonId core, const Move& move) const;
    std::optional<Scaled> known_move(CanonId core, const Move& move) const;
    Scaled remember(CanonId core, const Move& move, const Scaled& result);
    std::optional<std::vector<Passage>> inside(CanonId core, const Move& move);
    Scaled moved_inside(const Passage& passage);
    Scaled moved_whole(CanonId core, const Move& move);

    // passage.cpp
    std::vector<Move> passing(const Term& term, const Move& move);
    std::vector<Move> into_product(const Term& term, const Move& move);
    std::vector<Move> into_ids(const Term& term, const Move& move);
    std::vector<Move> beside_axes(const Term& term, const Move& move);
    std::vector<Move> past_repeats(const Term& term, const Move& move);
    Move composed(const Term& first, const Move& second);
    Move plainest(CanonId core, const Move& move) const;
    Move staying(const Scaled& part) const;
    Scaled around(const Term& term, const Move& move, std::vector<Scaled> parts);

    // slicing.cpp
    std::optional<Move> slice_of(const ir::Node& node, const Scaled& x);
    std::optional<Move> cut(const Scaled& part, const Dim& axis, const Dim& whole, const Move& slice);
    std::vector<Move> cutting(const Term& term, const Move& slice);
    std::vector<Move> cutting_each(const Term& term, const Move& slice);
    std::vector<Move> cutting_product(const Term& term, const Move& slice);
    std::optional<std::pair<std::size_t, Dim>> part_within(const Term& concat, const Move& slice) const;
    std::vector<Move> cutting_concat(const Term& term, const Move& slice);
    Scaled concat_of_cut(const Term& term, const Move& slice, std::vector<Scaled> parts);
    std::vector<Move> cutting_moved(const Term& term, const Move& slice);
    static bool is_cut(const Term& term);

    // gathering.cpp
    std::optional<Move> gather_of(const ir::Node& node, const Scaled& table, const Scaled& ids);
    std::vector<Move> gathering(const Term& term, const Move& gather);

    Laws laws_;
    Terms terms_;
    std::vector<Moved> moved_;
    types::Index moved_index_;
    std::vector<bool> bound_;  // of each term, as far as asked: parts are older
    static constexpr std::size_t results_kept = 1024;
    std::vector<Result> results_;  // each where its hash says, until another comes there
};

/// Parts of a sum, a product or a conjunction that are flattened into a larger one. More stay whole: the residual
/// stream of a transformer would otherwise be one sum over all layers.
constexpr std::size_t most_parts = 8;

/// The size `back` places before the last; 1 where the shape has no such axis.
Dim from_end(const Shape& shape, std::size_t back);
/// True for what computes each element apart.
bool is_elementwise(const Term& term);
/// True for a product of float matrices.
bool is_product(const Term& term);
/// A shape without its leading axes of size 1.
Shape trimmed(const Shape& shape);
/// The trimmed shape of what is transposed; `order` is the shortest permutation in negative axes.
Shape permuted(Shape shape, const std::vector<Dim>& order);
/// The permutation that two make one after the other, the shortest that tells; empty where nothing moves.
std::vector<Dim> composed_order(const std::vector<Dim>& first, const std::vector<Dim>& second);

}  // namespace cairn::inline v0::canon
