#include "tune/bench.hpp"

#include <chrono>

namespace cairn::inline v0::tune {

Bench bench_of(const Context& context) {
    using Clock = std::chrono::steady_clock;
    return {[&context](std::span<const timing::Contestant> contestants, const timing::ContestOptions& options) {
                return timing::contest(contestants, *context.parts(), options);
            },
            [] { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }};
}

}  // namespace cairn::inline v0::tune
