#pragma once

#include "cairn/kernel.hpp"
#include "kernels/cpu/simd/elementwise/block_program.hpp"

#include <memory>
#include <span>
#include <vector>

/// From a Problem to the Body that runs it.
namespace cairn::kernels::cpu {

/// The steps a Problem stands for: the body of `elementwise`, else the one step of its definition. It holds as long as
/// the Problem does.
struct BodySteps {
    std::vector<DType> inputs;
    std::span<const Step> steps;
    std::vector<int> results;
    std::vector<Step> one;  ///< where the step is none of the Problem's
};
BodySteps body_steps(const Problem& problem);
/// Operations an element, and the share of the peak at which bodies do them.
double operations_of(const BodySteps& source);
inline constexpr double body_efficiency = 0.25;
/// What follows the product of a `fused` Problem, in operations of the product's efficiency; at constant sizes.
double epilogue_flops(const Problem& problem, double efficiency);
/// The body that stores its only input.
BlockProgram identity_block_program(DType dtype);

/// Compiles; on a refusal `body` is unfinished. Constants are rounded to their dtypes, values share blocks where their
/// lives allow, and the last operations write to their outputs directly.
Refusal compile_block_program(const BodySteps& source, const std::vector<DType>& outputs, BlockProgram& body);
/// Has values stand in blocks as they lie in memory, where all of them are bytes, or where one light operation on f16
/// or bf16 is all there is, or one cast that has code of its own. TileEpilogue takes no such body.
void keep_memory_format(const BodySteps& source, BlockProgram& body);

}  // namespace cairn::kernels::cpu
