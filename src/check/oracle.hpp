#pragma once

#include "check/guarded_tensor.hpp"
#include "check/random_operand.hpp"
#include "check/tolerance.hpp"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// What kernels are tried on, and what is right for it: worked out once for all kernels that are tried on the same.
namespace cairn::inline v0::check {

/// Operands of a Problem as they are before each run: inputs written, outputs poison.
struct Operands {
    std::uint8_t poison;
    std::vector<GuardedTensor> inputs, outputs;
    std::vector<std::vector<std::uint8_t>> bits;  ///< of the inputs
};

/// Operands of one Problem of constant sizes, twice: at other addresses, in other poison; and their results.
struct Answer {
    Expected expected;
    Operands aligned, misaligned;
    std::vector<std::vector<double>> allowed;  ///< errors of each output, once someone asked for them
};

class Oracle {
public:
    explicit Oracle(std::span<const Definition> definitions) : definitions_(definitions) {}

    /// The operands hang on the Problem's text alone. Throws what the definition throws that refuses the Problem. Valid
    /// until forget().
    Answer& answer(const Problem& problem, Special special);
    /// The errors allowed to output `i` of an answer to `problem`.
    const std::vector<double>& allowed(const Problem& problem, Answer& answer, std::size_t i) const;
    void forget() { answers_.clear(); }

private:
    std::span<const Definition> definitions_;
    std::map<std::pair<std::string, Special>, Answer> answers_;
};

}  // namespace cairn::inline v0::check
