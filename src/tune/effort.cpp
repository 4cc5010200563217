#include "tune/effort.hpp"

namespace cairn::inline v0::tune {

bool measures(Mode mode) { return mode == Mode::quick || mode == Mode::normal || mode == Mode::exhaustive; }

bool runs_programs(Mode mode) { return mode == Mode::normal || mode == Mode::exhaustive; }

double seconds_of(const CompileOptions& options) {
    constexpr double of_quick = 1, of_normal = 5;
    if (options.tune_seconds) return *options.tune_seconds;
    return options.mode == Mode::exhaustive ? most_seconds : options.mode == Mode::quick ? of_quick : of_normal;
}

}  // namespace cairn::inline v0::tune
