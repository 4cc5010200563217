#pragma once

#include "cairn/kernel.hpp"

#include <string>
#include <string_view>

namespace cairn::kernels::cuda {

/// The beginning of a kernel for a problem: its name, launch bounds, parameters, the dependency wait and the symbols.
/// `threads` is the block size. `min_blocks`, if not 0, is the minimum number of resident blocks per multiprocessor, as
/// in `__launch_bounds__`: ptxas then uses all the registers that this occupancy leaves, instead of spilling some for a
/// higher one. Operands are `inputs[i]` and `outputs[i]` in the problem and `in<i>` and `out<i>` in the text, of type
/// `void*`; symbol i is `s<i>`. Ends with an open brace.
std::string kernel_begin(const Problem& problem, const std::string& entry, int threads, int min_blocks = 0);

/// The same without the dependency wait and the symbols, for a kernel that begins with work on bound operands: these
/// alone may be accessed before dependency_wait().
std::string kernel_head(const Problem& problem, const std::string& entry, int threads, int min_blocks = 0);

/// Declarations of the symbols `s<i>`, for such a kernel: they are read behind the dependency wait.
std::string symbols_text(const Problem& problem);

/// A name for the kernel of a problem: equal for equal problems only.
std::string entry_of(std::string_view family, const Problem& problem);

/// Blocks for `count` items, `items` a block: at least one, so that a kernel without work is still a launch.
Dim blocks_for(const Dim& count, std::int64_t items);

/// A literal of type float, with all its bits.
std::string float_text(float value);

}  // namespace cairn::kernels::cuda
