#pragma once

#include "cairn/ops.hpp"

#include <cstdint>
#include <optional>

/// Composites: functions written with atomic ops only. A kernel may compute one of them as a whole; measurement
/// decides, and an equivalent hand-written graph is treated alike. f16 and bf16 are computed in f32 and rounded once,
/// except in linear, convolutions and rope (docs/numbers.md). Errors as for atomic ops, naming the composite.
namespace cairn::inline v0 {

// clang-format off
/// max(x, 0).
CAIRN_API Tensor relu(const Operand& x);
/// 1 / (1 + e^-x).
CAIRN_API Tensor sigmoid(const Operand& x);
/// x * sigmoid(x), also called swish (Ramachandran et al., arXiv 1710.05941).
CAIRN_API Tensor silu(const Operand& x);
/// x/2 * (1 + erf(x / sqrt 2)) (Hendrycks & Gimpel, arXiv 1606.08415).
CAIRN_API Tensor gelu(const Operand& x);
/// x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))): the same paper's approximation, used by GPT-2.
CAIRN_API Tensor gelu_tanh(const Operand& x);
/// silu(gate) * up, and gelu(gate) * up (Shazeer, arXiv 2002.05202). Float.
CAIRN_API Tensor swiglu(const Operand& gate, const Operand& up);
CAIRN_API Tensor geglu(const Operand& gate, const Operand& up);
/// min(max(x, low), high); if low > high the result is high. NaN stays NaN. Float or integer.
CAIRN_API Tensor clamp(const Operand& x, const Operand& low, const Operand& high);
CAIRN_API Tensor clamp(const Tensor& x, const Tensor& low, const Tensor& high, std::source_location where = std::source_location::current());
/// Rounds to the nearest integer, ties to even: round(2.5) = 2. Float.
CAIRN_API Tensor round(const Operand& x);
/// -1, 0 or 1 in the dtype of x; 0, -0 and NaN are unchanged. Float or integer.
CAIRN_API Tensor sign(const Operand& x);
// clang-format on

/// Minimum over `axes` (all when empty); NaN if any element is NaN. Over no elements: inf, or the largest integer.
CAIRN_API Tensor min_reduce(const Operand& x, const IntList& axes = {}, bool keepdims = false);
/// Index (i32) of the minimum along `axis`, the first one on a tie; NaN counts as smallest. The axis must not be empty.
CAIRN_API Tensor argmin(const Operand& x, int axis, bool keepdims = false);
/// True if any element, or all elements, over `axes` are true. Over no elements: any is false, all is true. Boolean.
CAIRN_API Tensor any(const Operand& x, const IntList& axes = {}, bool keepdims = false);
CAIRN_API Tensor all(const Operand& x, const IntList& axes = {}, bool keepdims = false);

/// Removes the given axes, which must have size 1; all axes of size 1 if none is given.
CAIRN_API Tensor squeeze(const Operand& x, const IntList& axes = {});
/// Joins tensors of one shape along a new axis: out[.., i, ..] = tensors[i].
CAIRN_API Tensor stack(std::span<const Tensor> tensors, int axis = 0,
                       std::source_location where = std::source_location::current());
CAIRN_API Tensor stack(std::initializer_list<Tensor> tensors, int axis = 0,
                       std::source_location where = std::source_location::current());
/// Splits x into consecutive slices of these sizes along `axis`; the sizes sum to the axis.
CAIRN_API std::vector<Tensor> split(const Operand& x, const Shape& sizes, int axis = 0);
/// Splits x into `parts` slices of equal size; the axis must be a multiple of `parts`.
CAIRN_API std::vector<Tensor> chunk(const Operand& x, int parts, int axis = 0);
/// Repeats each element `times` times along `axis`: [a, b] becomes [a, a, b, b].
CAIRN_API Tensor repeat(const Operand& x, const Dim& times, int axis);
/// Repeats x as a whole `times[i]` times along axis i, one entry for each axis: [a, b] becomes [a, b, a, b].
CAIRN_API Tensor tile(const Operand& x, const Shape& times);
/// out[.., k, ..] = 1 where k is the index, otherwise 0, with k along a new axis of size `depth`. Indices are i32 or
/// i64; a negative one counts from the end; one outside -depth .. depth - 1 gives zeros. For i32 indices `depth` must
/// be at most 2^31 - 1.
CAIRN_API Tensor one_hot(const Operand& indices, const Dim& depth, DType dtype = DType::f32, int axis = -1);

/// Result of sort and topk: sorted values, and the index (i32) of each in the input.
struct Sorted {
    Tensor values, indices;  ///< both of the sorted shape, or cut to k
};
/// Sorts x along `axis` in ascending or descending order; both are stable: equal elements keep their order. NaN counts
/// as largest. Float or integer.
CAIRN_API Sorted sort(const Operand& x, int axis = -1, bool descending = false);
/// The k largest elements along `axis` in descending order, or the k smallest in ascending order, ordered as by sort.
/// Throws Error(graph) unless 0 <= k <= size is provable.
CAIRN_API Sorted topk(const Operand& x, const Dim& k, int axis = -1, bool largest = true);

/// e^(x - m) / sum e^(x - m) along `axis`, with m the maximum along it. Float.
CAIRN_API Tensor softmax(const Operand& x, int axis = -1);
/// x - m - log(sum e^(x - m)) along `axis`, with m the maximum along it. Float.
CAIRN_API Tensor log_softmax(const Operand& x, int axis = -1);
/// sum(x) / n over `axes` (all when empty), with n the number of summed elements. f16 and bf16 are summed in f32.
/// Float; cast integers first: mean(cast(x, DType::f32)).
CAIRN_API Tensor mean(const Operand& x, const IntList& axes = {}, bool keepdims = false);
/// mean((x - mean(x))^2) over `axes`: the population variance.
CAIRN_API Tensor variance(const Operand& x, const IntList& axes = {}, bool keepdims = false);

/// (x - mean) / sqrt(variance + eps) * gamma + beta along `axis` (Ba et al., arXiv 1607.06450). gamma and beta: [D],
/// with D the size of the axis; 1 and 0 if not given. Float.
CAIRN_API Tensor layer_norm(const Operand& x, const Operand& gamma, const Operand& beta, double eps = 1e-5,
                            int axis = -1);
CAIRN_API Tensor layer_norm(const Operand& x, const Operand& gamma, double eps = 1e-5, int axis = -1);
CAIRN_API Tensor layer_norm(const Operand& x, double eps = 1e-5, int axis = -1);
/// x / sqrt(mean(x^2) + eps) * gamma along `axis` (Zhang & Sennrich, arXiv 1910.07467). gamma: [D], with D the size of
/// the axis; 1 if not given. Float.
CAIRN_API Tensor rms_norm(const Operand& x, const Operand& gamma, double eps = 1e-6, int axis = -1);
CAIRN_API Tensor rms_norm(const Operand& x, double eps = 1e-6, int axis = -1);
/// (x - mean) / sqrt(var + eps) * gamma + beta for each channel, with given statistics (Ioffe & Szegedy, arXiv
/// 1502.03167, at inference). x [B, C, ...]; all other operands [C]. Float.
CAIRN_API Tensor batch_norm(const Operand& x, const Operand& gamma, const Operand& beta, const Operand& mean,
                            const Operand& var, double eps = 1e-5);
/// (x - m) / sqrt(v + eps) * gamma + beta, with m and v the mean and variance over the positions of each group of C /
/// groups channels (Wu & He, arXiv 1803.08494). x [B, C, ...], C a multiple of `groups`; gamma and beta [C]. Float.
CAIRN_API Tensor group_norm(const Operand& x, int groups, const Operand& gamma, const Operand& beta, double eps = 1e-5);
/// group_norm with one channel in each group (Ulyanov et al., arXiv 1607.08022). x [B, C, ...], with at least one axis
/// after C.
CAIRN_API Tensor instance_norm(const Operand& x, const Operand& gamma, const Operand& beta, double eps = 1e-5);

/// Parameters of a convolution. Spatial axes are those after [B, C]. A list has an entry for each spatial axis, or one
/// for all.
struct ConvOptions {
    IntList stride = 1;  ///< step from one window to the next, in positions
    /// Zero padding of x: empty (none), one number for all sides, one for each spatial axis, or first those before each
    /// axis and then those after each axis: `{top, left, bottom, right}`.
    IntList padding = {};
    IntList dilation = 1;
    int groups = 1;              ///< number of groups of channels, each with its own filters
    IntList output_padding = 0;  ///< of transposed convolutions: elements added at the end of each axis of the result
};
/// out[b, o, p] = b[o] + sum over c and k of x[b, c, p * stride + k * dilation - padding] w[o, c, k]
/// (cross-correlation, which the field calls convolution). x [B, C, L], w [O, C / groups, K], b [O] (optional); result
/// [B, O, M] with M = floor((L + padding - dilation (K - 1) - 1) / stride) + 1, where this padding is that of both
/// sides. Filter o reads the channels of group o / (O / groups). Float or integer; sums as by matmul.
CAIRN_API Tensor conv1d(const Operand& x, const Operand& w, const ConvOptions& options = {});
CAIRN_API Tensor conv1d(const Operand& x, const Operand& w, const Operand& b, const ConvOptions& options = {});
/// As conv1d, on two axes: x [B, C, H, W], w [O, C / groups, Kh, Kw], b [O].
CAIRN_API Tensor conv2d(const Operand& x, const Operand& w, const ConvOptions& options = {});
CAIRN_API Tensor conv2d(const Operand& x, const Operand& w, const Operand& b, const ConvOptions& options = {});
/// Transposed convolution: the gradient of a convolution with these options with respect to its x. x [B, C, L], w [C, O
/// / groups, K], b [O]; result [B, O, M] with M = (L - 1) stride + dilation (K - 1) + 1 + output_padding - padding. No
/// spatial axis of x may be empty; output_padding must be less than stride or dilation.
CAIRN_API Tensor conv_transpose1d(const Operand& x, const Operand& w, const ConvOptions& options = {});
CAIRN_API Tensor conv_transpose1d(const Operand& x, const Operand& w, const Operand& b,
                                  const ConvOptions& options = {});
CAIRN_API Tensor conv_transpose2d(const Operand& x, const Operand& w, const ConvOptions& options = {});
CAIRN_API Tensor conv_transpose2d(const Operand& x, const Operand& w, const Operand& b,
                                  const ConvOptions& options = {});

/// Parameters of pooling; lists as in ConvOptions.
struct PoolOptions {
    IntList stride = {};  ///< the kernel's size if empty: windows side by side
    IntList padding = {};
    IntList dilation = 1;
    bool ceil_mode = false;      ///< the last window may extend past the end if it begins before the end padding
    bool count_padding = false;  ///< avg_pool: divide by all positions of the window, padding included
};
/// Maximum of each window over the spatial axes of x [B, C, ...]; NaN if any element is NaN. `kernel`: a size for each
/// spatial axis, or one for all. Padding never wins: it is below every element. Float or integer.
CAIRN_API Tensor max_pool(const Operand& x, const IntList& kernel, const PoolOptions& options = {});
/// Mean of each window. Padding must be less than the kernel's size. A window of padding only, which requires a
/// dilation that skips all of x, gives NaN unless padding is counted. Float.
CAIRN_API Tensor avg_pool(const Operand& x, const IntList& kernel, const PoolOptions& options = {});

/// Enlarges each spatial axis of x [B, C, ...] by `scale` (one number for each, or one for all) by repeating each
/// element.
CAIRN_API Tensor upsample_nearest(const Operand& x, const IntList& scale);
/// As upsample_nearest, by linear interpolation along each spatial axis (bilinear on two): position p of the result
/// maps to (p + 1/2) / scale - 1/2 of x, clamped to its edges. No spatial axis may be empty. Float.
CAIRN_API Tensor upsample_linear(const Operand& x, const IntList& scale);

/// Source coordinate of position p on a resized axis, with `in` elements in x and `out` in the result. half_pixel: (p +
/// 1/2) in/out - 1/2. align_corners: p (in - 1) / (out - 1), so that the ends coincide; 0 if out = 1. asymmetric: p
/// in/out.
enum class CoordinateTransformation : std::uint8_t { half_pixel, align_corners, asymmetric };
/// Which element a coordinate between two takes. prefer_lower and prefer_higher: the nearest, on a tie the lower or the
/// higher one. down: the lower one. up: the higher one.
enum class ResizeRounding : std::uint8_t { prefer_lower, prefer_higher, down, up };
/// Resizes the spatial axes of x [B, C, ...] to `size`, one entry for each axis, larger or smaller, by nearest
/// neighbour, as ONNX Resize with sizes. No spatial axis of x may be empty. `asymmetric` with `down` is what other
/// libraries call nearest.
///
///     resize_nearest(image, {224, 224}, CoordinateTransformation::asymmetric, ResizeRounding::down)
CAIRN_API Tensor resize_nearest(const Operand& x, const Shape& size,
                                CoordinateTransformation coordinates = CoordinateTransformation::half_pixel,
                                ResizeRounding rounding = ResizeRounding::prefer_lower);
/// As resize_nearest, by linear interpolation along each axis, clamped to the edges of x. No antialiasing when it
/// shrinks. Float.
CAIRN_API Tensor resize_linear(const Operand& x, const Shape& size,
                               CoordinateTransformation coordinates = CoordinateTransformation::half_pixel);

/// x @ w + b: x [..., K], w [K, N], b [N]. A weight stored as [N, K] is passed as transpose(w, {1, 0}).
CAIRN_API Tensor linear(const Operand& x, const Operand& w, const Operand& b);
/// x @ w.
CAIRN_API Tensor linear(const Operand& x, const Operand& w);
/// Rows of `table` [V, D] selected by `ids` (i32 or i64, any shape): [..., D].
CAIRN_API Tensor embedding(const Operand& table, const Operand& ids);

/// Mask and scores of attention.
struct AttentionOptions {
    /// Causal mask: query i of T attends to keys 0 .. i + (S - T). With S > T the first S - T keys are the past.
    bool causal = false;
    /// Sliding window (arXiv 2310.06825): query i of T attends to no key before i + (S - T) - (window - 1); with
    /// `causal` these are the last `window` keys, its own included. At least 1 and below 2^31; all keys if not given.
    std::optional<std::int64_t> window = std::nullopt;
    /// Multiplies the scores; 1/sqrt(D) when not given.
    std::optional<double> scale = std::nullopt;
    /// Soft capping of scaled scores before any mask: s becomes cap * tanh(s / cap) (Gemma 2, arXiv 2408.00118).
    /// Positive and finite; none if not given.
    std::optional<double> softcap = std::nullopt;
    /// Score of a masked key; by default the lowest finite number of the scores' dtype. With the default, a query that
    /// attends to no key gets the mean of all values, and one whose visible keys all score -inf gets the mean of the
    /// values masked for it. With -inf both get NaN.
    std::optional<double> masked_score = std::nullopt;
    /// Float dtype for the softmax: scores of the dtype of q are cast to it, and the weights are cast back, as many f16
    /// and bf16 models do. If not given, f16 and bf16 are computed in f32 throughout, and the result is rounded.
    std::optional<DType> softmax_dtype = std::nullopt;
};
/// softmax(q k^T * scale, masked) v (Vaswani et al., arXiv 1706.03762). q [B, H, T, D], k and v [B, G, S, D] with H a
/// multiple of G: each key head serves H/G consecutive query heads (grouped-query attention, arXiv 2305.13245). Result
/// [B, H, T, D].
CAIRN_API Tensor attention(const Operand& q, const Operand& k, const Operand& v, const AttentionOptions& options = {});
/// As above, with a mask. Boolean [B, S]: false keys (padding) are masked for all queries. Boolean [B, H, T, S], each
/// axis of that size or 1: false pairs are masked. Of the dtype of q, with the same axes: added to the scaled scores. A
/// masked key has the masked score, and so weight 0 if any key is visible; 0 times an infinite or NaN value is NaN.
CAIRN_API Tensor attention(const Operand& q, const Operand& k, const Operand& v, const Operand& mask,
                           const AttentionOptions& options = {});

/// Rotary position embedding (Su et al., arXiv 2104.09864) in half-split form: with x = [x1, x2] along the last axis
/// (even size D), x * cos(t) + [-x2, x1] * sin(t), where t[p, i] = positions[p] * base^(-2 (i mod D/2) / D). x [..., T,
/// D]; positions [T] or [..., T], i32.
CAIRN_API Tensor rope(const Operand& x, const Operand& positions, double base = 10000);
/// As above, with the angle of each pair for one position: `frequencies` has D/2 finite numbers.
CAIRN_API Tensor rope(const Operand& x, const Operand& positions, std::span<const double> frequencies);

}  // namespace cairn::inline v0
