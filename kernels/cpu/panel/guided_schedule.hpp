#pragma once

#include "cairn/version.hpp"

#include <algorithm>
#include <cstdint>

/// Which panels a thread takes one after another.
namespace cairn::kernels::cpu {

/// Panels [begin, end) over a block of rows; a run without panels stands behind the last.
struct PanelRange {
    std::int64_t block, begin, end;
};

/// Blocks of rows times panels, cut into runs that get shorter towards the end: the first are long enough to be claimed
/// seldom, each claim being a round trip between threads, and the last so short that all threads end together. Runs are
/// whole numbers of the panels that are read side by side. Where they begin depends on sizes and on the number of
/// threads; no bit depends on it, every element being summed in one way wherever its panel is run.
///
///     24 panels, 2 threads: 6, 4, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1
class GuidedPanelSchedule {
public:
    static constexpr std::int64_t most = 8;  ///< panels of a run

    GuidedPanelSchedule(std::int64_t blocks, std::int64_t panels, std::int64_t at_once, std::int64_t threads) noexcept
        : panels_(panels),
          total_(blocks * panels),
          at_once_(at_once),
          least_(panels >= 2 * at_once * threads ? at_once : 1),
          threads_(threads) {}

    /// The run with this number, which is no less than any asked for before.
    PanelRange at(std::int64_t number) noexcept {
        for (; number_ < number && begin_ < total_; ++number_) begin_ += length();
        if (begin_ >= total_) return {};
        return {begin_ / panels_, begin_ % panels_, begin_ % panels_ + length()};
    }

private:
    std::int64_t length() const noexcept {
        constexpr std::int64_t runs_of_thread = 2;
        const std::int64_t share = std::min((total_ - begin_) / (runs_of_thread * threads_), most);
        const std::int64_t wanted = std::max(share / at_once_ * at_once_, least_);
        return std::min(wanted, panels_ - begin_ % panels_);
    }

    std::int64_t panels_, total_, at_once_, least_, threads_;
    std::int64_t number_ = 0, begin_ = 0;
};

}  // namespace cairn::kernels::cpu
