#pragma once

#include <cstddef>
#include <vector>

/// Cut widths of an order.
namespace cairn::search {

/// The borders between the places 0, 1, ... of an order, and the cut width of each: how much is live across it. Border
/// b is before place b.
class CutWidths {
public:
    explicit CutWidths(std::size_t position_count) : width_changes_(position_count + 1, 0) {}

    /// Makes the item at place `first` live until `last`, counted `weight` times.
    void pass(std::size_t first, std::size_t last, int weight = 1);

    struct NarrowCuts {
        int width = 0;                     ///< minimum cut width over the middle half of the order
        std::vector<std::size_t> borders;  ///< all narrow borders strictly inside the order, ascending
        std::vector<int> widths;           ///< cut width of each of them
    };
    /// A border is narrow if its cut width exceeds the minimum by at most `wider`.
    NarrowCuts narrow(int wider = 0) const;

private:
    std::vector<int> width_changes_;  // change of the cut width at each border
};

}  // namespace cairn::search
