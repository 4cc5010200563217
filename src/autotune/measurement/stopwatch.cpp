#include "autotune/measurement/stopwatch.hpp"

#include "autotune/measurement/kernel_call_errors.hpp"

#include <fmt/format.h>

namespace cairn::autotune {

Stopwatch::Stopwatch(const Kernel& kernel, const Operands& operands, device::ThreadPool& pool)
    : kernel_(kernel), operands_(operands), pool_(pool), team_(pool.size(), pool.spin()), clock_(pool.size()) {}

void Stopwatch::run(void* watch, int rank, int size) {
    Stopwatch& self = *static_cast<Stopwatch*>(watch);
    Team team(rank, size, &self.team_);
    RotatingArgs calls(self.operands_);
    self.team_.next_instruction();
    self.clock_.start(rank);
    for (std::int64_t call = 0; call < self.calls_; ++call) {
        if (call > 0) self.team_.next_instruction();
        self.kernel_.run(calls.next(), team);
    }
    self.clock_.stop(rank);
    self.team_.next_instruction();
}

double Stopwatch::time(std::int64_t calls) {
    calls_ = calls;
    team_.begin();
    with_kernel_errors(kernel_, [&] { pool_.run(&Stopwatch::run, this, &team_.barrier); });
    operands_.advance(calls);
    if (const device::Failure* failure = team_.failure())
        throw Error(ErrorKind::argument, "measure", fmt::format("{}: {}", kernel_.id, failure->reason));
    return clock_.seconds();
}

}  // namespace cairn::autotune
