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

/// Test operands of kernels and the correct results, computed once for all kernels that are checked on the same
/// Problem.
namespace cairn::kernel_check {

/// Operands of a Problem before a run: inputs written, outputs filled with poison.
struct Operands {
    std::uint8_t poison;
    std::vector<GuardedTensor> inputs, outputs;
    std::vector<std::vector<std::uint8_t>> bits;  ///< of the inputs
};

/// Operands of one Problem of constant sizes, with two alignments and two poisons, and their correct results.
struct ReferenceCase {
    Expected expected;
    Operands aligned, misaligned;
    std::vector<std::vector<double>> allowed, roundoff;  ///< of each output, computed on first request
};

class Oracle {
public:
    explicit Oracle(std::span<const Definition> definitions) : definitions_(definitions) {}
    std::span<const Definition> definitions() const noexcept { return definitions_; }

    /// The operands depend on the Problem's text only. Throws what the definition throws if it rejects the Problem.
    /// Valid until forget().
    ReferenceCase& reference_case(const Problem& problem, SpecialValues special);
    /// The errors allowed for output `i` of `problem`.
    const std::vector<double>& allowed(const Problem& problem, ReferenceCase& reference_case, std::size_t i) const;
    /// The larger of allowed() and the roundoff of each op: larger where terms of a composite cancel. Slow: for results
    /// that allowed() refuses.
    const std::vector<double>& allowed_with_roundoff(const Problem& problem, ReferenceCase& reference_case,
                                                     std::size_t i) const;
    void forget() { reference_cases_.clear(); }

private:
    std::span<const Definition> definitions_;
    std::map<std::pair<std::string, SpecialValues>, ReferenceCase> reference_cases_;
};

}  // namespace cairn::kernel_check
