#pragma once

#include "cairn/graph.hpp"

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Atomic ops: ops with a float64 reference from which all other functions are composed. Rules for all of them:
/// - Operands broadcast as in NumPy: shapes are aligned at the last axis; sizes must be equal, or one of them 1.
/// - Tensors of one op have one dtype (no promotion; `cast` is explicit). A scalar takes the dtype of the op's tensors:
///   a float dtype rounds it, an integer or boolean dtype rejects a scalar that it cannot represent (`x + 0.5` with x
///   i32).
/// - Axes may be negative, counting from the end. Axes, shapes and bounds are attributes, never tensors.
/// - Throws Error(graph) with op, operand dtypes and shapes, and the caller's line, if shapes or dtypes do not fit, an
///   axis is out of range, operands belong to different graphs, or a handle is empty.
/// - `using namespace std` may be combined with `using namespace cairn`; a name that is also a class of the standard
///   library (`slice`, and `any`, `stack` of composites.hpp) then needs its `cairn::`.
/// - Nothing is computed at the call. Integers wrap around; i/0 is 0. Floating point follows IEEE 754.
namespace cairn::inline v0 {

/// A list of integers, or a single one: the axes of `sum(x, 1)` and `sum(x, {0, -1})`.
class IntList {
public:
    IntList() noexcept = default;
    template <std::integral T>  ///< a single integer
    requires(!std::same_as<T, bool> && sizeof(T) <= sizeof(int)) IntList(T value) : values_{static_cast<int>(value)} {}
    IntList(std::initializer_list<int> values) : values_(values) {}
    IntList(std::vector<int> values) noexcept : values_(std::move(values)) {}
    /// All entries, in order.
    const std::vector<int>& values() const noexcept { return values_; }

private:
    std::vector<int> values_;
};

// clang-format off
/// Elementwise, float or (neg, abs) integer; the result has the operand's dtype and shape.
/// neg: -x. abs: |x|. exp: e^x. log: natural logarithm. sqrt. rsqrt: 1/sqrt(x). sin, cos in radians. tanh.
/// erf: 2/sqrt(pi) int_0^x e^(-t^2) dt. floor.
CAIRN_API Tensor neg(const Operand& x);
CAIRN_API Tensor abs(const Operand& x);
CAIRN_API Tensor exp(const Operand& x);
CAIRN_API Tensor log(const Operand& x);
CAIRN_API Tensor sqrt(const Operand& x);
CAIRN_API Tensor rsqrt(const Operand& x);
CAIRN_API Tensor sin(const Operand& x);
CAIRN_API Tensor cos(const Operand& x);
CAIRN_API Tensor tanh(const Operand& x);
CAIRN_API Tensor erf(const Operand& x);
CAIRN_API Tensor floor(const Operand& x);
/// Converts to another dtype: round to nearest even between floats, truncation toward zero and saturation to integers
/// (NaN gives 0), x != 0 to boolean.
CAIRN_API Tensor cast(const Operand& x, DType dtype);

/// Elementwise on two operands: a + b, a - b, a * b, a / b (integers truncate toward zero), minimum, maximum (both NaN
/// if either operand is), a^b. Float or integer; pow float only.
CAIRN_API Tensor add(const Operand& a, const Operand& b);
CAIRN_API Tensor sub(const Operand& a, const Operand& b);
CAIRN_API Tensor mul(const Operand& a, const Operand& b);
CAIRN_API Tensor div(const Operand& a, const Operand& b);
CAIRN_API Tensor min(const Operand& a, const Operand& b);
CAIRN_API Tensor max(const Operand& a, const Operand& b);
CAIRN_API Tensor pow(const Operand& a, const Operand& b);
/// Overloads for two tensors, which take precedence over the templates of namespace std.
CAIRN_API Tensor min(const Tensor& a, const Tensor& b, std::source_location where = std::source_location::current());
CAIRN_API Tensor max(const Tensor& a, const Tensor& b, std::source_location where = std::source_location::current());
CAIRN_API Tensor pow(const Tensor& a, const Tensor& b, std::source_location where = std::source_location::current());

/// Elementwise comparisons; the result is boolean. Comparisons with NaN are false, except `ne`. Only eq and ne take
/// booleans.
CAIRN_API Tensor eq(const Operand& a, const Operand& b);
CAIRN_API Tensor ne(const Operand& a, const Operand& b);
CAIRN_API Tensor lt(const Operand& a, const Operand& b);
CAIRN_API Tensor le(const Operand& a, const Operand& b);
CAIRN_API Tensor gt(const Operand& a, const Operand& b);
CAIRN_API Tensor ge(const Operand& a, const Operand& b);
/// Elementwise logic on booleans.
CAIRN_API Tensor logical_and(const Operand& a, const Operand& b);
CAIRN_API Tensor logical_or(const Operand& a, const Operand& b);
CAIRN_API Tensor logical_xor(const Operand& a, const Operand& b);
CAIRN_API Tensor logical_not(const Operand& a);
/// Elementwise and of the bits of two integers in two's complement, as ONNX BitwiseAnd and NumPy bitwise_and. Integers
/// only; broadcasts.
///
///     bitwise_and(x, 12)    // bits 2 and 3 of x
CAIRN_API Tensor bitwise_and(const Operand& a, const Operand& b);
/// Elementwise selection: a where `condition` (boolean) is true, otherwise b. All three broadcast; a and b have one
/// dtype.
CAIRN_API Tensor where(const Operand& condition, const Operand& a, const Operand& b);
// clang-format on

/// Sum over `axes` (all when empty), which are removed, or kept with size 1 if `keepdims`. Float or integer. The sum
/// over no elements is 0.
CAIRN_API Tensor sum(const Operand& x, const IntList& axes = {}, bool keepdims = false);
/// Product over `axes`; over no elements 1. Float or integer.
CAIRN_API Tensor prod(const Operand& x, const IntList& axes = {}, bool keepdims = false);
/// Maximum over `axes`; NaN if any element is NaN. Over no elements: -inf, or the smallest integer.
CAIRN_API Tensor max_reduce(const Operand& x, const IntList& axes = {}, bool keepdims = false);
/// Index (i32) of the maximum along `axis`, the first one on a tie; NaN counts as largest. The axis must not be empty,
/// nor longer than 2^31 - 1.
CAIRN_API Tensor argmax(const Operand& x, int axis, bool keepdims = false);

/// Cumulative sum along `axis`, in order: out[.., i, ..] = x[.., 0, ..] + ... + x[.., i, ..]. Float or integer; shape
/// and dtype of x.
CAIRN_API Tensor cumsum(const Operand& x, int axis);
/// Indices (i32, shape of x) that sort x along `axis` in ascending or descending order; both are stable: equal elements
/// keep their order. NaN counts as largest. Float or integer; the axis must not be longer than 2^31 - 1. For the values
/// see sort in composites.hpp.
CAIRN_API Tensor argsort(const Operand& x, int axis = -1, bool descending = false);

/// c[..., i, j] = sum_k a[..., i, k] b[..., k, j], accumulated in at least the dtype of the operands. Ranks >= 2;
/// leading axes broadcast.
CAIRN_API Tensor matmul(const Operand& a, const Operand& b);

/// The same elements in row-major order with another shape. One size may be -1; it follows from the others.
CAIRN_API Tensor reshape(const Operand& x, Shape shape);
/// As above, for a computed list of integers.
template <std::integral T>
Tensor reshape(const Operand& x, const std::vector<T>& shape) {
    return reshape(x, Shape(shape.begin(), shape.end()));
}
/// Axis i of the result is axis `permutation[i]` of x.
CAIRN_API Tensor transpose(const Operand& x, std::vector<int> permutation);
/// Repeats axes of size 1 and adds leading axes, up to `shape`.
CAIRN_API Tensor broadcast(const Operand& x, Shape shape);
/// The elements start, start + step, ... below `stop` of an axis. 0 <= start <= stop <= size must be provable; step >=
/// 1.
CAIRN_API Tensor slice(const Operand& x, int axis, const Dim& start, const Dim& stop, std::int64_t step = 1);
/// Adds `before` and `after` elements of value `value` at the ends of an axis.
CAIRN_API Tensor pad(const Operand& x, int axis, const Dim& before, const Dim& after, double value = 0);
/// Concatenates tensors along an axis; all other sizes must be equal.
CAIRN_API Tensor concat(std::span<const Tensor> tensors, int axis,
                        std::source_location where = std::source_location::current());
CAIRN_API Tensor concat(std::initializer_list<Tensor> tensors, int axis,
                        std::source_location where = std::source_location::current());
/// out[a, i, b] = x[a, indices[i], b], where a and b are the axes before and after `axis` and i is all axes of
/// `indices` (i32 or i64). An index outside 0 .. size - 1 makes the run fail with Error(argument).
CAIRN_API Tensor gather(const Operand& x, const Operand& indices, int axis = 0);
/// x with out[a, indices[i], b] = updates[a, i, b] for i in order (of equal indices the last one wins). `indices` has
/// rank 1.
CAIRN_API Tensor scatter(const Operand& x, const Operand& indices, const Operand& updates, int axis = 0);
/// out[.., i, ..] = x[.., indices[.., i, ..], ..]: one index for each element of the result. `indices` (i32 or i64) has
/// the rank of x, and its sizes except along `axis`; the result has the shape of `indices`. An index outside 0 .. size
/// - 1 makes the run fail with Error(argument).
CAIRN_API Tensor take_along_axis(const Operand& x, const Operand& indices, int axis);
/// The bits of x as another dtype, as bitcast-convert of XLA: the same shape for dtypes of one size; a dtype of 1/n of
/// the size adds a last axis of n, the lowest bytes first; one of n times the size takes the place of a last axis of n.
/// Not boolean. Bits of a NaN are those of any NaN.
///
///     bitcast(blocks, DType::f16)      // u8[8,2] -> f16[8]
///     bitcast(x, DType::u8)            // f32[8] -> u8[8,4]
CAIRN_API Tensor bitcast(const Operand& x, DType dtype);
/// start, start + 1, ..., start + length - 1; integers wrap around.
CAIRN_API Tensor iota(const Graph& graph, const Dim& length, DType dtype = DType::i32, const Dim& start = 0,
                      std::source_location where = std::source_location::current());
/// Sliding windows of `size` elements, `dilation` apart, one every `stride` elements of `axis`. That axis becomes the
/// number of windows, and a last axis of `size` is added: out[.., w, .., k] = x[.., w*stride + k*dilation, ..]. Two of
/// them are im2col.
CAIRN_API Tensor window(const Operand& x, int axis, std::int64_t size, std::int64_t stride = 1,
                        std::int64_t dilation = 1);
/// The same values on a device. This is the only explicit placement: compile() chooses the device of all other values,
/// including those computed from these, by cost. Compiling for a device that is not available throws
/// Error(unsupported).
CAIRN_API Tensor copy_to(const Operand& x, Device device);

/// Adds an axis of size 1 before `axis` (a reshape).
CAIRN_API Tensor unsqueeze(const Operand& x, int axis);
/// Swaps two axes (a transpose).
CAIRN_API Tensor swap_axes(const Operand& x, int a, int b);

// clang-format off
/// Operators: a + b is add(a, b), a == b is eq(a, b), !a is logical_not(a), and so on.
inline Tensor operator-(const Operand& x) { return neg(x); }
inline Tensor operator+(const Operand& a, const Operand& b) { return add(a, b); }
inline Tensor operator-(const Operand& a, const Operand& b) { return sub(a, b); }
inline Tensor operator*(const Operand& a, const Operand& b) { return mul(a, b); }
inline Tensor operator/(const Operand& a, const Operand& b) { return div(a, b); }
inline Tensor operator==(const Operand& a, const Operand& b) { return eq(a, b); }
inline Tensor operator!=(const Operand& a, const Operand& b) { return ne(a, b); }
inline Tensor operator<(const Operand& a, const Operand& b) { return lt(a, b); }
inline Tensor operator<=(const Operand& a, const Operand& b) { return le(a, b); }
inline Tensor operator>(const Operand& a, const Operand& b) { return gt(a, b); }
inline Tensor operator>=(const Operand& a, const Operand& b) { return ge(a, b); }
inline Tensor operator&&(const Operand& a, const Operand& b) { return logical_and(a, b); }
inline Tensor operator||(const Operand& a, const Operand& b) { return logical_or(a, b); }
inline Tensor operator!(const Operand& a) { return logical_not(a); }
/// Compound assignment: x = x + y, and so on. The handle gets a new value; the old one stays in the graph.
inline Tensor& operator+=(Tensor& x, const Operand& y) { return x = add(Operand(x, y.where()), y); }
inline Tensor& operator-=(Tensor& x, const Operand& y) { return x = sub(Operand(x, y.where()), y); }
inline Tensor& operator*=(Tensor& x, const Operand& y) { return x = mul(Operand(x, y.where()), y); }
inline Tensor& operator/=(Tensor& x, const Operand& y) { return x = div(Operand(x, y.where()), y); }
// clang-format on

/// Names a value for explain(), profiles, errors and text forms, and returns the tensor. A name changes neither results
/// nor selection nor digests, and survives rewriting as long as the value does.
///
///     Tensor scores = name(matmul(q, k), "scores");
///
/// Equal ops on equal operands are one value, so the last name given to it counts. A name that another value of the
/// graph has gets a number: `scores`, `scores 2`, `scores 3`. Throws Error(graph) for an empty Tensor, and for a name
/// that is empty, longer than 200 bytes, not UTF-8, or contains control characters.
CAIRN_API Tensor name(const Tensor& tensor, std::string_view name,
                      std::source_location where = std::source_location::current());
/// The name of a value; empty: none.
CAIRN_API std::string name_of(const Tensor& tensor);

/// While one exists, new nodes of the operand's graph belong to the composite `name` called at the operand's source
/// line: errors name the composite and the caller's line, not the composite's own. The outermost scope wins. Every
/// composite begins with one.
class CAIRN_API CompositeScope {
public:
    CompositeScope(std::string_view name, const Operand& operand);
    ~CompositeScope();
    CompositeScope(const CompositeScope&) = delete;
    CompositeScope& operator=(const CompositeScope&) = delete;

    /// Throws Error(graph) `[softmax] message (model.cpp:17)`, for checks of the composite itself.
    [[noreturn]] void fail(std::string_view message) const;

private:
    std::shared_ptr<ir::GraphData> graph_;
};

}  // namespace cairn::inline v0
