#pragma once

#include "accuracy/kernel_check/guarded_tensor.hpp"
#include "accuracy/kernel_check/random_operands.hpp"
#include "accuracy/kernel_check/tolerance.hpp"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// What kernels are tried on, and what is right for it: worked out once for all kernels that are tried on the same.
namespace cairn::kernel_check {

/// Operands of a Problem as they are before each run: inputs written, outputs poison.
struct Operands {
    std::uint8_t poison;
    std::vector<GuardedTensor> inputs, outputs;
    std::vector<std::vector<std::uint8_t>> bits;  ///< of the inputs
};

/// Operands of one Problem of constant sizes, twice: at other addresses, in other poison; and their results.
struct ReferenceCase {
    Expected expected;
    Operands aligned, misaligned;
    std::vector<std::vector<double>> allowed;  ///< errors of each output, once someone asked for them
};

class Oracle {
public:
    explicit Oracle(std::span<const Definition> definitions) : definitions_(definitions) {}

    /// The operands hang on the Problem's text alone. Throws what the definition throws that refuses the Problem. Valid
    /// until forget().
    ReferenceCase& reference_case(const Problem& problem, SpecialValues special);
    /// The errors allowed to output `i` of an answer to `problem`.
    const std::vector<double>& allowed(const Problem& problem, ReferenceCase& reference_case, std::size_t i) const;
    void forget() { reference_cases_.clear(); }

private:
    std::span<const Definition> definitions_;
    std::map<std::pair<std::string, SpecialValues>, ReferenceCase> reference_cases_;
};

}  // namespace cairn::kernel_check
