#include "accuracy/kernel_check/kernel_error.hpp"

#include "accuracy/kernel_check/guarded_tensor.hpp"
#include "accuracy/kernel_check/kernel_runner.hpp"
#include "accuracy/kernel_check/random_operands.hpp"
#include "accuracy/kernel_check/tolerance.hpp"
#include "accuracy/metric/float_limits.hpp"
#include "device/compiled_kernel.hpp"
#include "graph/ir/problem_graph.hpp"

#include <algorithm>
#include <exception>

namespace cairn::kernel_check {
namespace {

bool is_readable(const TensorDesc& tensor) { return GuardedTensor::supports_layout(tensor.layout); }

}  // namespace

ErrorNorms error_norms(const interpreter::Value& got, const interpreter::Value& wanted) {
    if (got.shape != wanted.shape || got.dtype != wanted.dtype) return accuracy::infinite_error;
    if (!is_float(wanted.dtype)) return got.integers == wanted.integers ? ErrorNorms{} : accuracy::infinite_error;
    const auto for_each_pair = [&](const auto& visit) {
        for (std::size_t i = 0; i < wanted.data.size(); ++i) visit(got.data[i], wanted.data[i]);
    };
    return accuracy::error_norms(for_each_pair, [&](double y, double r) {
        return accuracy::is_same_number(y, r) || accuracy::is_overflow(y, r, wanted.dtype);
    });
}

bool is_comparable(const Problem& problem) {
    return std::all_of(problem.inputs.begin(), problem.inputs.end(), is_readable) &&
           std::all_of(problem.outputs.begin(), problem.outputs.end(), is_readable);
}

ErrorNorms error_norms(const Kernel& kernel, const Problem& problem, std::span<const Definition> definitions,
                       device::Backend& backend) {
    std::mt19937_64 random(1);
    RandomInputs inputs = random_inputs(problem, definitions, SpecialValues::none, random);
    std::vector<GuardedTensor> outputs;
    for (const TensorDesc& output : problem.outputs) outputs.emplace_back(output, std::uint8_t{0}, 0);
    std::vector<device::CompiledKernel> compiled;
    if (kernel.code) {
        const device::KernelToCompile only{&kernel, &problem};
        compiled = device::compile_kernels({&only, 1}, backend);
        if (compiled[0].fault) std::rethrow_exception(compiled[0].fault);
    }
    KernelCall call{kernel, problem, {}, inputs.tensors, outputs};
    call.compiled = compiled.empty() ? nullptr : compiled.data();
    call.threads = backend.threads();
    const RunOutcome outcome = KernelRunner(backend).run(call);
    std::string fault = outcome.fault;
    if (outcome.failure) fault += std::string(" fails: ") + outcome.failure->reason;
    for (const GuardedTensor& output : outputs)
        if (!output.guards_intact()) fault += " writes around an output";
    if (!fault.empty()) throw InternalError("check_kernel", kernel.id + fault);
    const Expected expected = evaluate_definition(problem, definitions, std::move(inputs.values));
    ErrorNorms largest;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const ErrorNorms one = error_norms(outputs[i].read(), expected.outputs[i]);
        largest.relative = std::max(largest.relative, one.relative);
        largest.largest = std::max(largest.largest, one.largest);
    }
    return largest;
}

double reference_operation_count(const Problem& problem, std::span<const Definition> definitions) {
    const Graph graph = ir::problem_graph(problem, definitions);
    double steps = 0;
    for (const ir::Node& node : graph.data()->nodes()) {
        double elements = static_cast<double>(element_count(node.shape).constant());
        if (node.op == ir::Op::matmul)
            elements *= static_cast<double>(graph.data()->node(node.operands[0]).shape.back().constant());
        for (const ir::NodeId operand : node.operands)
            elements =
                std::max(elements, static_cast<double>(element_count(graph.data()->node(operand).shape).constant()));
        steps += elements;
    }
    return steps;
}

bool halve(std::vector<std::int64_t>& sizes, std::span<const Symbols::Symbol> symbols) {
    bool changed = false;
    for (std::size_t s = 0; s < sizes.size(); ++s) {
        const std::int64_t half = std::max({symbols[s].low, std::int64_t{1}, sizes[s] / 2});
        changed = changed || half < sizes[s];
        sizes[s] = std::min(half, sizes[s]);
    }
    return changed;
}

}  // namespace cairn::kernel_check
