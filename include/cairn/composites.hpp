#pragma once

#include "cairn/ops.hpp"

#include <cstdint>
#include <optional>

/// Functions written with atomic ops alone. A kernel may compute one of them whole; measurement decides, and a program
/// that spells the same thing out by hand is treated alike. f16 and bf16 are computed in f32 and rounded once, but by
/// linear, convolutions and rope (docs/numbers.md). Errors as for atomic ops, naming the composite.
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
/// min(max(x, low), high): where low > high it is high; a NaN stays one. Float or integer.
CAIRN_API Tensor clamp(const Operand& x, const Operand& low, const Operand& high);
CAIRN_API Tensor clamp(const Tensor& x, const Tensor& low, const Tensor& high, std::source_location where = std::source_location::current());
/// The nearest whole number, of two the even one: round(2.5) = 2. Float.
CAIRN_API Tensor round(const Operand& x);
/// -1, 0 or 1, of the dtype of x; 0, -0 and NaN stay what they are. Float or integer.
CAIRN_API Tensor sign(const Operand& x);
// clang-format on

/// The smallest element over `axes` (all when empty); NaN if any is; over no elements inf, or the largest integer.
CAIRN_API Tensor min_reduce(const Operand& x, const IntList& axes = {}, bool keepdims = false);
/// The index (i32) of the smallest element along `axis`, the first one on a tie; a NaN counts as smallest. The axis may
/// not be empty.
CAIRN_API Tensor argmin(const Operand& x, int axis, bool keepdims = false);
/// Whether one element, and whether each element, over `axes` is true; over none false, and true. Boolean.
CAIRN_API Tensor any(const Operand& x, const IntList& axes = {}, bool keepdims = false);
CAIRN_API Tensor all(const Operand& x, const IntList& axes = {}, bool keepdims = false);

/// x without the given axes, which have size 1; without all axes of size 1 when none is given.
CAIRN_API Tensor squeeze(const Operand& x, const IntList& axes = {});
/// Tensors of one shape along a new axis: out[.., i, ..] = tensors[i].
CAIRN_API Tensor stack(std::span<const Tensor> tensors, int axis = 0,
                       std::source_location where = std::source_location::current());
CAIRN_API Tensor stack(std::initializer_list<Tensor> tensors, int axis = 0,
                       std::source_location where = std::source_location::current());
/// Slices of these sizes, one after another along `axis`; together they are x.
CAIRN_API std::vector<Tensor> split(const Operand& x, const Shape& sizes, int axis = 0);
/// `parts` slices of equal size; the axis must be a multiple of `parts`.
CAIRN_API std::vector<Tensor> chunk(const Operand& x, int parts, int axis = 0);
/// Each element `times` times in a row along `axis`: [a, b] becomes [a, a, b, b].
CAIRN_API Tensor repeat(const Operand& x, const Dim& times, int axis);
/// The whole `times[i]` times along axis i: [a, b] becomes [a, b, a, b]. One entry an axis.
CAIRN_API Tensor tile(const Operand& x, const Shape& times);
/// out[.., k, ..] = 1 where k is the index, else 0, with k along a new axis of size `depth`. Indices i32 or i64; a
/// negative one counts from the end; one outside -depth .. depth - 1 gives zeros. For indices of i32 `depth` may not be
/// above 2^31 - 1.
CAIRN_API Tensor one_hot(const Operand& indices, const Dim& depth, DType dtype = DType::f32, int axis = -1);

/// Sorted values, and the index (i32) that each of them had.
struct Sorted {
    Tensor values, indices;  ///< both of the shape sorted, or cut to k
};
/// x in ascending order along `axis`, or in descending order; of equal elements the first comes first in both. A NaN
/// counts as largest. Float or integer.
CAIRN_API Sorted sort(const Operand& x, int axis = -1, bool descending = false);
/// The k largest elements along `axis` in descending order, or the k smallest in ascending order, as by sort.
/// Throws Error(graph) unless 0 <= k <= size is sure.
CAIRN_API Sorted topk(const Operand& x, const Dim& k, int axis = -1, bool largest = true);

/// e^(x - m) / sum e^(x - m) along `axis`, m the maximum there. Float.
CAIRN_API Tensor softmax(const Operand& x, int axis = -1);
/// x - m - log(sum e^(x - m)) along `axis`. Float.
CAIRN_API Tensor log_softmax(const Operand& x, int axis = -1);
/// sum(x) / n over `axes` (all when empty), n the number of elements summed. A sum of f16 or bf16 is kept in f32.
/// Float; cast integers first: mean(cast(x, DType::f32)).
CAIRN_API Tensor mean(const Operand& x, const IntList& axes = {}, bool keepdims = false);
/// mean((x - mean(x))^2) over `axes`: the population variance.
CAIRN_API Tensor variance(const Operand& x, const IntList& axes = {}, bool keepdims = false);

/// (x - mean) / sqrt(variance + eps) * gamma + beta along `axis` (Ba et al., arXiv 1607.06450). gamma and beta: [D], D
/// the size of the axis; without them they are 1 and 0. Float.
CAIRN_API Tensor layer_norm(const Operand& x, const Operand& gamma, const Operand& beta, double eps = 1e-5,
                            int axis = -1);
CAIRN_API Tensor layer_norm(const Operand& x, const Operand& gamma, double eps = 1e-5, int axis = -1);
CAIRN_API Tensor layer_norm(const Operand& x, double eps = 1e-5, int axis = -1);
/// x / sqrt(mean(x^2) + eps) * gamma along `axis` (Zhang & Sennrich, arXiv 1910.07467). gamma: [D], 1 without it.
/// Float.
CAIRN_API Tensor rms_norm(const Operand& x, const Operand& gamma, double eps = 1e-6, int axis = -1);
CAIRN_API Tensor rms_norm(const Operand& x, double eps = 1e-6, int axis = -1);
/// (x - mean) / sqrt(var + eps) * gamma + beta for each channel, with given statistics (Ioffe & Szegedy, arXiv
/// 1502.03167, at inference). x [B, C, ...]; the others [C]. Float.
CAIRN_API Tensor batch_norm(const Operand& x, const Operand& gamma, const Operand& beta, const Operand& mean,
                            const Operand& var, double eps = 1e-5);
/// (x - m) / sqrt(v + eps) * gamma + beta, m and v the mean and variance over the places of C / groups channels
/// together (Wu & He, arXiv 1803.08494). x [B, C, ...], C a multiple of `groups`; gamma and beta [C]. Float.
CAIRN_API Tensor group_norm(const Operand& x, int groups, const Operand& gamma, const Operand& beta, double eps = 1e-5);
/// The same over each channel alone (Ulyanov et al., arXiv 1607.08022): x [B, C, ...], with an axis behind C.
CAIRN_API Tensor instance_norm(const Operand& x, const Operand& gamma, const Operand& beta, double eps = 1e-5);

/// How a kernel slides over the spatial axes, those behind [B, C]. A list has an entry for each spatial axis, or one
/// for all.
struct ConvOptions {
    IntList stride = 1;  ///< places from one window to the next
    /// Zeros around x: nothing, one number for all sides, one for each spatial axis, or all that stand before each
    /// axis and then all that stand behind each: `{top, left, bottom, right}`.
    IntList padding = {};
    IntList dilation = 1;
    int groups = 1;              ///< channels are cut into so many parts, each with its own filters
    IntList output_padding = 0;  ///< of transposed convolutions: rows that are added behind each axis of the result
};
/// out[b, o, p] = sum over c and k of x[b, c, p * stride + k * dilation - padding] w[o, c, k] (correlation, as the
/// field calls convolution), + b[o]. x [B, C, L], w [O, C / groups, K], b [O]; the result [B, O, M] with M = floor((L +
/// padding - dilation (K - 1) - 1) / stride) + 1. Filter o sees the channels of group o / (O / groups). Numbers; sums
/// as by matmul.
CAIRN_API Tensor conv1d(const Operand& x, const Operand& w, const ConvOptions& options = {});
CAIRN_API Tensor conv1d(const Operand& x, const Operand& w, const Operand& b, const ConvOptions& options = {});
/// The same on two axes: x [B, C, H, W], w [O, C / groups, Kh, Kw], b [O].
CAIRN_API Tensor conv2d(const Operand& x, const Operand& w, const ConvOptions& options = {});
CAIRN_API Tensor conv2d(const Operand& x, const Operand& w, const Operand& b, const ConvOptions& options = {});
/// The transposed map (the gradient of a convolution with these options by its x): x [B, C, L], w [C, O / groups, K], b
/// [O]; the result [B, O, M] with M = (L - 1) stride + dilation (K - 1) + 1 + output_padding - padding. No spatial axis
/// of x may be empty; output_padding is below stride or dilation.
CAIRN_API Tensor conv_transpose1d(const Operand& x, const Operand& w, const ConvOptions& options = {});
CAIRN_API Tensor conv_transpose1d(const Operand& x, const Operand& w, const Operand& b,
                                  const ConvOptions& options = {});
CAIRN_API Tensor conv_transpose2d(const Operand& x, const Operand& w, const ConvOptions& options = {});
CAIRN_API Tensor conv_transpose2d(const Operand& x, const Operand& w, const Operand& b,
                                  const ConvOptions& options = {});

/// How a window slides when it pools; lists as those of ConvOptions.
struct PoolOptions {
    IntList stride = {};  ///< the kernel's size when not given: windows side by side
    IntList padding = {};
    IntList dilation = 1;
    bool ceil_mode = false;  ///< a last window may lack elements behind the end, if it begins before the padding there
    bool count_padding =
        false;  ///< of avg_pool: divide by the places of the window in x and its padding, not in x alone
};
/// The largest element of each window over the spatial axes of x [B, C, ...]; NaN if any is. `kernel`: a size for each
/// spatial axis, or one for all. Padding is no element: it is below all of them. Float or integer.
CAIRN_API Tensor max_pool(const Operand& x, const IntList& kernel, const PoolOptions& options = {});
/// The mean of each window. Padding is below the kernel's size; a window that holds padding alone, which takes dilation
/// that steps over all of x, gives NaN unless padding is counted. Float.
CAIRN_API Tensor avg_pool(const Operand& x, const IntList& kernel, const PoolOptions& options = {});

/// Spatial axes of x [B, C, ...] made `scale` times as long (a number for each, or one for all): each element repeated.
CAIRN_API Tensor upsample_nearest(const Operand& x, const IntList& scale);
/// The same by linear interpolation along each spatial axis (bilinear on two): the place p of the result is at
/// (p + 1/2) / scale - 1/2 of x, and at its edge beyond it. No spatial axis may be empty. Float.
CAIRN_API Tensor upsample_linear(const Operand& x, const IntList& scale);

/// Where place p of a resized axis lies on the axis of x, which has `in` elements where the result has `out`:
/// (p + 1/2) in/out - 1/2 | p (in - 1) / (out - 1), so that the ends meet (0 where out = 1) | p in/out.
enum class CoordinateTransformation : std::uint8_t { half_pixel, align_corners, asymmetric };
/// Which element a place between two takes: the nearest, of two as near the lower or the higher one | the lower one |
/// the higher one.
enum class ResizeRounding : std::uint8_t { prefer_lower, prefer_higher, down, up };
/// Spatial axes of x [B, C, ...] brought to these sizes, larger or smaller, one for each axis: the nearest element of
/// each place, as ONNX's Resize with sizes. No spatial axis of x may be empty. `asymmetric` and `down` are what is
/// elsewhere called nearest.
///
///     resize_nearest(image, {224, 224}, CoordinateTransformation::asymmetric, ResizeRounding::down)
CAIRN_API Tensor resize_nearest(const Operand& x, const Shape& size,
                                CoordinateTransformation coordinates = CoordinateTransformation::half_pixel,
                                ResizeRounding rounding = ResizeRounding::prefer_lower);
/// The same by linear interpolation along each axis, beyond the edge of x its edge: no smoothing where it shrinks.
/// Float.
CAIRN_API Tensor resize_linear(const Operand& x, const Shape& size,
                               CoordinateTransformation coordinates = CoordinateTransformation::half_pixel);

/// x @ w + b: x [..., K], w [K, N], b [N]. A weight stored as [N, K] is passed as transpose(w, {1, 0}).
CAIRN_API Tensor linear(const Operand& x, const Operand& w, const Operand& b);
/// x @ w.
CAIRN_API Tensor linear(const Operand& x, const Operand& w);
/// Rows of `table` [V, D] chosen by `ids` (i32 or i64, any shape): [..., D].
CAIRN_API Tensor embedding(const Operand& table, const Operand& ids);

/// What attention may look at, beside what its operands say.
struct AttentionOptions {
    /// Query i of T sees keys 0 .. i + (S - T): with S > T the first S - T keys are the past.
    bool causal = false;
    /// Query i of T sees no key before i + (S - T) - (window - 1): beside `causal` the last `window` keys, its own
    /// among them (sliding windows, arXiv 2310.06825). At least 1, below 2^31; all keys when not given.
    std::optional<std::int64_t> window = std::nullopt;
    /// Multiplies the scores; 1/sqrt(D) when not given.
    std::optional<double> scale = std::nullopt;
    /// Scaled scores s become cap * tanh(s / cap) before any mask, so that none is beyond the cap; positive and finite.
    /// Not capped when not given. (Gemma 2, arXiv 2408.00118.)
    std::optional<double> softcap = std::nullopt;
    /// The score of a key that may not be seen; by default the lowest finite number of the scores' dtype. With that a
    /// query that sees no key gets the mean of all values, and one whose seen keys all score -inf the mean of those it
    /// does not see; with -inf both get NaN.
    std::optional<double> masked_score = std::nullopt;
    /// Scores of the dtype of q are cast to this float dtype for the softmax, and its weights back, as many f16 and
    /// bf16 models do. When not given f16 and bf16 are computed in f32 throughout, and the result is rounded.
    std::optional<DType> softmax_dtype = std::nullopt;
};
/// softmax(q k^T * scale, masked) v (Vaswani et al., arXiv 1706.03762). q [B, H, T, D], k and v [B, G, S, D] with H a
/// multiple of G: each key head serves H/G query heads in turn (grouped-query attention, arXiv 2305.13245). Result [B,
/// H, T, D].
CAIRN_API Tensor attention(const Operand& q, const Operand& k, const Operand& v, const AttentionOptions& options = {});
/// The same with a mask. Boolean [B, S]: false keys (padding) are seen by no query. Boolean [B, H, T, S], each axis
/// that size or 1: false pairs are not seen. Of the dtype of q with such axes: added to the scaled scores. What is not
/// seen has the masked score and so weight 0 beside any key that is seen, which makes NaN of a value that is infinite
/// or NaN.
CAIRN_API Tensor attention(const Operand& q, const Operand& k, const Operand& v, const Operand& mask,
                           const AttentionOptions& options = {});

/// Rotary position embedding (Su et al., arXiv 2104.09864) in the half-split form: with x = [x1, x2] along the last
/// axis (even size D), x * cos(t) + [-x2, x1] * sin(t), where t[p, i] = positions[p] * base^(-2 (i mod D/2) / D). x
/// [..., T, D]; positions [T] or [..., T], i32.
CAIRN_API Tensor rope(const Operand& x, const Operand& positions, double base = 10000);

}  // namespace cairn::inline v0
