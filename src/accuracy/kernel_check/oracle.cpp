#include "accuracy/kernel_check/oracle.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace cairn::kernel_check {
namespace {

Operands operands_of(const std::vector<GuardedTensor>& inputs, const std::vector<GuardedTensor>& outputs,
                     const std::vector<interpreter::Value>& values, std::uint8_t poison, int misalignment) {
    Operands operands{poison, {}, {}, {}};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        operands.inputs.emplace_back(inputs[i], poison, misalignment);
        operands.inputs.back().write(values[i]);
        operands.bits.push_back(operands.inputs.back().bits());
    }
    for (const GuardedTensor& output : outputs) operands.outputs.emplace_back(output, poison, misalignment);
    return operands;
}

}  // namespace

ReferenceCase& Oracle::reference_case(const Problem& problem, SpecialValues special) {
    const std::string text = to_string(problem);
    const auto known = reference_cases_.find({text, special});
    if (known != reference_cases_.end()) return known->second;

    std::seed_seq seed(text.begin(), text.end());
    std::mt19937_64 random(seed);
    RandomInputs inputs = random_inputs(problem, definitions_, special, random);
    std::vector<GuardedTensor> outputs;
    for (const TensorDesc& output : problem.outputs) outputs.emplace_back(output, std::uint8_t{0}, 0);
    Expected expected = evaluate_definition(problem, definitions_, std::move(inputs.values));
    const auto laid_out = [&](std::uint8_t poison, int misalignment) {
        return operands_of(inputs.tensors, outputs, expected.inputs, poison, misalignment);
    };
    Operands aligned = laid_out(0xff, 0), misaligned = laid_out(0x3b, 1);
    ReferenceCase made{std::move(expected), std::move(aligned), std::move(misaligned), {}, {}};
    return reference_cases_.emplace(std::pair(text, special), std::move(made)).first->second;
}

const std::vector<double>& Oracle::allowed(const Problem& problem, ReferenceCase& reference_case, std::size_t i) const {
    for (std::size_t next = reference_case.allowed.size(); next < problem.outputs.size(); ++next)
        reference_case.allowed.push_back(allowed_errors(problem, definitions_, reference_case.expected, next));
    return reference_case.allowed[i];
}

const std::vector<double>& Oracle::allowed_with_roundoff(const Problem& problem, ReferenceCase& reference_case,
                                                         std::size_t i) const {
    for (std::size_t next = reference_case.roundoff.size(); next <= i; ++next) {
        std::vector<double> errors = allowed(problem, reference_case, next);
        const std::vector<double> roundoff = roundoff_errors(problem, definitions_, reference_case.expected, next);
        for (std::size_t at = 0; at < roundoff.size(); ++at) errors[at] = std::max(errors[at], roundoff[at]);
        reference_case.roundoff.push_back(std::move(errors));
    }
    return reference_case.roundoff[i];
}

}  // namespace cairn::kernel_check
