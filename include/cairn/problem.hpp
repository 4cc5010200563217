#pragma once

#include "cairn/types.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cairn::inline v0 {

/// A named parameter of an op or composite: a number (`eps=1e-05`) or a list of sizes, axes or indices (`axes=(-1)`,
/// `start=(N)`).
struct Attribute {
    std::string name;                              ///< as declared by the op
    std::variant<double, std::vector<Dim>> value;  ///< a number, or a list
    friend bool operator==(const Attribute&, const Attribute&) = default;
};

/// The attributes of an op, in the order in which the op declares them.
class CAIRN_API Attributes : public std::vector<Attribute> {
public:
    using std::vector<Attribute>::vector;
    /// The number of that name; throws Error(argument) if there is none.
    double number(std::string_view name) const;
    /// The list of that name; throws Error(argument) if there is none.
    const std::vector<Dim>& dims(std::string_view name) const;
    /// The single constant integer of that name (an axis, a flag); throws Error(argument) if there is none.
    std::int64_t integer(std::string_view name) const;
    /// True if there is an attribute of that name.
    bool has(std::string_view name) const noexcept;
};

/// Type and memory layout of an operand or result of a Problem.
struct TensorDesc {
    DType dtype = DType::f32;  ///< of the elements
    Shape shape;               ///< sizes, outermost first
    std::vector<Dim> strides;  ///< in elements, one for each axis; 0: broadcast; negative strides are not allowed
    std::string layout;        ///< empty: plain memory with `strides`; otherwise the name of a Layout (`panel32`), and
                               ///< `strides` are unused and dense
    bool bound = false;        ///< depends on weights only, so it may be packed once when weights are bound
    friend bool operator==(const TensorDesc&, const TensorDesc&) = default;

    /// A dense row-major tensor.
    CAIRN_API static TensorDesc dense(DType dtype, Shape shape);
    /// True for plain memory with dense strides (axes of size 1 may have any stride).
    CAIRN_API bool is_dense() const;
};

/// One step of a body: `op` applied to earlier values. Values are numbered: inputs 0..n-1, then the steps.
struct Step {
    std::string op;  ///< an elementwise atomic op (`mul`, `tanh`, `where`, `cast`), a Definition with FusionRole::step
                     ///< (`gelu`), `const`, or the anchor of a `fused` body: `matmul` or a Definition (`conv2d`)
    std::vector<int> operands;  ///< value numbers
    DType dtype = DType::f32;   ///< of the result
    double number = 0;          ///< the value of a `const`
    friend bool operator==(const Step&, const Step&) = default;
};

/// A unit of work, as seen by kernels, the timing database and explain(): what is computed (an atomic op or a
/// Definition, and its attributes) on which dtypes, shapes and memory layouts. The text form is its identity:
///
///     layer_norm eps=1e-05 | f32[B,T,768] f32[768]! f32[768]! -> f32[B,T,768] where B in 1..8, T in 2..12
///     elementwise {2=add(0,1):f32 3=tanh(2):f32} | f32[T,768] f32[T,768]:(0,1)! -> f32[T,768] results (3)
///       where T in 1..12
///     matmul | f32[T,768]:(2304,1) f32[768,768]@panel32! -> f32[T,768] where T in 13..1024
///     fused {3=matmul(0,1):f32 4=add(3,2):f32 5=gelu(4):f32} | f32[T,64] f32[64,96]@panel32! f32[T,96]:(0,1)! ->
///       f32[T,96] results (5) where T in 1..12
///     fused {2=conv2d(0,1):f32 3=relu(2):f32} | f32[1,3,8,8,3,3]:(300,100,10,1,10,1) f32[4,3,3,3]! ->
///       f32[1,4,8,8] results (3)
///     fused columns=(0,32) {2=matmul(0,1):f32} | f32[T,64] f32[64,96]@panel32! -> f32[T,96]
///       f32[T,4,16]:(16,256,1) results (2,2) where T in 1..12
///
/// After a tensor, `:(...)` gives strides that are not dense, `@name` a packed layout, and `!` marks it as bound.
/// Shapes are those that the op or Definition takes, with two conventions that save kernels the broadcasting rules: in
/// `elementwise` and the elementwise atomic ops all inputs have the shape of the outputs, and in `matmul` both inputs
/// have the batch axes of the output; broadcast axes have stride 0. A packed input keeps the shape of the matrix that
/// was packed. `fused` is a product with an elementwise epilogue: its first step, the anchor, is a matmul of inputs 0
/// and 1, which are as in `matmul` and are read by no other step; everything else is as in `elementwise`. A Definition
/// with FusionRole::anchor may replace the matmul; the attributes are then its own. With the attribute `columns` of a
/// matmul each output holds some columns of its value, from the given first column on: it has the leading axes of the
/// product, followed by one or more axes whose sizes multiply to the number of columns.
struct Problem {
    std::string definition;                   ///< an atomic op, a Definition, `elementwise`, `fused`, `copy` or `pack`
    Attributes attributes;                    ///< in the order the definition declares them
    std::vector<Step> body;                   ///< of `elementwise` and `fused`
    std::vector<int> results;                 ///< of these two: the value number of each output
    std::vector<TensorDesc> inputs, outputs;  ///< in the order of the definition
    friend bool operator==(const Problem&, const Problem&) = default;
};

/// The text form. Equal Problems have equal texts; numbers print with all their digits.
CAIRN_API std::string to_string(const Problem& problem);
CAIRN_API std::string to_string(const TensorDesc& tensor);
/// The inverse of to_string. Adds symbols to `symbols`; one without a `where` range gets 1..1048576. `eps=?` is allowed
/// where a Definition leaves the number free, which is then NaN. Throws Error(argument) with the position of the fault.
CAIRN_API Problem parse_problem(std::string_view text, Symbols& symbols);
/// Parses the output of to_string(TensorDesc). Throws Error(argument) with the position of the fault.
CAIRN_API TensorDesc parse_tensor_desc(std::string_view text, Symbols& symbols);
/// The Problem with every symbol replaced by its value, in the order of Symbols::list() of its table.
CAIRN_API Problem at_sizes(const Problem& problem, std::span<const std::int64_t> symbol_values);
/// The two parts of a `fused` Problem: the anchor, a `matmul` or a Definition on the first two inputs, and an
/// `elementwise` Problem that takes the dense product as input 0, followed by the other inputs.
struct FusedParts {
    Problem product;   ///< `matmul` or a Definition, with a dense result
    Problem epilogue;  ///< `elementwise`; with the attribute `columns` if the `fused` Problem has it
};
/// Splits a `fused` Problem; empty if the Problem is not well formed.
CAIRN_API std::optional<FusedParts> parts_of_fused(const Problem& problem);
/// The table of the Problem's symbols; null if all sizes are constant.
CAIRN_API std::shared_ptr<Symbols> symbols_of(const Problem& problem);

/// A 128-bit content hash, the same on every platform.
struct Digest {
    std::uint64_t high = 0, low = 0;  ///< the two halves
    friend bool operator==(const Digest&, const Digest&) = default;
    friend auto operator<=>(const Digest&, const Digest&) = default;
};
/// The digest of a text (for example the text form of a Problem or Program).
CAIRN_API Digest digest(std::string_view text) noexcept;
/// Formats 32 hexadecimal digits.
CAIRN_API std::string to_string(const Digest& digest);

}  // namespace cairn::inline v0
