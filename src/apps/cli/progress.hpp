#pragma once

#include "cairn/compiled_graph.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace cairn::cli {

/// One measurement of a tuning: when it began, and what was known then.
struct TunePoint {
    double seconds = 0;  ///< since the tuning began
    double best = 0;     ///< Progress::best
    std::string kernel;
};

/// Shows how far long work has come, as one line on standard error where that is a terminal, and keeps what tuning
/// told.
class ProgressLine {
public:
    ProgressLine();
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// For CompileOptions and bind; this must outlive it.
    ProgressSink sink();
    /// Takes the line away.
    void clear();
    const std::vector<TunePoint>& tuning() const noexcept { return tuning_; }

private:
    using Clock = std::chrono::steady_clock;
    bool is_terminal_, shown_ = false;
    Clock::time_point tune_begin_{};
    std::vector<TunePoint> tuning_;
};

/// `tune      [########                ]  12/36  best 1.05 ms  4.2 s left  cpu.avx2.linear.f32@1`, in `width` columns.
std::string progress_text(const Progress& progress, std::size_t width);

}  // namespace cairn::cli
