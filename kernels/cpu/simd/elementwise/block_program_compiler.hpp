#pragma once

#include "cairn/kernel.hpp"
#include "kernels/cpu/simd/elementwise/block_program.hpp"

#include <memory>
#include <span>
#include <vector>

/// Compiles the body of a Problem to a BlockProgram.
namespace cairn::kernels::cpu {

/// The steps of a Problem: the body of `elementwise`, or the one step of another definition. Must not outlive the
/// Problem.
struct BodySteps {
    std::vector<DType> inputs;
    std::span<const Step> steps;
    std::vector<int> results;
    std::vector<Step> one;  ///< owns the step if it is not in the Problem's body
};
BodySteps body_steps(const Problem& problem);
/// Operations per element, and the fraction of peak at which bodies run them.
double operations_of(const BodySteps& source);
inline constexpr double body_efficiency = 0.25;
/// Operations of the epilogue of a `fused` Problem, counted at the efficiency of the product; at constant sizes.
double epilogue_flops(const Problem& problem, double efficiency);
/// The program that stores its only input.
BlockProgram identity_block_program(DType dtype);

/// Compiles a body; on a refusal `body` is unfinished. Constants are rounded to their dtypes, values share blocks by
/// liveness, and the last operations write to their outputs directly.
Refusal compile_block_program(const BodySteps& source, const std::vector<DType>& outputs, BlockProgram& body);
/// Keeps values in memory format in the blocks, if all of them are bytes, or if the body is a single cheap operation on
/// f16 or bf16, or a single cast with a function of its own. TileEpilogue does not accept such programs.
void keep_memory_format(const BodySteps& source, BlockProgram& body);

}  // namespace cairn::kernels::cpu
