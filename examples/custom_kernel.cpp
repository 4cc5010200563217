// Adds a composite and a kernel to Cairn: softplus(x) = log(1 + e^x), computed in one pass. The definition states in
// atomic ops what the kernel computes. Cairn matches it in graphs and selects the kernel where it is the fastest.
// check_kernels() compares the kernel with its definition, as the tests of a program should.

#include <cairn/cairn.hpp>

#include <cmath>
#include <iostream>

namespace {

using namespace cairn;

/// The definition, in atomic ops only. It is the pattern to match, the fallback and the test oracle.
Tensor softplus(const Operand& x) { return log(exp(x) + 1); }

/// Returns why the kernel cannot compute a Problem; an empty Refusal accepts it. Inputs and outputs may have any
/// strides: an output that is appended to a state has the strides of the state. run() reads and writes contiguous
/// memory, so only dense tensors are accepted.
Refusal accepts(const Problem& problem) {
    for (const auto* operands : {&problem.inputs, &problem.outputs})
        for (const TensorDesc& tensor : *operands) {
            if (tensor.dtype != DType::f32) return "computes f32 only";
            if (!tensor.is_dense()) return "needs dense memory";
        }
    return {};
}

/// Computes this thread's share of the elements.
void run(const Args& args, Team& team) {
    std::int64_t count = 1;
    for (int i = 0; i < args.outputs[0].rank; ++i) count *= args.outputs[0].shape[i];
    const auto* x = reinterpret_cast<const float*>(args.inputs[0].data);
    auto* y = reinterpret_cast<float*>(args.outputs[0].data);
    for (std::int64_t i = count * team.rank() / team.size(); i < count * (team.rank() + 1) / team.size(); ++i)
        y[i] = x[i] > 0 ? x[i] + std::log1p(std::exp(-x[i])) : std::log1p(std::exp(x[i]));
}

KernelSet own_kernels() {
    Definition definition;
    definition.name = "softplus";
    definition.build = [](std::span<const Tensor> x, const Attributes&) { return std::vector<Tensor>{softplus(x[0])}; };
    definition.patterns = {"softplus | f32[N]"};
    Kernel kernel;
    kernel.id = "own.softplus.f32@1";
    kernel.definition = "softplus";
    kernel.accepts = accepts;
    kernel.run = run;
    kernel.in_place = {{0, 0}};
    kernel.samples = {"softplus | f32[N] -> f32[N] where N in 0..1000",
                      "softplus | f32[3,N] -> f32[3,N] where N in 1..40"};
    return {{definition}, {}, {kernel}};
}

/// Checks the kernel on its samples and on variations of them: other sizes, strides, dtypes and numbers of threads.
bool pass_their_checks(const Context& context) {
    bool pass = true;
    for (const KernelReport& report : check_kernels(context, {.only_extra = true})) {
        for (const std::string& fault : report.faults) std::cerr << fault << '\n';
        pass = pass && report.faults.empty() && report.runs > 0;
    }
    return pass;
}

}  // namespace

int main() {
    ContextOptions options;
    options.extra = own_kernels();
    const Context context(options);
    if (!pass_their_checks(context)) return 1;

    Graph graph;
    const Dim n = graph.symbol("N", 1, 1'000'000);
    const Tensor x = graph.input("x", DType::f32, {n});
    graph.output("y", log(1 + exp(x)));  // matches the definition of softplus

    // During development, `verify` also checks these kernels on the calls that the compiled program makes.
    CompiledGraph compiled = compile(graph, context, {.verify = true});
    const float data[] = {-100, -1, 0, 1, 100};
    compiled.set("x", data, {5});
    compiled.run();
    for (const float value : compiled.output("y").as<float>()) std::cout << value << ' ';
    std::cout << '\n';
    const bool used = compiled.program().find("own.softplus.f32@1") != std::string::npos;
    std::cout << (used ? "computed by own.softplus.f32@1" : "the own kernel was not chosen") << '\n';
    return used ? 0 : 1;
}
