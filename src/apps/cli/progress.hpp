#pragma once

#include "cairn/compiled_graph.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace cairn::cli {

/// One measurement during tuning.
struct TunePoint {
    double seconds = 0;  ///< since tuning began
    double best = 0;     ///< Progress::best
    std::string kernel;
};

/// Shows the progress of long work as one line on standard error if that is a terminal, and records the points of a
/// tune.
class ProgressLine {
public:
    ProgressLine();
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// The sink for CompileOptions and bind; this object must outlive it.
    ProgressSink sink();
    /// Erases the line.
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
