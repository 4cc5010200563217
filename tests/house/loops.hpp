#pragma once

#include "tests/house/tree.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cairn::house {

/// `objdump -dC --no-show-raw-insn`: innermost loops with two multiply-adds or more, of the functions whose names hold
/// one of `tiles` followed by `<`, that read or write vector registers on the stack: accumulators that the compiler
/// keeps in memory cost up to half of the speed. `seen` counts the loops that were looked at.
Faults spilled_loops(const std::string& path, std::string_view disassembly, std::span<const std::string_view> tiles,
                     int& seen);

struct TileStep {
    std::string_view tile;
    int products;
    friend bool operator==(const TileStep&, const TileStep&) = default;
};
/// How many multiply-adds a step over the depth of a tile has, by the arguments in its name:
/// `compute_tile<T, 12, 1, 2, 1>` 12 rows times 1 panel times 2 vectors; `compute_places<F, V>`, `product_tile<R, C,
/// ...>`, `dot_tile<R, C, ...>`, `score_tile<R, V>`, `key_tile<R, ...>`, `row_tile<R, C, ...>`. None for other names.
std::optional<TileStep> products_of_step(std::string_view name);

/// Of the same text: tiles whose loop over the depth holds more or fewer multiply-adds than a step has, or a number of
/// steps, as the compiler unrolls them. `seen` counts the functions of each tile.
Faults miscounted_tiles(const std::string& path, std::string_view disassembly, std::map<std::string_view, int>& seen);

}  // namespace cairn::house
