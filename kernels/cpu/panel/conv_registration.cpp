#include "graph/types/isa_levels.hpp"
#include "kernels/cpu/matmul_operands.hpp"
#include "kernels/cpu/panel/conv_plan.hpp"
#include "kernels/cpu/panel/layout.hpp"
#include "kernels/cpu/panel/table.hpp"
#include "kernels/cpu/simd/elementwise/block_program_compiler.hpp"
#include "kernels/cpu/simd/plain_memory.hpp"

#include <algorithm>
#include <memory>
#include <string>

/// Registers convolutions, alone and with an epilogue, and products whose left operand is one matrix for all batches,
/// which are pointwise convolutions.
namespace cairn::kernels::cpu {
namespace {

Refusal needs_one_dtype(const Problem& problem) {
    const DType dtype = problem.outputs[0].dtype;
    if (!is_panel_dtype(dtype)) return "needs f32, f16 or bf16";
    for (const TensorDesc& tensor : problem.inputs)
        if (tensor.dtype != dtype) return "needs one dtype";
    return {};
}

bool is_of_image(const std::string& name) { return name == "image_conv2d" || name == "image_conv1d"; }
bool is_of_windows(const std::string& name) { return name == "conv2d" || name == "conv1d"; }

/// Checks filters and result, for any kind of input.
Refusal accepts_filters(const Problem& problem) {
    if (problem.inputs.size() != 2 || problem.outputs.size() != 1) return "a wrong number of operands";
    if (Refusal no = needs_plain(problem, 6); !no.empty()) return no;
    if (Refusal no = needs_one_dtype(problem); !no.empty()) return no;
    const TensorDesc &w = problem.inputs[1], &out = problem.outputs[0];
    const std::size_t rank = w.shape.size();
    if ((rank != 3 && rank != 4) || out.shape.size() != rank) return "needs filters and a result with one axis or two";
    for (std::size_t axis = 1; axis < rank; ++axis)
        if (!w.shape[axis].is_constant() || w.shape[axis].constant() < 1) return "needs filters of constant sizes";
    Dim taps = 1;
    for (std::size_t axis = rank; axis-- > 1; taps = taps * w.shape[axis])
        if (!(w.shape[axis] == Dim(1)) && !(w.strides[axis] == taps)) return "needs filters without gaps";
    return is_last_contiguous(out) ? Refusal() : "needs a contiguous last axis";
}

Refusal accepts_windows(const Problem& problem) {
    if (Refusal no = accepts_filters(problem); !no.empty()) return no;
    const std::size_t axes = problem.inputs[1].shape.size() - 2;
    return problem.inputs[0].shape.size() == 2 + 2 * axes ? Refusal() : "needs windows of each axis";
}

/// Few filters, each over one channel of an image.
bool is_single_channel(const Problem& problem) {
    constexpr std::int64_t few_filters = 4;
    if (!is_of_image(problem.definition)) return false;
    const TensorDesc &x = problem.inputs[0], &w = problem.inputs[1];
    return w.shape[1] == Dim(1) && provably_le(w.shape[0], x.shape[1] * Dim(few_filters - 1));
}

Refusal accepts_image_and_filters(const Problem& problem) {
    if (Refusal no = accepts_filters(problem); !no.empty()) return no;
    if (Refusal no = accepts_window_axes(problem); !no.empty()) return no;
    if (problem.inputs[0].shape.size() != problem.inputs[1].shape.size())
        return "needs filters of the axes of the image";
    if (problem.attributes.number("value") != 0) return "needs padding of zeros";
    const WindowPlan image = window_plan(problem);
    if (smallest_band_floats(image) > max_smallest_band_floats) return "needs windows that fit into the band buffer";
    if (!is_single_channel(problem) && image.taps() > ImageBlocks::max_taps)
        return "needs windows of " + std::to_string(ImageBlocks::max_taps) + " taps at most";
    return {};
}

/// Windows of one element, at each element of the image.
bool is_pointwise(const Problem& problem) {
    if (!is_of_image(problem.definition)) return false;
    const auto all = [&](const char* name, const Dim& number) {
        const std::vector<Dim>& list = problem.attributes.dims(name);
        return std::all_of(list.begin(), list.end(), [&](const Dim& each) { return each == number; });
    };
    return all("kernel", 1) && all("stride", 1) && all("padding", 0);
}

Refusal accepts_product(const Problem& problem) {
    if (Refusal no = needs_plain(problem, 8); !no.empty()) return no;
    if (problem.inputs.size() != 2 || problem.outputs.size() != 1) return "a wrong number of operands";
    if (Refusal no = needs_one_dtype(problem); !no.empty()) return no;
    if (problem.outputs[0].dtype != DType::f32) return "needs f32";
    const TensorDesc &w = problem.inputs[0], &x = problem.inputs[1], &out = problem.outputs[0];
    const std::size_t rank = out.shape.size();
    if (rank < 2 || w.shape.size() != rank || x.shape.size() != rank) return "needs matrices";
    int batches = 0;
    for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
        if (out.shape[axis] == Dim(1)) continue;
        ++batches;
        if (!(w.strides[axis] == Dim(0))) return "needs one left side for all of the batch";
    }
    if (batches > 1) return "needs one axis of the batch at most";
    if (!has_unit_stride(w, rank - 1) || !is_last_contiguous(out)) return "needs a contiguous last axis";
    if (!has_unit_stride(x, rank - 1)) return "needs rows of the right side";
    return {};
}

/// True if a plane per column of taps pays: not for few filters in a group, nor for many tap columns. With few channels
/// the positions between rows cost less.
bool is_compact(const Problem& problem) {
    constexpr std::int64_t few_channels = 16, few_filters = 24, many_columns = 8;
    const Shape &x = problem.inputs[0].shape, &w = problem.inputs[1].shape;
    if (w.size() < 4 || provably_le(w[1], few_channels)) return false;
    return !provably_le(w[0], x[1] / w[1] * Dim(few_filters)) && w.back().constant() <= many_columns;
}

/// Floats of a channel's plane in the largest band; the upper bound over all bands if the result size is symbolic.
std::int64_t floats_of_plane(const Problem& conv, const ConvPlan& plan) {
    const WindowPlan& image = plan.image;
    const Shape& out = conv.outputs[0].shape;
    const Dim p = out.size() == 4 ? out[2] : Dim(1), q = out.back();
    const auto of_bands = [&](std::int64_t rows, std::int64_t columns) {
        const ImageBands bands(image, rows, columns);
        return plane_rows(image, bands.rows) * band_pitch(image, bands.columns);
    };
    if (p.is_constant() && q.is_constant()) {
        const std::int64_t floats = of_bands(p.constant(), q.constant());
        return plan.is_pointwise ? std::max(floats, of_bands(1, p.constant() * q.constant())) : floats;
    }
    return ImageBlocks::widest_plane(image, ImageBlocks::positions_of(image));
}

/// Workspace of a member for an image: planes of all channels, unless those of all members exceed the operands.
ImageFloats image_floats(const Problem& conv, const ConvPlan& plan, int threads) {
    const WindowPlan& image = plan.image;
    const std::int64_t offsets = whole_vectors(ImageBlocks::channels(image, plan.channels) * image.taps());
    constexpr std::int64_t groups = (ImageBlocks::max_columns + positions_per_tile - 1) / positions_per_tile;
    const bool is_widened = conv.inputs[0].dtype != DType::f32;
    const Dim operands = element_count(conv.inputs[0].shape) + element_count(conv.inputs[1].shape);
    const std::int64_t plane = floats_of_plane(conv, plan),
                       most = std::max(ImageBlocks::max_planes, operands.lower_bound() / threads),
                       channels = ImageBlocks::cached_channels(image, plan.channels, plane, most);
    return {channels, ImageBlocks::planes(image, channels, plane), offsets, is_widened ? max_tile_height * offsets : 0,
            ImageBlocks::tiles * groups * max_tile_height * positions_per_tile};
}

/// Sets how rows and columns of the image are stored for tiles of filters.
void set_sets(const Problem& conv, WindowPlan& image) {
    const Dim& q = conv.outputs[0].shape.back();
    const std::int64_t columns = std::min(q.is_constant() ? q.constant() : wide_tile_columns, wide_tile_columns);
    image.rows = image.rows.with_smaller_sets(ImageBlocks::usual_rows, 1);
    image.columns = image.columns.with_smaller_sets(columns, 2);
    if (is_compact(conv)) image.columns.has_set_per_tap = true;
    image = with_smallest_band(image);
}

/// Compiles the epilogue.
Refusal compile_epilogue(const Problem& epilogue, BlockProgram& body) {
    std::vector<DType> outputs;
    for (const TensorDesc& output : epilogue.outputs) outputs.push_back(output.dtype);
    return compile_block_program(body_steps(epilogue), outputs, body);
}

/// Accepts a fused body that begins with a convolution, of images or windows.
Refusal accepts_fused(const Problem& problem) {
    const auto parts = parts_of_fused(problem);
    const std::string of = parts ? parts->product.definition : std::string();
    if (!is_of_image(of) && !is_of_windows(of)) return "needs a body that begins with a convolution";
    if (Refusal no = is_of_image(of) ? accepts_image_and_filters(parts->product) : accepts_windows(parts->product);
        !no.empty())
        return no;
    if (Refusal no = needs_plain(problem, 6); !no.empty()) return no;
    const Shape& shape = parts->product.outputs[0].shape;
    for (const auto* side : {&parts->epilogue.inputs, &parts->epilogue.outputs})
        for (const TensorDesc& tensor : *side)
            if (tensor.shape != shape) return "needs operands and results of the shape of the convolution";
    BlockProgram body;
    return compile_epilogue(parts->epilogue, body);
}

/// True for a per-filter operand: one f32 number for each filter.
bool is_of_filters(const TensorDesc& operand) {
    for (std::size_t axis = 0; axis < operand.shape.size(); ++axis)
        if (axis != 1 && !(operand.strides[axis] == Dim(0))) return false;
    return operand.dtype == DType::f32;
}

ScaleBiasRelu scale_bias_relu_of(const Problem& epilogue, const BlockProgram& body) {
    ScaleBiasRelu tail;
    if (body.constant_count != 0 || body.output_count != 1 || epilogue.outputs[0].dtype != DType::f32) return tail;
    if (body.inputs[0] != DType::f32) return tail;
    int value = 0, at = 0;
    // The other operand, if the operation has this opcode and `value` is one of its two operands.
    const auto consume = [&](BlockOpcode code) {
        if (at == body.op_count || body.ops[at].code != code || body.ops[at].slot != BlockType::f32) return -1;
        const BlockOp& op = body.ops[at];
        const int other = op.operand[0] == value ? op.operand[1] : op.operand[0];
        const bool reads_it = (op.operand[0] == value) != (op.operand[1] == value);
        if (!reads_it || other < 1 || other >= body.input_count) return -1;
        if (!is_of_filters(epilogue.inputs[static_cast<std::size_t>(other)])) return -1;
        value = body.ops[at++].result;
        return other - 1;
    };
    tail.factor = consume(BlockOpcode::mul);
    tail.term = consume(BlockOpcode::add);
    if (at < body.op_count && body.ops[at].code == BlockOpcode::relu && body.ops[at].operand[0] == value) {
        tail.has_relu = true;
        value = body.ops[at++].result;
    }
    tail.is_all = at > 0 && at == body.op_count && value == body.outputs[0].place;
    return tail;
}

ConvPlan plan_of(const Problem& problem, int threads) {
    ConvPlan plan{ConvReads::image, false, false, problem.definition == "fused", {}, 0, 1, {}, {}, {}};
    const auto parts = parts_of_fused(problem);
    const Problem& conv = parts ? parts->product : problem;
    if (!parts)
        plan.body = identity_block_program(problem.outputs[0].dtype);
    else if (const Refusal no = compile_epilogue(parts->epilogue, plan.body); !no.empty())
        throw InternalError("conv", no);
    plan.is_single_channel = is_single_channel(conv);
    if (parts) plan.tail = scale_bias_relu_of(parts->epilogue, plan.body);
    if (is_of_image(conv.definition))
        plan.image = window_plan(conv);
    else
        plan.reads = conv.definition == "matmul" ? ConvReads::matrix : ConvReads::windows;
    if (plan.reads != ConvReads::matrix) {
        plan.channels = conv.inputs[1].shape[1].constant();
        plan.columns = static_cast<int>(conv.inputs[1].shape.size()) - 2;
    }
    plan.image.dtype = conv.outputs[0].dtype;
    if (plan.reads == ConvReads::image && !plan.is_single_channel) {
        plan.is_pointwise = is_pointwise(conv);
        set_sets(conv, plan.image);
        plan.floats = image_floats(conv, plan, threads);
    }
    return plan;
}

std::shared_ptr<const void> prepare(const Problem& problem, int threads) {
    return std::make_shared<ConvPlan>(plan_of(problem, threads));
}

Dim workspace(const Problem& problem, int threads) {
    const Shape& out = problem.outputs[0].shape;
    const ConvPlan plan = plan_of(problem, threads);
    const Dim filters = plan.reads == ConvReads::matrix ? out[out.size() - 2] : out[1];
    return member_bytes(plan, filters, plan.columns == 2 ? out[2] : Dim(1), out.back()) * Dim(threads);
}

Cost cost_of_conv(const Problem& problem) {
    const double positions = static_cast<double>(element_count(problem.outputs[0].shape).constant());
    double taps = 1;
    const Shape& w = problem.inputs[1].shape;
    for (std::size_t axis = 1; axis < w.size(); ++axis) taps *= static_cast<double>(w[axis].constant());
    // Windows overlap: each element of x is read from memory about once.
    const TensorDesc& x = problem.inputs[0];
    double seen = 1;
    for (std::size_t axis = 0; axis < w.size(); ++axis) seen *= static_cast<double>(x.shape[axis].constant());
    return {2 * taps * positions, (positions + seen) * static_cast<double>(size_of(x.dtype)), 0.75};
}

Cost cost_of_fused(const Problem& problem) {
    const auto parts = parts_of_fused(problem);
    Cost cost = cost_of_conv(parts->product);
    cost.flops += epilogue_flops(problem, cost.efficiency);
    Problem others = parts->epilogue;
    others.inputs.erase(others.inputs.begin());
    others.outputs.erase(others.outputs.begin());
    cost.bytes += bytes_of(others);
    return cost;
}

Cost cost_of_product(const Problem& problem) { return tiled_product_cost(problem, 0.75, 6, 32); }

Kernel kernel(FeatureSet needs, const PanelTable& table, const std::string& definition, const std::string& id) {
    Kernel made;
    made.id = "cpu." + std::string(isa_level_name(needs)) + "." + id;
    made.definition = definition;
    made.needs = needs;
    made.run = table.conv2d;
    made.workspace = workspace;
    made.prepare = prepare;
    return made;
}

// Coverage: windows of dense images, stride 2, dilation, groups, one channel, many taps.
std::vector<std::string> windows_samples() {
    return {
        "conv2d | f32[B,3,P,Q,3,3]:(3*(P+2)*(Q+2),(P+2)*(Q+2),Q+2,1,Q+2,1) "
        "f32[O,3,3,3]! -> f32[B,O,P,Q] "
        "where B in 0..2, O in 1..30, P in 1..9, Q in 1..40",
        "conv2d | "
        "f32[2,5,P,Q,2,3]:(5*(2*P+1)*(2*Q+2),(2*P+1)*(2*Q+2),2*(2*Q+2),2,2*Q+2,1)"
        " f32[7,5,2,3]! -> "
        "f32[2,7,P,Q] where P in 1..9, Q in 1..40",
        "conv2d | f32[1,4,P,Q,3,3]:(4*(P+4)*(Q+4),(P+4)*(Q+4),Q+4,1,2*(Q+4),2) "
        "f32[6,4,3,3] -> f32[1,6,P,Q] "
        "where P in 1..5, Q in 1..20",
        "conv2d | f32[2,6,P,Q,3,3]:(6*(P+2)*(Q+2),(P+2)*(Q+2),Q+2,1,Q+2,1) "
        "f32[6,1,3,3]! -> f32[2,6,P,Q] "
        "where P in 1..9, Q in 1..150",
        "conv2d | f16[2,6,P,4,1,1] f16[15,2,1,1]! -> f16[2,15,P,4] where P in "
        "1..9",
        "conv2d | f32[1,130,3,3,3,3]:(3250,25,5,1,5,1) f32[100,130,3,3]! -> "
        "f32[1,100,3,3]:(1000,10,3,1)"};
}

std::string windows(const std::string& kernel, const std::string& padding, const std::string& stride,
                    const std::string& dilation) {
    return "kernel=(" + kernel + ") padding=(" + padding + ") stride=(" + stride + ") dilation=(" + dilation + ")";
}
std::string same_size() { return windows("3,3", "1,1,1,1", "1,1", "1,1"); }
std::string half_size() { return windows("3,3", "1,1,1,1", "2,2", "1,1"); }

/// Coverage for each dtype: padding on all sides and on some, padding larger than the image and the filter, strides and
/// dilations, groups, one channel in few and in many filters, images of one element and empty ones, many taps; rows too
/// long for one tile; dilations at which no two taps read a common element.
std::vector<std::string> image_samples(const std::string& dtype) {
    const auto sample = [&](const std::string& windows, const std::string& x, const std::string& w,
                            const std::string& out) {
        return "image_conv2d " + windows + " value=0 | " + dtype + x + " " + dtype + w + "! -> " + dtype + out;
    };
    return {
        sample(same_size(), "[B,3,H,W]", "[O,3,3,3]", "[B,O,H,W] where B in 0..2, O in 4..30, H in 1..9, W in 1..40"),
        sample(half_size(), "[2,5,2*P,2*Q]", "[7,5,3,3]", "[2,7,P,Q] where P in 1..9, Q in 1..40"),
        sample(windows("2,3", "0,3,4,0", "3,1", "1,2"), "[1,4,3*P,Q+1]:(12*P*(Q+9),3*P*(Q+9),Q+9,1)", "[6,2,2,3]",
               "[1,6,P+1,Q]:(6000,900,Q+1,1) where P in 1..4, Q in 1..20"),
        sample(windows("3,3", "0,0,0,0", "1,1", "2,2"), "[1,4,P+4,Q+4]", "[6,4,3,3]",
               "[1,6,P,Q] where P in 1..5, Q in 1..20"),
        sample(windows("2,2", "5,4,5,4", "3,4", "1,1"), "[1,2,1,1]", "[4,2,2,2]", "[1,4,4,2]"),
        sample(windows("3,3", "2,1,2,1", "1,1", "1,1"), "[2,2,0,W]", "[4,2,3,3]", "[2,4,2,W] where W in 1..9"),
        sample(same_size(), "[2,6,H,W]", "[6,1,3,3]", "[2,6,H,W] where H in 1..40, W in 1..90"),
        sample(half_size(), "[2,6,2*P,2*Q]", "[12,1,3,3]", "[2,12,P,Q] where P in 1..20, Q in 1..80"),
        sample(half_size(), "[1,2,2*P,2*Q]", "[12,1,3,3]", "[1,12,P,Q] where P in 1..9, Q in 1..40"),
        sample(windows("3,2", "2,0,0,1", "1,3", "2,1"), "[1,3,P+2,3*Q]", "[3,1,3,2]",
               "[1,3,P,Q] where P in 1..9, Q in 1..40"),
        sample(windows("1,1", "0,0,0,0", "1,1", "1,1"), "[2,40,P,9]", "[50,40,1,1]", "[2,50,P,9] where P in 1..9"),
        sample(same_size(), "[1,130,3,3]", "[100,130,3,3]", "[1,100,3,3]:(1000,10,3,1)"),
        sample(same_size(), "[1,130,P,5]", "[20,130,3,3]", "[1,20,P,5] where P in 1..9"),
        sample(half_size(), "[2,20,2*P,2*Q]", "[30,20,3,3]", "[2,30,P,Q] where P in 1..9, Q in 1..40"),
        sample(windows("2,3", "0,3,4,0", "3,1", "1,2"), "[1,17,3*P,Q+1]", "[25,17,2,3]",
               "[1,25,P+1,Q] where P in 1..4, Q in 1..20"),
        sample(same_size(), "[1,1,17,4100]", "[1,1,3,3]", "[1,1,17,4100]"),
        sample(windows("3,3", "30,700,30,700", "1,1", "30,700"), "[1,2,H,50]", "[2,1,3,3]",
               "[1,2,H,50] where H in 9..30"),
        sample(windows("3,3", "30,70,30,70", "1,1", "30,70"), "[1,3,H,20]", "[5,3,3,3]", "[1,5,H,20] where H in 9..30"),
    };
}

/// Coverage for one spatial axis: each dtype, depthwise, stride and dilation, more channels than one pass sums.
std::vector<std::string> row_samples() {
    const auto sample = [](const std::string& windows, const std::string& operands) {
        return "image_conv1d " + windows + " value=0 | " + operands;
    };
    return {
        sample("kernel=(3) padding=(1,1) stride=(1) dilation=(1)",
               "f32[B,5,L] f32[20,5,3]! -> f32[B,20,L] where B in 0..2, L in "
               "1..300"),
        sample("kernel=(5) padding=(4,0) stride=(2) dilation=(3)",
               "f32[2,300,2*L+7]:(300*(2*L+9),2*L+9,1) f32[15,300,5] -> "
               "f32[2,15,L] where L in 1..40"),
        sample("kernel=(40) padding=(20,19) stride=(4) dilation=(1)",
               "f16[1,2,4*L] f16[8,1,40]! -> f16[1,8,L] where L in 1..50"),
        sample("kernel=(7) padding=(3,3) stride=(1) dilation=(1)",
               "bf16[2,6,L] bf16[6,1,7]! -> bf16[2,6,L] where L in 1..90"),
        sample("kernel=(1) padding=(0,0) stride=(1) dilation=(1)",
               "f32[2,40,L] f32[50,40,1]! -> f32[2,50,L] where L in 1..70"),
    };
}

/// Coverage: bias, batch norm and relu, a residual with strides of its own, several results, other dtypes of operands
/// and results, positions of several images in one block; few filters of one channel; windows that are views.
std::vector<std::string> fused_samples() {
    const auto sample = [](const std::string& windows, const std::string& body, const std::string& operands) {
        return "fused " + windows + " value=0 {" + body + "} | " + operands;
    };
    return {
        sample(same_size(), "3=image_conv2d(0,1):f32 4=add(3,2):f32",
               "f32[B,3,H,W] f32[O,3,3,3]! f32[B,O,H,W]:(0,1,0,0)! -> "
               "f32[B,O,H,W] results (4) where B in 0..3, O in "
               "4..30, H in 1..9, W in 1..40"),
        sample(half_size(),
               "5=image_conv2d(0,1):f32 6=mul(5,2):f32 7=add(6,3):f32 "
               "8=relu(7):f32 9=add(4,8):f32 10=silu(9):f32",
               "f32[2,5,2*P,2*Q] f32[7,5,3,3]! f32[2,7,P,Q]:(0,1,0,0)! "
               "f32[2,7,P,Q]:(0,1,0,0)! "
               "f32[2,7,P,Q]:(9*P*Q,P*Q,1,P) -> f32[2,7,P,Q] results (10) where "
               "P in 1..9, Q in 1..40"),
        sample(same_size(),
               "4=image_conv2d(0,1):f32 5=mul(4,2):f32 6=add(5,3):f32 "
               "7=relu(6):f32 8=cast(7):f16",
               "f32[2,6,H,W] f32[12,1,3,3]! f32[2,12,H,W]:(0,1,0,0)! "
               "f32[2,12,H,W]:(0,0,W,1) -> f16[2,12,H,W] "
               "f32[2,12,H,W]:(12*H*(W+3),H*(W+3),W+3,1) results (8,6) where H "
               "in 1..40, W in 1..90"),
        sample(half_size(),
               "4=image_conv2d(0,1):f32 5=mul(2,4):f32 6=add(5,3):f32 "
               "7=relu(6):f32",
               "f32[2,6,2*P,2*Q] f32[12,1,3,3]! f32[2,12,P,Q]:(0,1,0,0)! f32[2,12,P,Q]:(0,1,0,0)! -> "
               "f32[2,12,P,Q] results (7) where P in 1..20, Q in 1..40"),
        sample(windows("1,1", "0,0,0,0", "1,1", "1,1"),
               "4=image_conv2d(0,1):f16 5=add(4,2):f16 6=gelu(5):f16 7=add(6,3):f16",
               "f16[3,9,5,P] f16[20,9,1,1]! f16[3,20,5,P]:(0,1,0,0)! f16[3,20,5,P] "
               "-> f16[3,20,5,P] results (7) where "
               "P in 1..9"),
        sample(half_size(),
               "4=image_conv2d(0,1):bf16 5=cast(4):f32 6=mul(2,5):f32 "
               "7=lt(6,3):bool",
               "bf16[1,8,2*P,2*Q] bf16[8,4,3,3]! f32[1,8,P,Q]:(0,1,0,0)! "
               "f32[1,8,P,Q]:(0,0,0,0) -> bool[1,8,P,Q] "
               "results (7) "
               "where P in 1..9, Q in 1..40"),
        "fused kernel=(3) padding=(1,1) stride=(1) dilation=(1) value=0 "
        "{3=image_conv1d(0,1):f32 4=add(3,2):f32 "
        "5=gelu(4):f32} | f32[2,5,L] f32[20,5,3]! f32[2,20,L]:(0,1,0)! -> "
        "f32[2,20,L] results (5) where L in 1..90",
        sample(same_size(), "3=image_conv2d(0,1):f32 4=add(3,2):f32 5=silu(4):f32",
               "f32[1,1,17,4100] f32[2,1,3,3]! f32[1,2,17,4100]:(0,1,0,0)! -> f32[1,2,17,4100] results (5)"),
        "fused {3=conv2d(0,1):f32 4=add(2,3):f32} | "
        "f32[2,3,P,Q,3,3]:(3*(P+2)*(Q+2),(P+2)*(Q+2),Q+2,1,Q+2,1) "
        "f32[5,3,3,3]! f32[2,5,P,Q] -> f32[2,5,P,Q] results (4) where P in 1..9, "
        "Q in 1..40",
    };
}

}  // namespace

void add_convolutions(std::vector<Kernel>& kernels, FeatureSet needs, const PanelTable& table) {
    Kernel fused = kernel(needs, table, "fused", "conv.fused@2");
    fused.accepts = accepts_fused;
    fused.cost = cost_of_fused;
    for (int input = 2; input < max_body_inputs; ++input) fused.in_place.push_back({input, 0});
    fused.samples = fused_samples();
    kernels.push_back(std::move(fused));
    Kernel image = kernel(needs, table, "image_conv2d", "image_conv2d@3");
    image.accepts = accepts_image_and_filters;
    image.cost = cost_of_conv;
    for (const char* const dtype : {"f32", "f16", "bf16"})
        for (std::string& sample : image_samples(dtype)) image.samples.push_back(std::move(sample));
    // With several threads the planes of some channels are cached at a time, twice.
    image.samples.push_back("image_conv2d " + windows("1,1", "0,0,0,0", "1,1", "1,1") +
                            " value=0 | f32[1,1230,13,20] f32[100,1230,1,1]! -> f32[1,100,13,20]");
    kernels.push_back(std::move(image));
    Kernel windows = kernel(needs, table, "conv2d", "conv2d@4");
    windows.accepts = accepts_windows;
    windows.cost = cost_of_conv;
    windows.samples = windows_samples();
    kernels.push_back(std::move(windows));
    Kernel row = kernel(needs, table, "image_conv1d", "image_conv1d@2");
    row.accepts = accepts_image_and_filters;
    row.cost = cost_of_conv;
    row.samples = row_samples();
    kernels.push_back(std::move(row));
    Kernel row_windows = kernel(needs, table, "conv1d", "conv1d@1");
    row_windows.accepts = accepts_windows;
    row_windows.cost = cost_of_conv;
    row_windows.samples = {
        "conv1d | f32[2,5,P,3]:(5*(2*P+1),2*P+1,2,1) "
        "f32[7,5,3]! -> f32[2,7,P] where P in 0..70"};
    kernels.push_back(std::move(row_windows));
    Kernel product = kernel(needs, table, "matmul", "conv.matmul.f32@2");
    product.accepts = accepts_product;
    product.cost = cost_of_product;
    product.samples = {
        "matmul | f32[M,K] f32[K,N] -> f32[M,N] where M in 1..30, "
        "K in 0..40, N in 1..100",
        "matmul | f32[B,1,M,33]:(0,0,40,1) f32[B,1,33,N] -> "
        "f32[B,1,M,N] where B in 1..3, M in 1..30, "
        "N in 1..50",
        "matmul | f32[M,3] f32[3,40] -> f32[M,40] where M in 2040..2100",
        "matmul | f32[2,60,1100]:(0,1100,1)! "
        "f32[2,1100,49]:(60000,50,1) -> f32[2,60,49]"};
    kernels.push_back(std::move(product));
}

}  // namespace cairn::kernels::cpu
