#include "tests/autotune/policy/inexact_product.hpp"

#include "graph/types/half.hpp"

namespace cairn::test {
namespace {

double rounded(const std::byte* data, std::int64_t element) {
    return types::bf16_to_f32(types::f64_to_bf16(reinterpret_cast<const float*>(data)[element]));
}

void run(const Args& args, Team& team) {
    if (team.rank() != 0) return;
    const TensorArg &x = args.inputs[0], &w = args.inputs[1], &y = args.outputs[0];
    for (std::int64_t r = 0; r < y.shape[0]; ++r)
        for (std::int64_t c = 0; c < y.shape[1]; ++c) {
            double sum = 0;
            for (std::int64_t k = 0; k < x.shape[1]; ++k)
                sum += rounded(x.data, r * x.strides[0] + k * x.strides[1]) *
                       rounded(w.data, k * w.strides[0] + c * w.strides[1]);
            reinterpret_cast<float*>(y.data)[r * y.strides[0] + c * y.strides[1]] = static_cast<float>(sum);
        }
}

Refusal accepts(const Problem& problem) {
    for (const auto* list : {&problem.inputs, &problem.outputs})
        for (const TensorDesc& tensor : *list)
            if (tensor.dtype != DType::f32 || tensor.shape.size() != 2 || !tensor.layout.empty())
                return "needs plain f32 matrices";
    return {};
}

}  // namespace

Kernel inexact_product() {
    Kernel kernel;
    kernel.id = "test.bf16.matmul.f32@1";
    kernel.definition = "matmul";
    kernel.accepts = accepts;
    kernel.run = run;
    kernel.cost = [](const Problem&) { return Cost{1, 1, 1}; };
    kernel.error = [](const Problem&) { return 5e-3; };
    kernel.samples = {"matmul | f32[N,64] f32[64,32] -> f32[N,32] where N in 1..8"};
    return kernel;
}

Kernel product_beyond_stated_error() {
    Kernel kernel = inexact_product();
    kernel.id = "test.liar.matmul.f32@1";
    kernel.error = [](const Problem&) { return 1e-4; };
    return kernel;
}

}  // namespace cairn::test
