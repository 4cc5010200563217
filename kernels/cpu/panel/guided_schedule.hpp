#pragma once

#include "cairn/version.hpp"

#include <algorithm>
#include <cstdint>

/// The schedule of panels over threads: guided self-scheduling with runs of decreasing length.
namespace cairn::kernels::cpu {

/// Panels [begin, end) over a block of rows. A run without panels marks the end.
struct PanelRange {
    std::int64_t block, begin, end;
};

/// Splits row blocks times panels into runs that get shorter towards the end. The first runs are long, since each claim
/// costs a round trip between threads; the last are short, so that all threads finish together. Run lengths are whole
/// multiples of the panels that are read side by side. Run borders depend on sizes and on the number of threads;
/// results do not, because every element is summed in the same order wherever its panel runs.
///
///     24 panels, 2 threads: 6, 4, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1
class GuidedPanelSchedule {
public:
    static constexpr std::int64_t most = 8;  ///< maximal panels of a run

    /// `runs_of_thread`: runs into which the panels that are left are split for each thread: 1 where a run has a cost
    /// of its own.
    GuidedPanelSchedule(std::int64_t blocks, std::int64_t panels, std::int64_t at_once, std::int64_t threads,
                        std::int64_t runs_of_thread = 2) noexcept
        : panels_(panels),
          total_(blocks * panels),
          at_once_(at_once),
          least_(panels >= 2 * at_once * threads ? at_once : 1),
          shares_(runs_of_thread * threads) {}

    /// Run `number`, which must not be less than in any earlier call.
    PanelRange at(std::int64_t number) noexcept {
        for (; number_ < number && begin_ < total_; ++number_) begin_ += length();
        if (begin_ >= total_) return {};
        return {begin_ / panels_, begin_ % panels_, begin_ % panels_ + length()};
    }

private:
    std::int64_t length() const noexcept {
        const std::int64_t share = std::min((total_ - begin_) / shares_, most);
        const std::int64_t wanted = std::max(share / at_once_ * at_once_, least_);
        return std::min(wanted, panels_ - begin_ % panels_);
    }

    std::int64_t panels_, total_, at_once_, least_, shares_;
    std::int64_t number_ = 0, begin_ = 0;
};

}  // namespace cairn::kernels::cpu
