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

/// The atomic ops: the smallest pieces a graph is made of, each with a float64 reference. Rules for all of them:
/// - Operands broadcast as in NumPy: shapes are aligned at the last axis; sizes must be equal, or one of them 1.
/// - Tensors of one op have one dtype (there is no promotion; `cast` is explicit). A scalar takes the dtype of the
/// tensor beside it: a float
///   dtype rounds it, an integer or boolean one refuses a scalar that it does not hold (`x + 0.5` with x i32).
/// - Axes may be negative, counting from the end. Axes, shapes and bounds are attributes, never tensors.
/// - Throws Error(graph), naming op, operand dtypes and shapes, and the caller's line, when shapes or dtypes do not
/// fit, an axis is out
///   of range, operands belong to different graphs, or a handle is empty.
/// - `using namespace std` beside `using namespace cairn` is possible; a name that is a class of the standard library
/// too (`slice`, and `any`, `stack` of composites.hpp) then needs its `cairn::`.
/// - Nothing is computed here. Integers wrap around; i/0 is 0. Floating point follows IEEE 754.
namespace cairn::inline v0 {

/// A list of integers, or one alone: the axes of `sum(x, 1)` and `sum(x, {0, -1})`.
class IntList {
public:
    IntList() noexcept = default;
    template <std::integral T>  ///< one alone
    requires(!std::same_as<T, bool> && sizeof(T) <= sizeof(int)) IntList(T value) : values_{static_cast<int>(value)} {}
    IntList(std::initializer_list<int> values) : values_(values) {}
    IntList(std::vector<int> values) noexcept : values_(std::move(values)) {}
    /// All of them, in order.
    const std::vector<int>& values() const noexcept { return values_; }

private:
    std::vector<int> values_;
};

// clang-format off
/// Elementwise, float or (neg, abs) integer; the result has the operand's dtype and shape.
/// neg: -x. abs: |x|. exp: e^x. log: natural logarithm. sqrt. rsqrt: 1/sqrt(x). sin, cos in radians. tanh. erf: 2/sqrt(pi) int_0^x e^(-t^2) dt. floor.
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
/// The same values in another dtype: round to nearest even between floats, truncation toward zero and saturation to integers (NaN gives 0),
/// x != 0 to boolean.
CAIRN_API Tensor cast(const Operand& x, DType dtype);

/// Elementwise on two operands: a + b, a - b, a * b, a / b (integers truncate toward zero), the smaller, the larger (NaN if either is), a^b.
/// Float or integer; pow float only.
CAIRN_API Tensor add(const Operand& a, const Operand& b);
CAIRN_API Tensor sub(const Operand& a, const Operand& b);
CAIRN_API Tensor mul(const Operand& a, const Operand& b);
CAIRN_API Tensor div(const Operand& a, const Operand& b);
CAIRN_API Tensor min(const Operand& a, const Operand& b);
CAIRN_API Tensor max(const Operand& a, const Operand& b);
CAIRN_API Tensor pow(const Operand& a, const Operand& b);
/// The same for two tensors, beside which the templates of namespace std stand back.
CAIRN_API Tensor min(const Tensor& a, const Tensor& b, std::source_location where = std::source_location::current());
CAIRN_API Tensor max(const Tensor& a, const Tensor& b, std::source_location where = std::source_location::current());
CAIRN_API Tensor pow(const Tensor& a, const Tensor& b, std::source_location where = std::source_location::current());

/// Elementwise comparisons; the result is boolean. Comparisons with NaN are false, but for `ne`. Only eq and ne take booleans.
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
/// Elementwise choice: a where `condition` (boolean) is true, else b. All three broadcast; a and b have one dtype.
CAIRN_API Tensor where(const Operand& condition, const Operand& a, const Operand& b);
// clang-format on

/// Sums over `axes` (all when empty); the axes go, or stay with size 1 when `keepdims`. Float or integer. The sum over
/// no elements is 0.
CAIRN_API Tensor sum(const Operand& x, const IntList& axes = {}, bool keepdims = false);
/// The product of the elements over `axes`; over no elements 1. Float or integer.
CAIRN_API Tensor prod(const Operand& x, const IntList& axes = {}, bool keepdims = false);
/// The largest element over `axes`; NaN if any is; over no elements -inf, or the smallest integer.
CAIRN_API Tensor max_reduce(const Operand& x, const IntList& axes = {}, bool keepdims = false);
/// The index (i32) of the largest element along `axis`, the first one on a tie; a NaN counts as largest. The axis may
/// not be empty, nor longer than 2^31 - 1.
CAIRN_API Tensor argmax(const Operand& x, int axis, bool keepdims = false);

/// out[.., i, ..] = x[.., 0, ..] + ... + x[.., i, ..] along `axis`, in order. Float or integer; shape and dtype of x.
CAIRN_API Tensor cumsum(const Operand& x, int axis);
/// The indices (i32, shape of x) that put x in ascending order along `axis`, or in descending order; of equal elements
/// the first comes first in both. A NaN counts as largest. Float or integer; the axis may not be longer than 2^31 - 1.
/// See sort of composites.hpp for the values.
CAIRN_API Tensor argsort(const Operand& x, int axis = -1, bool descending = false);

/// c[..., i, j] = sum_k a[..., i, k] b[..., k, j], accumulated in at least the dtype of the operands. Ranks >= 2;
/// leading axes broadcast.
CAIRN_API Tensor matmul(const Operand& a, const Operand& b);

/// The same elements in row-major order under another shape. One size may be -1 and follows from the others.
CAIRN_API Tensor reshape(const Operand& x, Shape shape);
/// The same for a list of integers that was computed.
template <std::integral T>
Tensor reshape(const Operand& x, const std::vector<T>& shape) {
    return reshape(x, Shape(shape.begin(), shape.end()));
}
/// Axis i of the result is axis `permutation[i]` of x.
CAIRN_API Tensor transpose(const Operand& x, std::vector<int> permutation);
/// Repeats axes of size 1 and adds leading axes, up to `shape`.
CAIRN_API Tensor broadcast(const Operand& x, Shape shape);
/// The elements start, start + step, ... below `stop` of an axis; 0 <= start <= stop <= size must be provable, step
/// >= 1.
CAIRN_API Tensor slice(const Operand& x, int axis, const Dim& start, const Dim& stop, std::int64_t step = 1);
/// `before` and `after` further elements of value `value` at the ends of an axis.
CAIRN_API Tensor pad(const Operand& x, int axis, const Dim& before, const Dim& after, double value = 0);
/// The tensors one after another along an axis; all other sizes agree.
CAIRN_API Tensor concat(std::span<const Tensor> tensors, int axis,
                        std::source_location where = std::source_location::current());
CAIRN_API Tensor concat(std::initializer_list<Tensor> tensors, int axis,
                        std::source_location where = std::source_location::current());
/// out[a, i, b] = x[a, indices[i], b], where a and b stand for the axes before and after `axis` and i for all axes of
/// `indices` (i32 or i64). An index outside 0 .. size - 1 makes the run fail with Error(argument).
CAIRN_API Tensor gather(const Operand& x, const Operand& indices, int axis = 0);
/// x with out[a, indices[i], b] = updates[a, i, b] for i in order (of equal indices the last wins); `indices` has
/// rank 1.
CAIRN_API Tensor scatter(const Operand& x, const Operand& indices, const Operand& updates, int axis = 0);
/// out[.., i, ..] = x[.., indices[.., i, ..], ..]: a choice of its own for each place. `indices` (i32 or i64) has the
/// rank of x and its sizes but for `axis`; the result has its shape. An index outside 0 .. size - 1 makes the run fail
/// with Error(argument).
CAIRN_API Tensor take_along_axis(const Operand& x, const Operand& indices, int axis);
/// start, start + 1, ..., start + length - 1; integers wrap at the ends of their dtype.
CAIRN_API Tensor iota(const Graph& graph, const Dim& length, DType dtype = DType::i32, const Dim& start = 0,
                      std::source_location where = std::source_location::current());
/// Windows of `size` elements, `dilation` apart, beginning every `stride` elements of `axis`: that axis becomes their
/// number, and a last axis of `size` is added. out[.., w, .., k] = x[.., w*stride + k*dilation, ..]. Two of them make
/// im2col.
CAIRN_API Tensor window(const Operand& x, int axis, std::int64_t size, std::int64_t stride = 1,
                        std::int64_t dilation = 1);
/// The same values on a device: the one statement of a program about places. Where all other values lie, those made
/// of these too, is chosen by compile(), by what it costs. A compile for a device that is not there fails with
/// Error(unsupported).
CAIRN_API Tensor copy_to(const Operand& x, Device device);

/// Adds an axis of size 1 before `axis` (a reshape).
CAIRN_API Tensor unsqueeze(const Operand& x, int axis);
/// Swaps two axes (a transpose).
CAIRN_API Tensor swap_axes(const Operand& x, int a, int b);

// clang-format off
/// The operators are the ops of the same meaning: a + b is add(a, b), a == b is eq(a, b), !a is logical_not(a), and so on.
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
/// x = x + y, and so on: the handle gets a new value, the old one stays in the graph.
inline Tensor& operator+=(Tensor& x, const Operand& y) { return x = add(Operand(x, y.where()), y); }
inline Tensor& operator-=(Tensor& x, const Operand& y) { return x = sub(Operand(x, y.where()), y); }
inline Tensor& operator*=(Tensor& x, const Operand& y) { return x = mul(Operand(x, y.where()), y); }
inline Tensor& operator/=(Tensor& x, const Operand& y) { return x = div(Operand(x, y.where()), y); }
// clang-format on

/// Gives a value a name that explain(), profiles, errors and text forms show, and returns the tensor. A name changes
/// neither results nor selection nor digests, and it survives rewriting as long as the value does.
///
///     Tensor scores = name(matmul(q, k), "scores");
///
/// Equal ops on equal operands are one value, so the last name given to it counts. A name that another value of the
/// graph has gets a number: `scores`, `scores 2`, `scores 3`. Throws Error(graph) for an empty Tensor, and for a name
/// that is empty, that is longer than 200 bytes, that is not UTF-8 or that has control characters.
CAIRN_API Tensor name(const Tensor& tensor, std::string_view name,
                      std::source_location where = std::source_location::current());
/// The name that a value was given; empty: none.
CAIRN_API std::string name_of(const Tensor& tensor);

/// While one is alive, new nodes of the operand's graph belong to the composite `name` called at the operand's source
/// line: errors name the composite, and the line is the caller's, not the composite's own. The outermost scope wins.
/// Every composite begins with one.
class CAIRN_API CompositeScope {
public:
    CompositeScope(std::string_view name, const Operand& operand);
    ~CompositeScope();
    CompositeScope(const CompositeScope&) = delete;
    CompositeScope& operator=(const CompositeScope&) = delete;

    /// Throws Error(graph) `[softmax] message (model.cpp:17)`, for what a composite must check itself.
    [[noreturn]] void fail(std::string_view message) const;

private:
    std::shared_ptr<ir::GraphData> graph_;
};

}  // namespace cairn::inline v0
