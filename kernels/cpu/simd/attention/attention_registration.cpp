#include "graph/types/attribute_number.hpp"
#include "graph/types/isa_levels.hpp"
#include "kernels/cpu/simd/attention/attention_plan.hpp"
#include "kernels/cpu/simd/plain_memory.hpp"
#include "kernels/cpu/simd/table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

namespace cairn::kernels::cpu {
namespace {

constexpr std::int64_t max_depth = 1024;

double masked_score(const Problem& problem) {
    return types::number_or(problem.attributes, "masked_score", std::numeric_limits<float>::lowest());
}

/// Adds leading axes of size 1 up to four axes; of five axes, those of groups and of heads in a group are merged.
Shape with_four_axes(Shape shape) {
    if (shape.size() == 5) {
        shape[1] = shape[1] * shape[2];
        shape.erase(shape.begin() + 2);
    }
    while (shape.size() < 4) shape.insert(shape.begin(), Dim(1));
    return shape;
}

/// Five axes mean grouped heads: q, k, v and the output must all have them, with one head of k and v in each group.
Refusal accepts_groups(const Problem& problem) {
    const Shape& q = problem.inputs[0].shape;
    for (const TensorDesc* tensor : {&problem.inputs[1], &problem.inputs[2], &problem.outputs[0]}) {
        const Shape& shape = tensor->shape;
        if ((shape.size() == 5) != (q.size() == 5)) return "needs five axes of q, k, v and the output";
        if (shape.size() != 5) continue;
        const bool is_output = tensor == problem.outputs.data();
        if (!(shape[1] == q[1]) || !(shape[2] == (is_output ? q[2] : Dim(1))))
            return "needs one head of k in each group";
    }
    for (std::size_t i = 3; i < problem.inputs.size(); ++i) {
        const Shape& mask = problem.inputs[i].shape;
        if (mask.size() != 5) continue;
        const bool is_one = mask[1] == Dim(1) && mask[2] == Dim(1);
        if (q.size() != 5 || (!is_one && !(mask[1] == q[1] && mask[2] == q[2])))
            return "needs a mask of all heads or one for all";
    }
    return {};
}

Refusal accepts_shapes(const Problem& problem) {
    for (const TensorDesc* tensor : {&problem.inputs[0], &problem.inputs[1], &problem.inputs[2], &problem.outputs[0]})
        if (tensor->shape.size() < 2) return "needs two to five axes";
    if (Refusal no = accepts_groups(problem); !no.empty()) return no;
    const Shape q = with_four_axes(problem.inputs[0].shape), k = with_four_axes(problem.inputs[1].shape),
                v = with_four_axes(problem.inputs[2].shape), out = with_four_axes(problem.outputs[0].shape);
    for (const Shape* shape : {&q, &k, &v, &out}) {
        if (!shape->back().is_constant()) return "needs a constant head size";
        if (shape->back().constant() < 1 || shape->back().constant() > max_depth)
            return "needs a head size of 1 to 1024";
    }
    if (!(k[2] == v[2]) || !(k[1] == v[1]) || !(q[3] == k[3])) return "sizes of q, k and v disagree";
    if (!(q[0] == k[0]) || !(k[0] == v[0])) return "batches differ";
    if (!q[1].is_constant() || !k[1].is_constant() || k[1].constant() < 1 || q[1].constant() % k[1].constant() != 0) {
        return "needs constant numbers of heads, those of q a multiple of those of k";
    }
    return out == Shape{q[0], q[1], q[2], v[3]} ? Refusal() : "the output has another shape than [B,H,T,D]";
}

bool flag(const Problem& problem, std::string_view name) { return types::number_or(problem.attributes, name, 0) != 0; }

/// True for a mask of pairs or a bias: each axis has the size of the scores' axis, or 1.
bool is_beside_scores(const TensorDesc& tensor, const Problem& problem) {
    const Shape q = with_four_axes(problem.inputs[0].shape), k = with_four_axes(problem.inputs[1].shape);
    const Shape shape = with_four_axes(tensor.shape), scores{q[0], q[1], q[2], k[2]};
    for (std::size_t i = 0; i < scores.size(); ++i)
        if (!(shape[i] == scores[i]) && !(shape[i] == Dim(1))) return false;
    return true;
}

Refusal accepts_mask(const Problem& problem) {
    const TensorDesc& mask = problem.inputs[3];
    const Shape k = with_four_axes(problem.inputs[1].shape);
    const bool is_boolean = mask.dtype == DType::boolean;
    if (flag(problem, "hides") && !is_boolean) return "needs a boolean mask with hides=(1)";
    if (!flag(problem, "pairs"))
        return is_boolean && mask.shape == Shape{k[0], k[2]} ? Refusal() : "needs a boolean key mask [B,S]";
    if (!is_boolean && mask.dtype != DType::f32) return "needs a mask that is boolean or f32";
    return is_beside_scores(mask, problem) ? Refusal() : "needs a mask of pairs with axes of [B,H,T,S] or 1";
}

Refusal accepts_bias(const Problem& problem) {
    if (!flag(problem, "pairs")) return "needs a mask with pairs=(1) before a bias";
    if (problem.inputs[4].dtype != DType::f32) return "needs an f32 bias";
    return is_beside_scores(problem.inputs[4], problem) ? Refusal() : "needs a bias with axes of [B,H,T,S] or 1";
}

Refusal accepts_softcap(const Problem& problem) {
    if (!problem.attributes.has("softcap")) return {};
    const double cap = types::number_or(problem.attributes, "softcap", 0);
    return cap >= 1e-30 && cap <= 1e30 ? Refusal() : "needs a softcap of 1e-30 to 1e30";
}

/// Window size: the number of keys up to its own that a query sees; 0: no window.
std::int64_t window_of(const Problem& problem) {
    return static_cast<std::int64_t>(types::number_or(problem.attributes, "window", 0));
}

Refusal accepts_window(const Problem& problem) {
    if (!problem.attributes.has("window")) return {};
    const double window = types::number_or(problem.attributes, "window", 0);
    return window >= 1 && window <= std::numeric_limits<std::int32_t>::max() && window == std::floor(window)
               ? Refusal()
               : "needs a window of 1 to 2^31 - 1 keys";
}

Refusal accepts(const Problem& problem) {
    const std::size_t count = problem.inputs.size();
    if (count < 3 || count > 5 || problem.outputs.size() != 1)
        return "needs q, k, v, at most a mask and a bias, and one output";
    if (Refusal no = needs_plain(problem, 5); !no.empty()) return no;
    for (int i = 0; i < 3; ++i)
        if (!is_last_contiguous(problem.inputs[static_cast<std::size_t>(i)])) return "needs a contiguous last axis";
    const DType stored = problem.inputs[1].dtype;
    if (stored != problem.inputs[2].dtype) return "needs keys and values of one dtype";
    if (stored != DType::f32 && stored != DType::bf16 && stored != DType::f16) return "needs f32, bf16 or f16 keys";
    if (problem.inputs[0].dtype != DType::f32 || problem.outputs[0].dtype != DType::f32) return "needs f32";
    if (!is_last_contiguous(problem.outputs[0])) return "needs a contiguous last axis";
    if (Refusal no = accepts_shapes(problem); !no.empty()) return no;
    if (count > 3)
        if (Refusal no = accepts_mask(problem); !no.empty()) return no;
    if (count > 4)
        if (Refusal no = accepts_bias(problem); !no.empty()) return no;
    if (flag(problem, "adds_to_hidden") && problem.inputs.back().dtype != DType::f32) return "needs something added";
    if (Refusal no = accepts_softcap(problem); !no.empty()) return no;
    if (Refusal no = accepts_window(problem); !no.empty()) return no;
    const double causal = types::number_or(problem.attributes, "causal", 0);
    if (causal != 0 && causal != 1) return "causal must be 0 or 1";
    const double hidden = masked_score(problem);
    return hidden < std::numeric_limits<double>::infinity() ? Refusal() : "needs a masked score below infinity";
}

AttentionMask mask_of(const Problem& problem) {
    if (problem.inputs.size() < 4) return AttentionMask::none;
    return problem.inputs[3].dtype == DType::boolean ? AttentionMask::boolean : AttentionMask::added;
}

/// Key heads of all batches.
Dim heads_of_keys(const Problem& problem) {
    const Shape k = with_four_axes(problem.inputs[1].shape);
    return k[0] * k[1];
}

/// Maximal rows of a tile that may be split along its keys, over all sizes; 0 if no tile is split.
std::int64_t rows_of_parts(const Problem& problem) {
    const Shape q = with_four_axes(problem.inputs[0].shape), k = with_four_axes(problem.inputs[1].shape);
    const Dim rows = q[2] * floordiv(q[1], k[1]);
    const std::int64_t tiles = (rows.lower_bound() + max_tile_rows - 1) / max_tile_rows;
    if (k[2].upper_bound() <= min_keys || heads_of_keys(problem).lower_bound() * tiles >= enough_items) return 0;
    return rows.upper_bound() < max_tile_rows ? (rows.upper_bound() + 15) / 16 * 16 : max_tile_rows;
}

AttentionPlan plan_of(const Problem& problem) {
    AttentionPlan plan{};
    plan.depth = problem.inputs[0].shape.back().constant();
    plan.value_depth = problem.inputs[2].shape.back().constant();
    plan.stored = problem.inputs[1].dtype;
    plan.scale = static_cast<float>(
        types::number_or(problem.attributes, "scale", 1 / std::sqrt(static_cast<double>(plan.depth))));
    plan.masked_score = static_cast<float>(masked_score(problem));
    plan.softcap = static_cast<float>(types::number_or(problem.attributes, "softcap", 0));
    plan.causal = flag(problem, "causal");
    plan.window = window_of(problem);
    plan.has_bias = problem.inputs.size() > 4;
    plan.mask = mask_of(problem);
    plan.mask_of_pairs = flag(problem, "pairs");
    plan.mask_hides = flag(problem, "hides");
    plan.adds_to_hidden = flag(problem, "adds_to_hidden");
    plan.key_block =
        std::max(plan.depth, plan.value_depth) <= 256 ? max_key_block : 32;  // so that widened blocks stay in L2
    plan.part_rows = rows_of_parts(problem);
    return plan;
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    return std::make_shared<AttentionPlan>(plan_of(problem));
}
Dim workspace(const Problem& problem, int threads) {
    const AttentionPlan plan = plan_of(problem);
    const Dim blocks = ceildiv(with_four_axes(problem.inputs[1].shape)[2], plan.key_block);
    return plan.bytes_per_member() * threads + plan.bytes_of_parts() +
           (plan.may_hide() ? heads_of_keys(problem) * blocks : Dim(0));
}

Cost cost(const Problem& problem) {
    const Shape q = with_four_axes(problem.inputs[0].shape), k = with_four_axes(problem.inputs[1].shape);
    const double queries = static_cast<double>(q[2].constant()), keys = static_cast<double>(k[2].constant());
    const bool causal = types::number_or(problem.attributes, "causal", 0) != 0;
    double seen = causal && keys >= queries ? keys - (queries - 1) / 2 : keys;
    if (const std::int64_t window = window_of(problem); causal && window > 0)
        seen = std::min(seen, static_cast<double>(window));
    const double depths = static_cast<double>(q[3].constant() + problem.inputs[2].shape.back().constant());
    const double pairs = static_cast<double>(q[0].constant() * q[1].constant()) * queries * seen;
    const double around = problem.attributes.has("softcap") ? 50 : 20;
    return {pairs * (2 * depths + around), bytes_of(problem), 0.6};
}

}  // namespace

void add_attention(std::vector<Kernel>& kernels, FeatureSet needs, const SimdTable& table) {
    Kernel made;
    made.id = "cpu." + std::string(isa_level_name(needs)) + ".attention.f32@8";
    made.definition = "attention";
    made.needs = needs;
    made.accepts = accepts;
    made.run = table.attention;
    made.workspace = workspace;
    made.cost = cost;
    made.prepare = prepare;
    made.widened_inputs = {1, 2};
    made.samples = {
        "attention causal=(0) scale=0.125 masked_score=-3.4028234663852886e+38 | f32[2,3,T,64] f32[2,3,S,64] "
        "f32[2,3,S,64] -> f32[2,3,T,64] where T in 1..80, S in 1..300",
        "attention causal=(1) scale=0.125 masked_score=-3.4028234663852886e+38 | f32[1,4,T,64] f32[1,2,P+T,64] "
        "f32[1,2,P+T,64] -> f32[1,4,T,64] where P in 0..300, T in 1..40",
        "attention causal=(1) scale=0.25 masked_score=-inf | f32[2,2,T,17] f32[2,2,T,17]:(2048,1024,17,1) "
        "f32[2,2,T,17]:(2048,1024,17,1) -> f32[2,2,T,17]:(34*T,17,34,1) where T in 1..60",
        "attention causal=(0) scale=0.125 masked_score=-3.4028234663852886e+38 | f32[2,3,T,64]:(192*T,64,192,1) "
        "f32[2,3,T,64]:(192*T,64,192,1) f32[2,3,T,64]:(192*T,64,192,1) bool[2,T] -> f32[2,3,T,64]:(192*T,64,192,1) "
        "where T in 1..150",
        "attention causal=(1) scale=0.5 masked_score=-1e+30 | f32[3,T,8] f32[3,S,8] f32[3,S,9] -> f32[3,T,9] where T "
        "in "
        "1..40, S in 1..90",
        "attention causal=(0) scale=0.5 | f32[T,8] f32[S,8] f32[S,8] -> f32[T,8] where T in 1..40, S in 1..90",
        "attention causal=(1) scale=0.125 masked_score=-1e+30 | f32[2,2,T,8] f32[2,1,S,8] f32[2,1,S,8] bool[2,S] -> "
        "f32[2,2,T,8] where T in 1..90, S in 1..90",
        "attention causal=(0) hides=(1) scale=0.5 masked_score=-10000 | f32[2,2,T,8] f32[2,2,S,8] f32[2,2,S,8] "
        "bool[2,S]:(2*S,2) -> f32[2,2,T,8] where T in 1..90, S in 1..90",
        "attention causal=(0) pairs=(1) scale=0.5 masked_score=-1e+30 | f32[T,8] f32[S,8] f32[S,8] bool[T,S] -> "
        "f32[T,8] "
        "where T in 1..40, S in 1..300",
        "attention causal=(0) pairs=(1) scale=0.5 | f32[T,8] f32[S,8] f32[S,8] f32[T,S] -> f32[T,8] where T in 1..40, "
        "S "
        "in 1..300",
        "attention causal=(1) pairs=(1) scale=0.5 masked_score=-1e+30 | f32[2,4,T,8] f32[2,2,S,8] f32[2,2,S,8] "
        "f32[2,1,1,S] -> f32[2,4,T,8] where T in 1..80, S in 1..300",
        "attention causal=(1) pairs=(1) hides=(1) scale=0.5 masked_score=-1 | f32[2,4,T,8] f32[2,2,S,8] f32[2,2,S,8] "
        "bool[1,4,T,S] -> f32[2,4,T,8] where T in 1..30, S in 1..50",
        "attention causal=(0) pairs=(1) adds_to_hidden=(1) scale=0.5 masked_score=-1 | f32[3,T,8] f32[3,S,8] "
        "f32[3,S,8] bool[T,1] f32[3,1,S]:(2*S,2*S,2) -> f32[3,T,8] where T in 1..30, S in 1..300",
        "attention causal=(1) pairs=(1) adds_to_hidden=(1) scale=0.5 masked_score=-1e+30 | f32[2,4,T,8] f32[2,2,S,8] "
        "f32[2,2,S,8] f32[2,1,1,S] f32[1,4,T,S] -> f32[2,4,T,8] where T in 1..60, S in 1..90",
        "attention causal=(1) scale=0.5 masked_score=-1e+30 | f32[2,3,4,T,8]:(96*T,8,24,96,1) f32[2,3,1,S,8] "
        "f32[2,3,1,S,9] -> f32[2,3,4,T,9] where T in 1..40, S in 1..50",
        "attention causal=(0) scale=0.5 masked_score=-1e+30 | f32[2,3,2,T,8] f32[2,3,1,S,8] f32[2,3,1,S,8] bool[2,S] "
        "-> f32[2,3,2,T,8]:(48*T,8,24,48,1) where T in 1..40, S in 1..50",
        "attention causal=(0) pairs=(1) scale=0.5 | f32[2,3,2,T,8] f32[2,3,1,S,8] f32[2,3,1,S,8] f32[2,3,2,T,S] -> "
        "f32[2,3,2,T,8] where T in 1..40, S in 1..50",
        "attention causal=(0) pairs=(1) scale=0.5 masked_score=-1e+30 | f32[2,3,2,T,8] f32[2,3,1,S,8] f32[2,3,1,S,8] "
        "bool[2,1,1,T,S] -> f32[2,3,2,T,8] where T in 1..40, S in 1..50",
        "attention causal=(0) softcap=3 scale=0.5 | f32[2,3,T,8] f32[2,3,S,8] f32[2,3,S,9] -> f32[2,3,T,9] where T in "
        "1..90, S in 1..300",
        "attention causal=(1) pairs=(1) softcap=1.5 scale=0.5 masked_score=-1e+30 | f32[2,4,T,8] f32[2,2,S,8] "
        "f32[2,2,S,8] f32[2,1,T,S] -> f32[2,4,T,8] where T in 1..40, S in 1..90",
        "attention causal=(0) pairs=(1) scale=0.5 | f32[2,4,T,8] f32[2,4,S,8] f32[2,4,S,8] f32[2,1,1,S] f32[1,4,T,S] "
        "-> f32[2,4,T,8] where T in 1..80, S in 1..300",
        "attention causal=(1) pairs=(1) hides=(1) scale=0.5 masked_score=-1 | f32[2,4,T,8] f32[2,2,S,8] f32[2,2,S,8] "
        "bool[2,1,T,S] f32[1,4,1,S]:(8*S,2*S,2*S,2) -> f32[2,4,T,8] where T in 1..40, S in 1..50",
        "attention causal=(0) pairs=(1) softcap=2 scale=0.5 masked_score=-1e+30 | f32[2,3,2,T,8] f32[2,3,1,S,8] "
        "f32[2,3,1,S,8] bool[2,1,1,1,S] f32[1,3,2,T,S] -> f32[2,3,2,T,8] where T in 1..40, S in 1..50",
        "attention causal=(1) scale=0.125 masked_score=-3.4028234663852886e+38 | f32[1,4,T,64] bf16[1,2,P+T,64] "
        "bf16[1,2,P+T,64] -> f32[1,4,T,64] where P in 0..300, T in 1..40",
        "attention causal=(1) scale=0.25 masked_score=-1e+30 | f32[3,T,17] f16[3,S,17] f16[3,S,9] -> f32[3,T,9] where "
        "T in 1..40, S in 1..90",
        "attention causal=(0) scale=0.125 masked_score=-3.4028234663852886e+38 | f32[2,3,T,64] "
        "f16[2,3,S,64]:(20480*3,20480,64,1) f16[2,3,S,64]:(20480*3,20480,64,1) bool[2,S] -> f32[2,3,T,64] where T in "
        "1..80, S in 1..300",
        "attention causal=(0) pairs=(1) scale=0.5 masked_score=-1e+30 | f32[2,4,T,8] bf16[2,2,S,8] bf16[2,2,S,8] "
        "bool[2,1,T,S] -> f32[2,4,T,8] where T in 1..40, S in 1..300",
        "attention causal=(1) scale=0.5 masked_score=-1e+30 | f32[B,6,T,8] f32[B,2,S,8] f32[B,2,S,9] -> f32[B,6,T,9] "
        "where B in 0..2, T in 0..60, S in 0..1100",
        "attention causal=(0) scale=0.5 masked_score=-1e+30 | f32[1,4,T,20] f16[1,1,S,20] f16[1,1,S,20] bool[1,S] -> "
        "f32[1,4,T,20] where T in 1..60, S in 1..1100",
        "attention causal=(1) window=(31) scale=0.125 masked_score=-1e+30 | f32[1,4,T,64] f32[1,2,P+T,64] "
        "f32[1,2,P+T,64] -> f32[1,4,T,64] where P in 0..300, T in 1..90",
        "attention causal=(0) window=(5) scale=0.5 masked_score=-1e+30 | f32[3,T,8] f32[3,S,8] f32[3,S,9] -> "
        "f32[3,T,9] "
        "where T in 1..90, S in 1..300",
        "attention causal=(1) window=(200) softcap=3 scale=0.5 masked_score=-1 | f32[2,4,T,8] bf16[2,2,S,8] "
        "bf16[2,2,S,8] -> f32[2,4,T,8] where T in 1..40, S in 1..1100",
        "attention causal=(1) window=(40) scale=0.5 masked_score=-1e+30 | f32[2,4,T,8] f16[2,2,S,8] f16[2,2,S,8] "
        "bool[2,S] "
        "-> f32[2,4,T,8] where T in 1..60, S in 1..300",
        "attention causal=(1) pairs=(1) hides=(1) window=(20) scale=0.5 masked_score=-1e+30 | f32[2,4,T,8] "
        "f32[2,2,S,8] f32[2,2,S,8] bool[2,1,T,S] f32[1,4,1,S] -> f32[2,4,T,8] where T in 1..60, S in 1..200",
        "attention causal=(0) pairs=(1) window=(9) softcap=2 scale=0.5 masked_score=-inf | f32[2,T,8] f32[2,S,8] "
        "f32[2,S,8] f32[1,S] -> f32[2,T,8] where T in 1..60, S in 1..200",
    };
    kernels.push_back(std::move(made));
}

}  // namespace cairn::kernels::cpu
