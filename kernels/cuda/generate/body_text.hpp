#pragma once

#include "cairn/kernel.hpp"

#include <span>
#include <string>
#include <vector>

namespace cairn::kernels::cuda {

/// An elementwise computation: the dtypes of its inputs, and the steps after them.
struct Body {
    std::vector<DType> inputs;
    std::vector<Step> steps;
    std::vector<int> results;  ///< the value number of each output

    /// Dtype of a value by number, inputs first.
    DType dtype(int value) const;
};

/// The body of an `elementwise` problem, or the one step of an elementwise op or a definition that is a step.
Body body_of(const Problem& problem);

/// Why a body cannot be printed; empty if it can. `outputs` are the dtypes of its outputs.
Refusal body_refusal(const Body& body, std::span<const TensorDesc> outputs);

/// Why an `elementwise` problem, or the epilogue of a `fused` one, cannot be printed: its body, or an operand that has
/// not the shape of the outputs; empty if it can.
Refusal elementwise_refusal(const Problem& problem);

/// The steps as declarations: value i is `v<i>`, and those of the inputs are declared before. f16 and bf16 are f32.
std::string body_text(const Body& body, const std::string& indent);

/// True if the name is that of an elementwise op, or of a definition that body_text knows as a step.
bool is_step(std::string_view op);

/// The type of a dtype in registers, and in memory.
std::string_view register_type(DType dtype);
std::string_view memory_type(DType dtype);

/// The type of an operand that is stored in f32, f16 or bf16 (text/stored_elements.cuh).
std::string_view stored_type(DType dtype);

/// The value of an element of memory, `element` being an expression for it; and the other way round.
std::string loaded(DType dtype, const std::string& element);
std::string stored(DType dtype, const std::string& value);

/// Operations an element, for cost estimates.
double operations_of(const Body& body);

}  // namespace cairn::kernels::cuda
