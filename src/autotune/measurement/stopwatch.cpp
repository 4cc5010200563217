#include "autotune/measurement/stopwatch.hpp"

#include "autotune/measurement/kernel_call_errors.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace cairn::autotune {

double Stopwatch::time(std::int64_t calls) {
    const device::TimedCalls timed{kernel_.run, calls, [this] { return std::make_unique<RotatingArgs>(operands_); },
                                   operands_.inputs(), operands_.outputs()};
    std::optional<device::Failure> failure;
    double seconds = 0;
    with_kernel_errors(kernel_, [&] { seconds = backend_.time(timed, failure); });
    operands_.advance(calls);
    if (failure) throw Error(ErrorKind::argument, "measure", fmt::format("{}: {}", kernel_.id, failure->reason));
    return seconds;
}

}  // namespace cairn::autotune
