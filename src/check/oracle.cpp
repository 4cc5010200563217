#include "check/oracle.hpp"

#include <random>

namespace cairn::inline v0::check {
namespace {

Operands operands_of(const std::vector<GuardedTensor>& inputs, const std::vector<GuardedTensor>& outputs,
                     const std::vector<meaning::Value>& values, std::uint8_t poison, int misalignment) {
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

Answer& Oracle::answer(const Problem& problem, Special special) {
    const std::string text = to_string(problem);
    const auto known = answers_.find({text, special});
    if (known != answers_.end()) return known->second;

    std::seed_seq seed(text.begin(), text.end());
    std::mt19937_64 random(seed);
    RandomInputs inputs = random_inputs(problem, definitions_, special, random);
    std::vector<GuardedTensor> outputs;
    for (const TensorDesc& output : problem.outputs) outputs.emplace_back(output, std::uint8_t{0}, 0);
    Expected expected = expect(problem, definitions_, std::move(inputs.values));
    const auto laid_out = [&](std::uint8_t poison, int misalignment) {
        return operands_of(inputs.tensors, outputs, expected.inputs, poison, misalignment);
    };
    Operands aligned = laid_out(0xff, 0), misaligned = laid_out(0x3b, 1);
    Answer made{std::move(expected), std::move(aligned), std::move(misaligned), {}};
    return answers_.emplace(std::pair(text, special), std::move(made)).first->second;
}

const std::vector<double>& Oracle::allowed(const Problem& problem, Answer& answer, std::size_t i) const {
    for (std::size_t next = answer.allowed.size(); next < problem.outputs.size(); ++next)
        answer.allowed.push_back(allowed_errors(problem, definitions_, answer.expected, next));
    return answer.allowed[i];
}

}  // namespace cairn::inline v0::check
