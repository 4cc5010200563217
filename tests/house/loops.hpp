#pragma once

#include "tests/house/tree.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cairn::house {

/// Finds spilled accumulators in the output of `objdump -dC --no-show-raw-insn`: innermost loops with at least two
/// multiply-adds that read or write vector registers on the stack, in functions whose names contain one of `tiles`
/// followed by `<`. Spilled accumulators cost up to half of the speed. Adds the number of checked loops to `seen`.
Faults spilled_loops(const std::string& path, std::string_view disassembly, std::span<const std::string_view> tiles,
                     int& seen);

struct TileStep {
    std::string_view tile;
    int products;
    friend bool operator==(const TileStep&, const TileStep&) = default;
};
/// Multiply-adds of one step over the depth of a register tile, from the template arguments in its name:
/// `compute_tile<T, 12, 1, 2, 1>` has 12 rows times 1 panel times 2 vectors; `compute_conv_tile<F, V>`,
/// `product_tile<R, C, ...>`, `dot_tile<R, C, ...>`, `score_tile<R, V>`, `key_tile<R, ...>` (R times 4),
/// `row_tile<R, C, ...>`. nullopt for other names, and for integer weights.
std::optional<TileStep> multiply_adds_per_step(std::string_view name);

/// Finds tiles, in the same text, whose loop over the depth has a number of multiply-adds that is no multiple of those
/// of one step (the compiler may unroll steps). Adds the number of checked functions of each tile to `seen`.
Faults tiles_with_wrong_multiply_adds(const std::string& path, std::string_view disassembly,
                                      std::map<std::string_view, int>& seen);

}  // namespace cairn::house
