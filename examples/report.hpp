#pragma once

#include "cairn/models/gpt2.hpp"
#include "examples/support.hpp"

/// What was chosen for a GPT-2, what memory it takes, and how fast it is: all measured by running it.
namespace report {

/// Prints to standard output.
void print(cairn::models::Gpt2& model, const support::Phases& phases);

}  // namespace report
