#pragma once

#include "cairn/kernel.hpp"
#include "kernels/cpu/simd/body.hpp"

#include <memory>
#include <vector>

/// From a Problem to the Body that runs it.
namespace cairn::inline v0::kernels::cpu {

/// The steps a Problem stands for: the body of `elementwise`, else the one step of its definition.
struct BodySource {
    std::vector<DType> inputs;
    std::vector<Step> steps;
    std::vector<int> results;
};
BodySource body_source(const Problem& problem);

/// Compiles; on a refusal `body` is unfinished. Constants are rounded to their dtypes, values share blocks where their
/// lives allow, and the last operations write to their outputs directly.
Refusal compile_body(const BodySource& source, const std::vector<DType>& outputs, Body& body);

}  // namespace cairn::inline v0::kernels::cpu
