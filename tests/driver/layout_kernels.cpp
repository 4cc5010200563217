#include "tests/driver/layout_kernels.hpp"

#include "cairn/args.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

namespace cairn::test {
namespace {

using Index = std::vector<std::int64_t>;

/// An operand of a call: plain memory, or a sum of dense parts.
struct Operand {
    std::int64_t parts = 0;  ///< 0: plain

    static std::int64_t offset(const Index& at, const std::int64_t* strides) {
        return std::inner_product(at.begin(), at.end(), strides, std::int64_t{0});
    }
    static std::int64_t dense_offset(const Index& at, const TensorArg& arg) {
        std::int64_t offset = 0;
        for (std::size_t axis = 0; axis < at.size(); ++axis) offset = offset * arg.shape[axis] + at[axis];
        return offset;
    }
    static std::int64_t count(const TensorArg& arg) {
        return std::accumulate(arg.shape, arg.shape + arg.rank, std::int64_t{1}, std::multiplies<>());
    }
    float load(const TensorArg& arg, const Index& at) const {
        const auto* data = reinterpret_cast<const float*>(arg.data);
        if (parts == 0) return data[offset(at, arg.strides)];
        float sum = 0;
        for (std::int64_t part = 0; part < parts; ++part) sum += data[part * count(arg) + dense_offset(at, arg)];
        return sum;
    }
    // The parts are y/2, y/4, ..., and the last is as large as the one before, so that their sum is exact.
    void store(const TensorArg& arg, const Index& at, float value) const {
        auto* data = reinterpret_cast<float*>(arg.data);
        if (parts == 0) {
            data[offset(at, arg.strides)] = value;
            return;
        }
        for (std::int64_t part = 0; part < parts; ++part) {
            if (part + 1 < parts) value *= 0.5f;
            data[part * count(arg) + dense_offset(at, arg)] = value;
        }
    }
};

/// What a kernel computes of the elements of its inputs.
using Function = float (*)(float x, float y);

struct Prepared {
    Function function;
    std::vector<Operand> operands;  ///< inputs, then the output
};

bool next(Index& at, const TensorArg& arg) {
    for (std::size_t axis = at.size(); axis-- > 0;) {
        if (++at[axis] < arg.shape[axis]) return true;
        at[axis] = 0;
    }
    return false;
}

void run_elementwise(const Args& args, Team& team) {
    if (team.rank() != 0) return;
    const auto& prepared = *static_cast<const Prepared*>(args.prepared);
    const TensorArg& out = args.outputs[0];
    if (Operand::count(out) == 0) return;
    const std::size_t inputs = prepared.operands.size() - 1;
    Index at(static_cast<std::size_t>(out.rank), 0);
    do {
        const float x = prepared.operands[0].load(args.inputs[0], at);
        const float y = inputs > 1 ? prepared.operands[1].load(args.inputs[1], at) : 0.0f;
        prepared.operands[inputs].store(out, at, prepared.function(x, y));
    } while (next(at, out));
}

void run_matmul(const Args& args, Team& team) {
    if (team.rank() != 0) return;
    const auto& prepared = *static_cast<const Prepared*>(args.prepared);
    const TensorArg& out = args.outputs[0];
    if (Operand::count(out) == 0) return;
    const auto rank = static_cast<std::size_t>(out.rank);
    const std::int64_t depth = args.inputs[0].shape[rank - 1];
    Index at(rank, 0);
    do {
        float sum = 0;
        Index left = at, right = at;
        for (std::int64_t k = 0; k < depth; ++k) {
            left[rank - 1] = right[rank - 2] = k;
            sum += prepared.operands[0].load(args.inputs[0], left) * prepared.operands[1].load(args.inputs[1], right);
        }
        prepared.operands[2].store(out, at, sum);
    } while (next(at, out));
}

std::string layout_of(const Problem& problem, int) {
    return "parts." + std::to_string(parts_of_rank(problem.outputs[0].shape.size()));
}

Refusal accepts(const Problem& problem) {
    for (const auto* side : {&problem.inputs, &problem.outputs})
        for (const TensorDesc& tensor : *side) {
            if (tensor.dtype != DType::f32) return "needs f32";
            if (!tensor.layout.empty() && layout_parameter(tensor.layout) == 0) return "needs parts";
            const bool is_matmul = problem.definition == "matmul";
            if (!is_matmul && !tensor.layout.empty() && tensor.shape != problem.outputs[0].shape)
                return "needs parts of the shape of the output";
        }
    return {};
}

template <float (*function)(float, float)>
std::shared_ptr<const void> prepare(const Problem& problem, int) {
    auto prepared = std::make_shared<Prepared>(Prepared{function, {}});
    for (const auto* side : {&problem.inputs, &problem.outputs})
        for (const TensorDesc& tensor : *side) prepared->operands.push_back({layout_parameter(tensor.layout)});
    return prepared;
}

float first(float x, float) { return x; }
float neg(float x, float) { return -x; }
float absolute(float x, float) { return std::fabs(x); }
float exponential(float x, float) { return std::exp(x); }
float hyperbolic_tangent(float x, float) { return std::tanh(x); }
float sum(float x, float y) { return x + y; }
float difference(float x, float y) { return x - y; }
float product(float x, float y) { return x * y; }

template <float (*function)(float, float)>
Kernel kernel(const std::string& definition, int inputs) {
    Kernel made;
    made.id = "own.parts." + definition + "@1";
    made.definition = definition;
    made.accepts = accepts;
    made.run = definition == "matmul" ? run_matmul : run_elementwise;
    made.prepare = prepare<function>;
    made.cost = [](const Problem&) { return Cost{0, 0, 1}; };
    for (int input = 0; input < inputs; ++input) made.layout_inputs.push_back({input, "parts"});
    if (definition != "copy") made.output_layout = layout_of;
    return made;
}

}  // namespace

int parts_of_rank(std::size_t rank) { return 1 + static_cast<int>(rank % 3); }

ContextOptions with_layout_kernels() {
    ContextOptions options;
    options.extra.layouts = {{.name = "parts",
                              .bytes =
                                  [](const TensorDesc& tensor) {
                                      return element_count(tensor.shape) *
                                             Dim(static_cast<std::int64_t>(size_of(tensor.dtype)) *
                                                 layout_parameter(tensor.layout));
                                  },
                              .is_computed = true,
                              .has_parameter = true,
                              .holds_reshapes = true}};
    options.extra.kernels = {kernel<neg>("neg", 1),         kernel<absolute>("abs", 1),
                             kernel<exponential>("exp", 1), kernel<hyperbolic_tangent>("tanh", 1),
                             kernel<sum>("add", 2),         kernel<difference>("sub", 2),
                             kernel<product>("mul", 2),     kernel<first>("matmul", 2),
                             kernel<first>("copy", 1)};
    return options;
}

}  // namespace cairn::test
