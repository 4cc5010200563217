#pragma once

#include "cairn/models/gpt2.hpp"
#include "examples/support.hpp"

/// The report of `gpt2 --report`: compile time, kernels, memory and speed of a GPT-2, measured by running it.
namespace report {

/// Prints to standard output.
void print(cairn::models::Gpt2& model, const support::Phases& phases);

}  // namespace report
