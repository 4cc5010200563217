#pragma once

#include "ir/graph_data.hpp"

#include <span>
#include <string_view>

/// One row an op: all that stages need to know about it without knowing which op it is.
///
///     info(Op::pad).attributes      // axis before after value
///     find_op("matmul")             // Op::matmul
namespace cairn::inline v0::ir {

enum class OpClass : std::uint8_t {
    leaf,         ///< input, weight, constant, state_read, iota
    elementwise,  ///< out[i] = f(in[i], ...), operands broadcast
    reduction,    ///< sum, max_reduce, prod: attribute `axes` (negative); argmax: `axis`; axes kept with size 1
    contraction,  ///< matmul
    movement,     ///< reshape, transpose, broadcast, slice, window: the same elements elsewhere, a view where strides
                  ///< allow
    indexing,     ///< pad, concat, gather, scatter, take_along_axis: need a kernel
    scan,         ///< cumsum, argsort: along `axis`, a result of the same shape
    transfer,     ///< copy_to
    effect,       ///< state_append, state_write
};

/// Which dtypes the values an op computes with may have.
enum class Accepts : std::uint8_t {
    any,
    floats,    ///< f64 f32 f16 bf16
    numbers,   ///< all but boolean
    booleans,  ///< boolean only
};

/// What computing an element costs beside reading and writing it: whether it is worth doing again to spare a value.
enum class Work : std::uint8_t {
    unsaid,  ///< no elementwise op
    cheap,   ///< a few cycles
    heavy,   ///< a division, a root, a polynomial
};

/// How spellings of one function treat an op: what is open to them is rewritten (sums, products, roots, movement), what
/// stays whole stands in all of them.
enum class Form : std::uint8_t { open, whole };

struct OpInfo {
    Op op;
    std::string_view name;  ///< in text forms, Problems and errors
    OpClass kind;
    int min_operands, max_operands;  ///< max -1: any number
    std::string_view operands;       ///< their names in errors, `condition a b`; `#` where there is any number
    Work work;
    Form form;
    Accepts accepts = Accepts::any;
    bool commutative = false;
    std::span<const std::string_view> attributes{};  ///< names, in order
};

/// The row of an op; all rows in the order of Op.
const OpInfo& info(Op op) noexcept;
std::span<const OpInfo> op_table() noexcept;
/// The op of that name; nothing when unknown.
std::optional<Op> find_op(std::string_view name) noexcept;
inline bool is(const Node& node, OpClass kind) noexcept { return info(node.op).kind == kind; }
/// Whether a run is given the value and nothing has to compute it: inputs, weights, constants, states before the run.
/// (An iota is a leaf too, but someone must write it.)
inline bool is_given(const Node& node) noexcept { return is(node, OpClass::leaf) && node.op != Op::iota; }

}  // namespace cairn::inline v0::ir
