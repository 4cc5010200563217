#pragma once

#include "graph/ir/op_table.hpp"
#include "rewrite/normal_form/laws.hpp"
#include "rewrite/normal_form/terms.hpp"

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

/// The identities that the normalizer applies: one row each, with the function that applies it. A row's function is
/// called at one place of the construction of forms, given by the type of Identity::applied; without the row the
/// identity is not used. docs/laws.md is printed from the rows.
namespace cairn::normal_form {

/// Builds forms (normalizer.hpp).
class Normalizer;

/// A set of ops.
///
///     OpSet{ir::Op::add, ir::Op::sub}.has(ir::Op::sub)     true
class OpSet {
public:
    constexpr OpSet() = default;
    constexpr OpSet(std::initializer_list<ir::Op> ops) {
        for (const ir::Op op : ops) bits_ |= bit(op);
    }
    /// The ops that have a trait.
    static constexpr OpSet with(ir::OpTrait trait) {
        OpSet set;
        for (const ir::OpInfo& row : ir::op_rows)
            if (row.has(trait)) set.bits_ |= bit(row.op);
        return set;
    }
    constexpr OpSet without(OpSet other) const {
        OpSet set;
        set.bits_ = bits_ & ~other.bits_;
        return set;
    }
    constexpr bool has(ir::Op op) const noexcept { return (bits_ & bit(op)) != 0; }

private:
    static_assert(ir::op_rows.size() <= 64);
    static constexpr std::uint64_t bit(ir::Op op) { return std::uint64_t{1} << static_cast<unsigned>(op); }
    std::uint64_t bits_ = 0;
};

/// The dtypes for which an identity of an op holds: of the result, for comparisons of the operands.
enum class DTypeClass : std::uint8_t { floats = 1, integers = 2, booleans = 4, all = 7 };
constexpr DTypeClass operator|(DTypeClass a, DTypeClass b) noexcept {
    return static_cast<DTypeClass>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// An op whose form is wanted, with the forms of its operands.
struct Operation {
    ir::Op op;
    DType dtype;                           ///< of the result
    std::span<const ScaledTerm> operands;  ///< at least one, except of iota
    const Attributes* attributes = nullptr;
    const Shape* shape =
        nullptr;  ///< without leading axes of size 1, from Terms::keep(); null: follows from the operands
};

/// A sum under construction: scale * (product of the powers `common`) * (sum of `terms`).
struct Sum {
    std::span<const ScaledTerm> given;  ///< the summands before any identity was applied
    DType dtype;
    std::vector<ScaledTerm> terms;
    std::vector<ScaledTerm> common = {};
    double scale = 1;
};

/// A product under construction.
struct Product {
    DType dtype;
    std::vector<ScaledTerm> powers;
    std::size_t joined;  ///< of the first `joined` powers no two are like factors
};

/// A movement op: reshape, transpose, slice or gather. Its pointers refer to storage of the terms.
struct Move {
    ir::Op op;
    const Shape* shape;   ///< of the result, without leading axes of size 1
    const Shape* order;   ///< of a transpose: the permutation without unchanged leading axes, as negative axes; of a
                          ///< slice: axis (negative), start and step; of a gather: axis (negative); else empty
    ScaledTerm ids = {};  ///< of a gather
    friend bool operator==(const Move&, const Move&) = default;
};

/// Steps of the product of two matrices; each contains the later ones.
enum class MatrixStep : std::uint8_t {
    sums,     ///< an operand may be a sum or a concat of matrices
    chains,   ///< an operand may be a product of matrices
    factors,  ///< what is left: one product
};

/// Tried on an op; the result is the form of the op.
struct OfOperation {
    OpSet ops;
    DTypeClass dtypes;
    std::optional<ScaledTerm> (*apply)(Normalizer& normalizer, const Operation& operation);
};
/// Tried on each summand; appends the terms that replace it, or returns false.
struct OfSummand {
    bool (*apply)(Normalizer& normalizer, const ScaledTerm& summand, std::vector<ScaledTerm>& out);
};
/// Applied to each sum, in the order of the rows; changes it, or returns its form.
struct OfSum {
    std::optional<ScaledTerm> (*apply)(Normalizer& normalizer, Sum& sum);
};
/// Applied to each product, in the order of the rows.
struct OfProduct {
    void (*apply)(Normalizer& normalizer, Product& product);
};
/// Tried on core ^ exponent; appends the powers that replace it, or returns false.
struct OfPower {
    bool (*apply)(Normalizer& normalizer, TermId core, double exponent, std::vector<ScaledTerm>& out);
};
/// Tried on a product of float matrices, at one step; may change the operands, or returns the form of the product.
struct OfMatrices {
    MatrixStep step;
    std::optional<ScaledTerm> (*apply)(Normalizer& normalizer, ScaledTerm& a, ScaledTerm& b);
};
/// Tried on a move of a term; returns a simpler move of it.
struct OfMove {
    ir::Op move;
    std::optional<Move> (*apply)(Normalizer& normalizer, const Term& term, const Move& move);
};
/// Tried on a move of a term that is such a move itself; returns both moves as one, of the operand of the first.
struct OfTwoMoves {
    ir::Op move;
    std::optional<Move> (*apply)(Normalizer& normalizer, const Term& term, const Move& move);
};
/// Tried on a move of a term; returns the move of each part of the term, or nothing. The term is rebuilt from the moved
/// parts.
struct Pushdown {
    OpSet moves;
    std::vector<Move> (*apply)(Normalizer& normalizer, const Term& term, const Move& move);
};
/// Holds because both sides are stored as one term; it has no function of its own.
struct ByRepresentation {};

/// One identity. An identity that is applied at several places has one row for each, all with the same name.
///
///     {"distribute", "a * (b + c) -> a * b + a * c", "up to 8 terms", {Law::distributed}, OfSummand{distribute}}
struct Identity {
    std::string_view name;
    std::string_view law;    ///< "left -> right": the right side is the form
    std::string_view where;  ///< conditions on dtypes and sizes; empty: everywhere
    Laws laws;               ///< the laws it needs: without them the row is not used
    std::variant<OfOperation, OfSummand, OfSum, OfProduct, OfPower, OfMatrices, OfMove, OfTwoMoves, Pushdown,
                 ByRepresentation>
        applied;
};

/// All identities, in the order in which they are tried.
std::span<const Identity> all_identities();

/// A list of up to `N` functions.
template <typename T, std::size_t N>
class FunctionList {
public:
    constexpr void add(T function) { items_.at(count_++) = function; }
    constexpr const T* begin() const noexcept { return items_.data(); }
    constexpr const T* end() const noexcept { return items_.data() + count_; }

private:
    std::array<T, N> items_{};
    std::size_t count_ = 0;
};

/// The functions of the rows that some laws admit, by the place where they are applied.
class IdentityTable {
public:
    /// The rows whose laws hold under `laws`.
    constexpr IdentityTable(std::span<const Identity> rows, Laws laws) : laws_(laws) {
        for (const ir::OpInfo& op : ir::op_rows)
            for (std::size_t of_dtype = 0; of_dtype < classes; ++of_dtype) {
                for (const Identity& row : rows)
                    if (row.laws.holds_under(laws)) add_to_cell(row, op.op, of_dtype);
                begins_[static_cast<std::size_t>(op.op) * classes + of_dtype + 1] = count_;
            }
        for (const Identity& row : rows)
            if (row.laws.holds_under(laws)) add(row);
    }
    /// The table of all_identities().
    static const IdentityTable& under(Laws laws);

    constexpr Laws laws() const noexcept { return laws_; }
    /// The functions for an op whose dtype (for comparisons, that of the operands) is `dtype`.
    std::span<const decltype(OfOperation::apply)> of(ir::Op op, DType dtype) const {
        const std::size_t of_dtype = is_float(dtype) ? 0 : dtype == DType::boolean ? 2 : 1;
        const std::size_t at = static_cast<std::size_t>(op) * classes + of_dtype;
        return {operations_.data() + begins_[at], operations_.data() + begins_[at + 1]};
    }
    const auto& of_summands() const noexcept { return summands_; }
    const auto& of_sums() const noexcept { return sums_; }
    const auto& of_products() const noexcept { return products_; }
    const auto& of_powers() const noexcept { return powers_; }
    const auto& of_matrices(MatrixStep step) const noexcept { return matrices_[static_cast<std::size_t>(step)]; }
    const auto& of_moves() const noexcept { return moves_; }
    const auto& of_two_moves() const noexcept { return two_moves_; }
    const auto& pushdowns(ir::Op move) const noexcept { return pushdowns_[index_of(move)]; }

private:
    static constexpr std::size_t classes = 3, most = 16;

    static constexpr std::size_t index_of(ir::Op move) noexcept {
        if (move == ir::Op::reshape) return 0;
        if (move == ir::Op::transpose) return 1;
        return move == ir::Op::slice ? 2 : 3;
    }

    constexpr void add_to_cell(const Identity& row, ir::Op op, std::size_t of_dtype) {
        const auto* of = std::get_if<OfOperation>(&row.applied);
        if (of == nullptr || !of->ops.has(op) || (static_cast<unsigned>(of->dtypes) >> of_dtype) % 2 == 0) return;
        operations_.at(count_++) = of->apply;
    }
    constexpr void add(const Identity& row) {
        if (const auto* of = std::get_if<OfSummand>(&row.applied)) summands_.add(of->apply);
        if (const auto* of = std::get_if<OfSum>(&row.applied)) sums_.add(of->apply);
        if (const auto* of = std::get_if<OfProduct>(&row.applied)) products_.add(of->apply);
        if (const auto* of = std::get_if<OfPower>(&row.applied)) powers_.add(of->apply);
        if (const auto* of = std::get_if<OfMatrices>(&row.applied))
            matrices_[static_cast<std::size_t>(of->step)].add(of->apply);
        if (const auto* of = std::get_if<OfMove>(&row.applied)) moves_.add(*of);
        if (const auto* of = std::get_if<OfTwoMoves>(&row.applied)) two_moves_.add(*of);
        if (const auto* of = std::get_if<Pushdown>(&row.applied))
            for (const ir::Op move : {ir::Op::reshape, ir::Op::transpose, ir::Op::slice, ir::Op::gather})
                if (of->moves.has(move)) pushdowns_[index_of(move)].add(of->apply);
    }

    Laws laws_;
    std::array<decltype(OfOperation::apply), 160> operations_{};
    std::uint16_t count_ = 0;
    std::array<std::uint16_t, ir::op_rows.size() * classes + 1> begins_{};  // index of each cell's first function
    FunctionList<decltype(OfSummand::apply), most> summands_;
    FunctionList<decltype(OfSum::apply), most> sums_;
    FunctionList<decltype(OfProduct::apply), most> products_;
    FunctionList<decltype(OfPower::apply), most> powers_;
    std::array<FunctionList<decltype(OfMatrices::apply), most>, 3> matrices_;
    FunctionList<OfMove, most> moves_;
    FunctionList<OfTwoMoves, most> two_moves_;
    std::array<FunctionList<decltype(Pushdown::apply), most>, 4> pushdowns_;
};

}  // namespace cairn::normal_form
