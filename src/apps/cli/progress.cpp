#include "apps/cli/progress.hpp"

#include "apps/cli/output.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace cairn::cli {
namespace {

std::size_t terminal_width() {
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

}  // namespace

std::string progress_text(const Progress& progress, std::size_t width) {
    constexpr std::int64_t bar = 24;
    const std::int64_t total = std::max<std::int64_t>(progress.total, 1);
    const auto filled = static_cast<std::size_t>(bar * std::clamp<std::int64_t>(progress.done, 0, total) / total);
    std::string text = fmt::format("{:<9} [{:<{}}] {:>4}/{}", progress.phase, std::string(filled, '#'), bar,
                                   progress.done, progress.total);
    if (progress.best > 0) text += "  best " + time_text(progress.best);
    if (progress.seconds_left > 0) text += fmt::format("  {:.1f} s left", progress.seconds_left);
    if (!progress.detail.empty()) text += fmt::format("  {}", progress.detail);
    return text.substr(0, width);
}

ProgressLine::ProgressLine() : is_terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressSink ProgressLine::sink() {
    return [this](const Progress& progress) {
        if (progress.phase == "tune" && progress.best > 0) {
            if (tuning_.empty()) tune_begin_ = Clock::now();
            const std::chrono::duration<double> since = Clock::now() - tune_begin_;
            tuning_.push_back({since.count(), progress.best, std::string(progress.detail)});
        }
        if (!is_terminal_) return;
        shown_ = true;
        const std::string text = "\r\033[K" + progress_text(progress, terminal_width() - 1);
        std::fwrite(text.data(), 1, text.size(), stderr);
    };
}

void ProgressLine::clear() {
    if (shown_) std::fputs("\r\033[K", stderr);
    shown_ = false;
}

}  // namespace cairn::cli
