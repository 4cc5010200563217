#include "cairn/problem.hpp"

namespace cairn::inline v0 {

namespace {

// Calls `visit` with every Dim of a Problem, attributes first. `P` is Problem or const Problem.
template <typename P, typename Visit>
void for_each_dim(P& problem, Visit visit) {
    for (auto& attribute : problem.attributes) {
        if (auto* list = std::get_if<std::vector<Dim>>(&attribute.value)) {
            for (auto& dim : *list) visit(dim);
        }
    }
    for (auto* tensors : {&problem.inputs, &problem.outputs}) {
        for (auto& tensor : *tensors) {
            for (auto& size : tensor.shape) visit(size);
            for (auto& stride : tensor.strides) visit(stride);
        }
    }
}

}  // namespace

Problem at_sizes(const Problem& problem, std::span<const std::int64_t> symbol_values) {
    Problem result = problem;
    for_each_dim(result, [&](Dim& dim) { dim = dim.evaluate(symbol_values); });
    return result;
}

std::shared_ptr<Symbols> symbols_of(const Problem& problem) {
    const Dim* symbolic = nullptr;
    for_each_dim(problem, [&](const Dim& dim) {
        if (symbolic == nullptr && !dim.is_constant()) symbolic = &dim;
    });
    return symbolic == nullptr ? nullptr : symbolic->symbols();
}

}  // namespace cairn::inline v0
