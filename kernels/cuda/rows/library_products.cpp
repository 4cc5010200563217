#include "kernels/cuda/generate/product_text.hpp"
#include "kernels/cuda/rows/library_product_plan.hpp"
#include "kernels/cuda/rows/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

/// Products by a library of the device (cuBLASLt): of f32 exactly or rounded to TF32, of f16 and bf16 with sums of f32,
/// alone or with a bias and an activation.
namespace cairn::kernels::cuda {
namespace {

using device::LibraryProduct;
using device::ProductLibrary;
using Library = std::shared_ptr<ProductLibrary>;

// Elements of f32 lose up to 2^-10 of their size when the bits of their mantissa after the tenth are cut off. Their
// mean loss is 0.36 of that, and that of a product of two twice as much.
constexpr double tf32_error = 0x1p-10;

struct Form {
    std::string_view family;
    DType dtype;
    bool rounds_to_tf32;
    Arithmetic arithmetic;
};

/// An operand of constant sizes, for a product that is not computed.
class SizedOperand {
public:
    explicit SizedOperand(const TensorDesc& tensor) {
        for (const Dim& size : tensor.shape) shape_.push_back(size.constant());
        for (const Dim& stride : tensor.strides) strides_.push_back(stride.constant());
    }
    TensorArg argument() const { return {nullptr, shape_.data(), strides_.data(), static_cast<int>(shape_.size())}; }
    bool has_elements() const { return std::find(shape_.begin(), shape_.end(), 0) == shape_.end(); }

private:
    std::vector<std::int64_t> shape_, strides_;
};

/// The problem at its largest sizes.
Problem at_largest_sizes(const Problem& problem) {
    const std::shared_ptr<Symbols> symbols = symbols_of(problem);
    if (symbols == nullptr) return problem;
    std::vector<std::int64_t> sizes;
    for (const Symbols::Symbol& symbol : symbols->list()) sizes.push_back(symbol.high);
    return at_sizes(problem, sizes);
}

LibraryProductPlan plan_of(const Form& form, const Problem& problem, Refusal& refusal) {
    std::optional<LibraryProductPlan> plan = plan_library_product(problem, form.dtype, refusal);
    if (!plan) return {};
    plan->product.rounds_to_tf32 = form.rounds_to_tf32;
    return *plan;
}

/// The plan of a problem, for `enqueue`. Throws if the library has no algorithm for it, so that no program is selected
/// that cannot run; the operands of a call may be aligned to 16 bytes or not.
std::shared_ptr<const void> prepared(const Form& form, ProductLibrary& library, const Problem& problem, int algorithm) {
    Refusal refusal;
    LibraryProductPlan plan = plan_of(form, problem, refusal);
    if (!refusal.empty()) throw Error(ErrorKind::unsupported, "cuda", refusal);
    plan.product.algorithm = algorithm;
    const Problem largest = at_largest_sizes(problem);
    const SizedOperand a(largest.inputs[0]), b(largest.inputs[1]), out(largest.outputs[0]);
    if (out.has_elements()) {
        const LibraryProduct product = sized_product(plan, a.argument(), b.argument(), out.argument());
        for (const int alignment : {device::wide_product_alignment, static_cast<int>(size_of(form.dtype))})
            library.check(product, alignment);
    }
    return std::make_shared<LibraryProductPlan>(plan);
}

void enqueue(ProductLibrary& library, const Args& args, const DeviceStream& stream) {
    const LibraryProductPlan& plan = *static_cast<const LibraryProductPlan*>(args.prepared);
    const LibraryProduct product = sized_product(plan, args.inputs[0], args.inputs[1], args.outputs[0]);
    const std::byte* const bias = product.has_bias ? args.inputs[2].data : nullptr;
    library.enqueue(product, {args.inputs[0].data, args.inputs[1].data, bias, args.outputs[0].data, args.workspace},
                    stream.handle);
}

// By tiles of 128 by 128, computed whole.
Cost cost(Arithmetic arithmetic, const Problem& problem) {
    constexpr double tile = 128;
    const ProductView view = product_view(problem);
    const double rows = static_cast<double>(view.rows.constant()),
                 columns = static_cast<double>(view.columns.constant()), down = std::ceil(rows / tile),
                 across = std::ceil(columns / tile),
                 blocks = down * across * static_cast<double>(view.batches.constant());
    Cost cost = product_cost(problem, 0.8);
    cost.arithmetic = arithmetic;
    const double whole = blocks * tile * tile * 2 * static_cast<double>(view.depth.constant()),
                 wanted = rows * columns * static_cast<double>((view.batches * view.depth).constant()) * 2;
    cost.flops += whole * idle_factor(blocks) - wanted;
    cost.steps = 6;
    return cost;
}

std::vector<std::string> samples(const Form& form, bool is_fused) {
    std::vector<std::string> texts;
    if (is_fused)
        texts = {
            "fused {{3=matmul(0,1):{0} 4=add(3,2):{0}}} | {0}[S,40] {0}[40,33] {0}[S,33]:(0,1)! -> {0}[S,33] "
            "results (4) where S in 0..70",
            "fused {{3=matmul(0,1):{0} 4=add(2,3):{0} 5=relu(4):{0}}} | {0}[2,S,40] {0}[2,40,24]:(960,1,40) "
            "{0}[2,S,24]:(0,0,1)! -> {0}[2,S,24] results (5) where S in 0..30",
            "fused {{3=matmul(0,1):{0} 4=add(3,2):{0} 5=gelu_tanh(4):{0}}} | {0}[1,S,72] {0}[1,72,64]:(0,1,72)! "
            "{0}[1,S,64]:(0,0,1)! -> {0}[1,S,64] results (5) where S in 1..70"};
    else
        texts = {"matmul | {0}[T,70] {0}[70,65] -> {0}[T,65] where T in 0..140",
                 "matmul | {0}[2,33,K]:(33*K,1,33) {0}[2,K,40]:(40*K,1,K) -> {0}[2,33,40] where K in 1..60",
                 "matmul | {0}[T,K] {0}[K,48] -> {0}[T,48] where T in 0..20, K in 1..300",
                 "matmul | {0}[1,12,T,16]:(192*T,16,192,1) {0}[1,12,16,T]:(192*T,16,1,192) -> {0}[1,12,T,T] where T in "
                 "1..24"};
    for (std::string& text : texts) text = fmt::format(fmt::runtime(text), to_string(form.dtype));
    return texts;
}

Kernel row(const Form& form, bool is_fused, const Library& library) {
    Kernel kernel = cuda_row(form.family, is_fused ? "fused" : "matmul", to_string(form.dtype), nullptr, nullptr,
                             nullptr, samples(form, is_fused));
    kernel.waits_for_dependencies = false;
    kernel.accepts = [form, library](const Problem& problem) -> Refusal {
        Refusal refusal;
        (void)plan_of(form, problem, refusal);
        return refusal.empty() ? library->refusal() : refusal;
    };
    kernel.prepare = [form, library](const Problem& problem, int, const Setting& setting) {
        return prepared(form, *library, problem, static_cast<int>(setting["algorithm"]));
    };
    kernel.enqueue = [library](const Args& args, const DeviceStream& stream) { enqueue(*library, args, stream); };
    kernel.workspace = [](const Problem& problem, int) {
        return device::product_workspace_bytes(element_count(problem.outputs[0].shape));
    };
    kernel.cost = [arithmetic = form.arithmetic](const Problem& problem) { return cost(arithmetic, problem); };
    if (form.rounds_to_tf32) kernel.error = [](const Problem&) { return tf32_error; };
    kernel.knobs = {{"algorithm", {0, 1, 2, 3}}};
    return kernel;
}

}  // namespace

void add_library_products(std::vector<Kernel>& kernels, const Library& library) {
    constexpr std::array forms{
        Form{"cublaslt", DType::f32, false, Arithmetic::f32}, Form{"cublaslt_tf32", DType::f32, true, Arithmetic::tf32},
        Form{"cublaslt", DType::f16, false, Arithmetic::f16}, Form{"cublaslt", DType::bf16, false, Arithmetic::bf16}};
    for (const bool is_fused : {true, false})
        for (const Form& form : forms) kernels.push_back(row(form, is_fused, library));
}

}  // namespace cairn::kernels::cuda
