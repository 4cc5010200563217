#include "kernels/cpu/simd/movement/strided_copy.hpp"
#include "kernels/cpu/simd/plain_memory.hpp"
#include "kernels/cpu/simd/table.hpp"

#include <memory>
#include <string>

/// Registers ops that only move elements: copy, the movement ops that cannot be views, and concat. The code is the same
/// at all levels (memcpy dispatches itself), so the kernels belong to the baseline.
namespace cairn::kernels::cpu {
namespace {

enum class Move : std::uint8_t { same, transpose, broadcast, slice, window, reshape };

struct MovePlan {
    Move move = Move::same;
    int axis = 0, start_at = 0;  ///< of a slice: its axis, and the index of its start in Args::dims
    std::int64_t step = 1, dilation = 1, bytes = 4;
    int permutation[max_copy_rank] = {};
};

StridedCopy job_of(const MovePlan& plan, const Args& args) {
    const TensorArg &in = args.inputs[0], &out = args.outputs[0];
    StridedCopy job;
    job.to = out.data;
    job.from = in.data;
    job.bytes = plan.bytes;
    if (plan.move == Move::reshape) {
        // The output is dense, so it can be traversed in the shape of the input.
        std::int64_t dense[max_copy_rank], stride = 1;
        for (int axis = in.rank - 1; axis >= 0; --axis) {
            dense[axis] = stride;
            stride *= in.shape[axis];
        }
        for (int axis = 0; axis < in.rank; ++axis) job.add_axis(in.shape[axis], dense[axis], in.strides[axis]);
        return job;
    }
    for (int axis = 0; axis < out.rank; ++axis) {
        std::int64_t from = 0;
        if (plan.move == Move::window && axis == in.rank) {
            job.add_axis(out.shape[axis], out.strides[axis], in.strides[plan.axis] * plan.dilation);
            continue;
        }
        const int source = plan.move == Move::broadcast   ? axis - (out.rank - in.rank)
                           : plan.move == Move::transpose ? plan.permutation[axis]
                                                          : axis;
        if (source >= 0 && (plan.move != Move::broadcast || in.shape[source] != 1)) from = in.strides[source];
        if (plan.move == Move::slice && axis == plan.axis) {
            if (out.shape[axis] > 0) job.from += args.dims[plan.start_at] * from * plan.bytes;
            from *= plan.step;
        }
        if (plan.move == Move::window && axis == plan.axis) from *= plan.step;
        job.add_axis(out.shape[axis], out.strides[axis], from);
    }
    return job;
}

void run_move(const Args& args, Team& team) {
    std::int64_t chunk = team.next_chunk();
    copy_chunks(job_of(*static_cast<const MovePlan*>(args.prepared), args), team, 0, chunk);
}

Refusal accepts_move(const Problem& problem) {
    if (Refusal no = needs_plain(problem, max_copy_rank); !no.empty()) return no;
    if (problem.inputs.size() != 1 || problem.outputs.size() != 1) return "needs one input and one output";
    if (problem.inputs[0].dtype != problem.outputs[0].dtype) return "needs one dtype";
    if (problem.definition == "reshape" && !problem.outputs[0].is_dense()) return "needs a dense output";
    return {};
}

std::shared_ptr<const void> prepare_move(const Problem& problem, int) {
    auto plan = std::make_shared<MovePlan>();
    const std::size_t rank = problem.inputs[0].shape.size();
    plan->bytes = static_cast<std::int64_t>(size_of(problem.inputs[0].dtype));
    if (problem.definition == "transpose") {
        plan->move = Move::transpose;
        int i = 0;
        for (const Dim& axis : problem.attributes.dims("permutation"))
            plan->permutation[i++] = axis_index(axis.constant(), rank);
    } else if (problem.definition == "broadcast") {
        plan->move = Move::broadcast;
    } else if (problem.definition == "reshape") {
        plan->move = Move::reshape;
    } else if (problem.definition == "slice") {
        plan->move = Move::slice;
        plan->axis = axis_index(problem.attributes.integer("axis"), rank);
        plan->start_at = position_of_list(problem.attributes, "start");
        plan->step = problem.attributes.integer("step");
    } else if (problem.definition == "window") {
        plan->move = Move::window;
        plan->axis = axis_index(problem.attributes.integer("axis"), rank);
        plan->step = problem.attributes.integer("stride");
        plan->dilation = problem.attributes.integer("dilation");
    }
    return plan;
}

struct ConcatPlan {
    int inputs = 0, axis = 0;
    std::int64_t bytes = 4;
};

void run_concat(const Args& args, Team& team) {
    const auto& plan = *static_cast<const ConcatPlan*>(args.prepared);
    const TensorArg& out = args.outputs[0];
    std::int64_t chunk = team.next_chunk(), first = 0, position = 0;
    for (int i = 0; i < plan.inputs; ++i) {
        const TensorArg& in = args.inputs[i];
        StridedCopy job;
        job.to = out.data + position * out.strides[plan.axis] * plan.bytes;
        job.from = in.data;
        job.bytes = plan.bytes;
        for (int axis = 0; axis < out.rank; ++axis) job.add_axis(in.shape[axis], out.strides[axis], in.strides[axis]);
        first = copy_chunks(job, team, first, chunk);
        position += in.shape[plan.axis];
    }
}

Refusal accepts_concat(const Problem& problem) {
    if (Refusal no = needs_plain(problem, max_copy_rank); !no.empty()) return no;
    if (problem.inputs.empty() || problem.outputs.size() != 1) return "needs inputs and one output";
    for (const TensorDesc& input : problem.inputs) {
        if (input.dtype != problem.outputs[0].dtype || input.shape.size() != problem.outputs[0].shape.size())
            return "needs one dtype and rank";
    }
    return {};
}

std::shared_ptr<const void> prepare_concat(const Problem& problem, int) {
    auto plan = std::make_shared<ConcatPlan>();
    plan->inputs = static_cast<int>(problem.inputs.size());
    plan->axis = axis_index(problem.attributes.integer("axis"), problem.outputs[0].shape.size());
    plan->bytes = static_cast<std::int64_t>(size_of(problem.outputs[0].dtype));
    return plan;
}

Kernel kernel(const std::string& name, const std::string& version, Refusal (*accepts)(const Problem&), Run run,
              std::shared_ptr<const void> (*prepare)(const Problem&, int), std::vector<std::string> samples) {
    Kernel made;
    made.id = "cpu.baseline." + name + "@" + version;
    made.definition = name;
    made.accepts = accepts;
    made.run = run;
    made.prepare = prepare;
    made.cost = [](const Problem& problem) {
        double bytes = 0;
        for (const TensorDesc& output : problem.outputs) {
            bytes += 2 * static_cast<double>(element_count(output.shape).constant()) *
                     static_cast<double>(size_of(output.dtype));
        }
        return Cost{0, bytes, 0.25};
    };
    made.samples = std::move(samples);
    return made;
}

void add_moves(std::vector<Kernel>& kernels) {
    const auto move = [&](const std::string& name, const std::string& version, std::vector<std::string> samples) {
        kernels.push_back(kernel(name, version, accepts_move, run_move, prepare_move, std::move(samples)));
    };
    move("copy", "2",
         {"copy | f32[T,8]:(1,T) -> f32[T,8]:(20,1) where T in 1..3000",
          "copy | f32[3,T,8] -> f32[3,T,8]:(512,8,1) where T in 1..64",
          "copy | bool[4,N]:(0,1) -> bool[4,N] where N in 0..90", "copy | bf16[] -> bf16[]",
          "copy | i64[5,N]:(1,5) -> i64[5,N] where N in 1..300",
          "copy | i8[7,N]:(1,0) -> i8[7,N]:(N,1) where N in 1..60",
          "copy | u8[300,N]:(2,1) -> u8[300,N] where N in 1..80",
          "copy | u8[300,N]:(90,1) -> u8[300,N]:(81,1) where N in 1..80", "copy | f16[3,90,3]:(500,2,1) -> f16[3,90,3]",
          "copy | i64[70,2]:(1,1) -> i64[70,2]", "copy | f32[N,5]:(1,130) -> f32[N,5]:(7,1) where N in 1..130"});
    move("copy_to", "2", {"copy_to device=(0) | f32[3,N] -> f32[3,N] where N in 0..50"});
    move("transpose", "4",
         {"transpose permutation=(-2,-3,-1) | f32[T,4,9] -> f32[4,T,9] where T in 0..700",
          "transpose permutation=(-1,-2) | i64[33,N] -> i64[N,33] where N in 1..140",
          "transpose permutation=(-1,-2) | f16[N,83] -> f16[83,N] where N in 1..140",
          "transpose permutation=(-1,-2) | f32[N,71] -> f32[71,N]:(150,1) where N in 1..140",
          "transpose permutation=(-1,-2) | u8[81,N] -> u8[N,81] where N in 1..140",
          "transpose permutation=(-1,-3,-2) | bf16[3,4,5]:(40,10,2) -> bf16[5,3,4]",
          "transpose permutation=(-4,-2,-1,-3) | i8[2,9,4,37] -> i8[2,4,37,9]",
          "transpose permutation=(-3,-4,-2,-1) | i8[9,T,2,2] -> i8[T,9,2,2] where T in 1..80",
          "transpose permutation=(-3,-1,-2) | u8[2,N,3] -> u8[2,3,N] where N in 1..3000",
          "transpose permutation=(-1,-2) | f32[N,3]:(3,1) -> f32[3,N]:(100,1) where N in 1..90",
          "transpose permutation=(-2,-3,-1) | f16[9,70,4]:(280,4,1) -> f16[70,9,4]:(40,4,1)"});
    move("broadcast", "2",
         {"broadcast shape=(3,N,4) | f32[N,1] -> f32[3,N,4] where N in 0..900",
          "broadcast shape=(5,2) | bool[] -> bool[5,2]", "broadcast shape=(2,6) | u8[6]:(3) -> u8[2,6]",
          "broadcast shape=(N,7) | f32[7] -> f32[N,7] where N in 1..900",
          "broadcast shape=(N,1100) | f64[1100] -> f64[N,1100] where N in 1..9",
          "broadcast shape=(2,N,3) | i8[2,1,3] -> i8[2,N,3] where N in 1..3000"});
    move("reshape", "2",
         {"reshape shape=(N,12) | f32[N,3,4] -> f32[N,12] where N in 0..900",
          "reshape shape=(12,N) | f16[3,N,4]:(N,1,3*N) -> f16[12,N] where N in 1..70",
          "reshape shape=() | f64[1,1] -> f64[]"});
    move("slice", "2",
         {"slice axis=(-2) start=(2) stop=(N) step=(1) | f32[3,N,4] -> f32[3,N-2,4] where N in 2..90",
          "slice axis=(-1) start=(1) stop=(9) step=(3) | i32[4,10] -> i32[4,3]",
          "slice axis=(-1) start=(1) stop=(2*N+1) step=(2) | u8[4,2*N+1] -> u8[4,N] where N in 1..90",
          "slice axis=(-1) start=(0) stop=(4*N) step=(4) | f64[3,4*N] -> f64[3,N] where N in 1..90",
          "slice axis=(-1) start=(N) stop=(N+5) step=(2) | f16[4,N+5] -> f16[4,3] where N in 0..20"});
    move("window", "3",
         {"window axis=(-1) size=(3) stride=(1) dilation=(1) | f32[5,N+2] -> f32[5,N,3] where N in 1..90",
          "window axis=(-2) size=(2) stride=(2) dilation=(3) | i8[3,2*N+3,4] -> i8[3,N,4,2] where N in 1..40",
          "window axis=(-3) size=(4) stride=(1) dilation=(1) | f64[9,2,3]:(1,9,20) -> f64[6,2,3,4]"});
}

}  // namespace

void add_copies(std::vector<Kernel>& kernels) {
    add_moves(kernels);
    kernels.push_back(kernel("concat", "3", accepts_concat, run_concat, prepare_concat,
                             {"concat axis=(-1) | f32[3,N] f32[3,5] f32[3,1] -> f32[3,N+6] where N in 0..400",
                              "concat axis=(-2) | i64[2,N,4]:(1,8,2) i64[2,3,4] -> i64[2,N+3,4] where N in 1..200",
                              "concat axis=(-3) | u8[1,2,3] u8[5,2,3] -> u8[6,2,3]"}));
}

}  // namespace cairn::kernels::cpu
