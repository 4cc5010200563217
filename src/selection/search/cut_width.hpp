#pragma once

#include <cstddef>
#include <vector>

/// Where an order may be cut.
namespace cairn::search {

/// The borders between the places 0, 1, ... of an order, and how much is needed across each: border b lies before
/// place b.
class CutWidths {
public:
    explicit CutWidths(std::size_t places) : width_changes_(places + 1, 0) {}

    /// What stands at `first` is needed until `last`, by as much as `weight` such.
    void pass(std::size_t first, std::size_t last, int weight = 1);

    struct NarrowCuts {
        int width = 0;                     ///< how much is needed across the narrowest border of the middle half
        std::vector<std::size_t> borders;  ///< all between the first place and the last that are so narrow, ascending
        std::vector<int> across;           ///< how much is needed across each of them
    };
    /// Borders count as narrow where no more than `wider` is needed across them beyond the narrowest.
    NarrowCuts narrow(int wider = 0) const;

private:
    std::vector<int> width_changes_;  // differences to the border before
};

}  // namespace cairn::search
