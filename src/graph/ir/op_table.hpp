#pragma once

#include "graph/ir/graph_data.hpp"
#include "graph/ir/op_list.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

/// The rows of op_list.hpp: all that stages need to know about an op without testing which it is.
///
///     info(Op::pad).attributes            // axis before after value
///     info(Op::exp).has(OpTrait::nonnegative)
///     find_op("matmul")                   // Op::matmul
namespace cairn::ir {

enum class OpClass : std::uint8_t {
    leaf,         ///< input, weight, constant, state_read, iota
    elementwise,  ///< out[i] = f(in[i], ...), operands broadcast
    reduction,    ///< sum, max_reduce, prod: attribute `axes` (negative); argmax: `axis`; axes kept with size 1
    contraction,  ///< matmul
    movement,     ///< reshape, transpose, broadcast, slice, window: the same elements at other positions, a view
                  ///< if strides allow
    indexing,     ///< pad, concat, gather, scatter, take_along_axis, bitcast: need a kernel
    scan,         ///< cumsum, argsort: along `axis`, a result of the same shape
    transfer,     ///< copy_to
    effect,       ///< state_append, state_write
};

/// Set of the dtypes of the values that an op computes with.
enum class DTypeSet : std::uint8_t {
    any,
    floats,    ///< f64 f32 f16 bf16
    numbers,   ///< all but boolean
    booleans,  ///< boolean only
    integers,  ///< i64 i32 i8 u8
};
constexpr bool has_floats(DTypeSet set) noexcept { return set != DTypeSet::booleans && set != DTypeSet::integers; }
constexpr bool has_integers(DTypeSet set) noexcept { return set != DTypeSet::booleans && set != DTypeSet::floats; }

/// Cost of computing one element, apart from loads and stores: decides whether recomputation beats storing a value.
enum class ElementCost : std::uint8_t {
    unspecified,  ///< not an elementwise op
    cheap,        ///< a few cycles
    heavy,        ///< a division, a root, a polynomial
};

/// Treatment of an op in equivalent expressions of one function: transparent ops are rewritten (sums, products, roots,
/// movement), opaque ops occur in all of them.
enum class Normalization : std::uint8_t { transparent, opaque };

/// Properties of an op that hold for all operands; x is the first of them.
enum class OpTrait : std::uint16_t {
    none = 0,
    commutes = 1,      ///< f(a, b) = f(b, a)
    compares = 2,      ///< the result is boolean, of operands of any dtype the op accepts
    odd = 4,           ///< f(-x) = -f(x), of floats
    even = 8,          ///< f(-x) = f(x), of floats
    linear = 16,       ///< f(c x) = c f(x), of floats, up to rounding
    nonnegative = 32,  ///< no result is below zero or -0 (NaN is possible)
    keeps_sign = 64,   ///< nonnegative if all elements of all operands are
    wraps = 128,       ///< integer results are reduced modulo 2^bits, which changes signs
};
constexpr OpTrait operator|(OpTrait a, OpTrait b) noexcept {
    return static_cast<OpTrait>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// Up to four attribute names.
class AttributeNames {
public:
    template <typename... Text>
    constexpr AttributeNames(Text... names) noexcept : list_{std::string_view(names)...}, count_(sizeof...(names)) {}
    constexpr const std::string_view* begin() const noexcept { return list_.data(); }
    constexpr const std::string_view* end() const noexcept { return list_.data() + count_; }

private:
    std::array<std::string_view, 4> list_;
    std::size_t count_;
};

struct OpInfo {
    Op op;
    std::string_view name;  ///< in text forms, Problems and errors
    OpClass kind;
    int min_operands, max_operands;  ///< max -1: any number
    std::string_view operands;       ///< their names in errors, `condition a b`; `#` for any number
    DTypeSet accepts;
    ElementCost work;
    Normalization form;
    OpTrait traits;
    AttributeNames attributes;  ///< in order
    constexpr bool has(OpTrait fact) const noexcept {
        return (static_cast<unsigned>(traits) & static_cast<unsigned>(fact)) != 0;
    }
};

inline constexpr std::array op_rows = [] {
    using enum OpClass;
    using enum DTypeSet;
    using enum ElementCost;
    using enum Normalization;
    using enum OpTrait;
#define CAIRN_UNARY_ROW(name, accepts, work, form, traits) \
    OpInfo{Op::name, #name, elementwise, 1, 1, "x", accepts, work, form, traits, {}},
#define CAIRN_BINARY_ROW(name, accepts, work, form, traits) \
    OpInfo{Op::name, #name, elementwise, 2, 2, "lhs rhs", accepts, work, form, traits, {}},
#define CAIRN_OTHER_ROW(name, kind, least, most, operands, accepts, work, form, traits, ...) \
    OpInfo{Op::name, #name, kind, least, most, operands, accepts, work, form, traits, {__VA_ARGS__}},
    return std::array{CAIRN_UNARY_OPS(CAIRN_UNARY_ROW) CAIRN_BINARY_OPS(CAIRN_BINARY_ROW)
                          CAIRN_OTHER_OPS(CAIRN_OTHER_ROW)};
#undef CAIRN_UNARY_ROW
#undef CAIRN_BINARY_ROW
#undef CAIRN_OTHER_ROW
}();

/// The row of an op; all rows in the order of Op.
constexpr const OpInfo& info(Op op) noexcept { return op_rows[static_cast<std::size_t>(op)]; }
constexpr std::span<const OpInfo> op_table() noexcept { return op_rows; }
/// The op of that name; empty if unknown.
std::optional<Op> find_op(std::string_view name) noexcept;
inline bool is(const Node& node, OpClass kind) noexcept { return info(node.op).kind == kind; }
/// True if the value is given to a run and need not be computed: inputs, weights, constants, states before the run. (An
/// iota is a leaf too, but a kernel has to write it.)
inline bool is_given(const Node& node) noexcept { return is(node, OpClass::leaf) && node.op != Op::iota; }

/// The ops of a class, in the order of Op: `ops_of<OpClass::scan>` is {cumsum, argsort}.
template <OpClass kind>
inline constexpr auto ops_of = [] {
    constexpr auto is_one = [](const OpInfo& row) { return row.kind == kind; };
    std::array<Op, static_cast<std::size_t>(std::ranges::count_if(op_rows, is_one))> found{};
    std::size_t count = 0;
    for (const OpInfo& row : op_rows)
        if (is_one(row)) found[count++] = row.op;
    return found;
}();

/// An entry of a stage's table of ops: how the stage treats the op.
template <typename T>
struct OpMapEntry {
    Op op;
    T value;
};
/// The entry of an op; null if there is none.
template <typename T, std::size_t N>
constexpr const T* find_op_entry(const std::array<OpMapEntry<T>, N>& entries, Op op) noexcept {
    for (const OpMapEntry<T>& entry : entries)
        if (entry.op == op) return &entry.value;
    return nullptr;
}
/// The same for tables that have an entry for every op that can occur. Throws InternalError(part) for another.
template <typename T, std::size_t N>
const T& op_entry(const std::array<OpMapEntry<T>, N>& entries, Op op, std::string_view part) {
    if (const T* found = find_op_entry(entries, op)) return *found;
    throw InternalError(part, "has no row for the op " + std::string(info(op).name));
}

}  // namespace cairn::ir
