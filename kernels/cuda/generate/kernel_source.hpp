#pragma once

#include "cairn/kernel.hpp"

#include <string>
#include <string_view>

namespace cairn::kernels::cuda {

/// Begins a kernel of the given number of threads for a problem: its name, parameters, the dependency wait and the
/// symbols. With `blocks` not 0, so many blocks are to fit into a multiprocessor at once: the assembler may then use all
/// registers that this leaves, where by itself it spills some for the sake of more blocks. Operands are `inputs[i]` and `outputs[i]` in the problem and `in<i>` and `out<i>` in the text, of type
/// `void*`; symbol i is `s<i>`. Ends with an open brace.
std::string kernel_begin(const Problem& problem, const std::string& entry, int threads, int blocks = 0);

/// A name for the kernel of a problem: equal for equal problems only.
std::string entry_of(std::string_view family, const Problem& problem);

/// Blocks for `count` items, `items` a block: at least one, so that a kernel without work is still a launch.
Dim blocks_for(const Dim& count, std::int64_t items);

/// Number of axes of plain memory at most `rank`, each with a stride; otherwise the reason.
Refusal needs_plain_memory(const Problem& problem, std::size_t rank = 16);

/// Bytes of all operands at constant sizes; axes of stride 0 count once.
double bytes_of(const Problem& problem);

/// The number of that name, also where it is written as a list of one; `otherwise` if there is none.
double number_or(const Problem& problem, std::string_view name, double otherwise);

/// An axis, possibly negative, as an index from 0.
std::size_t axis_index(std::int64_t axis, std::size_t rank);

/// A literal of type float, with all its bits.
std::string float_text(float value);

}  // namespace cairn::kernels::cuda
