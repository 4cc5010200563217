// Barriers of a block, of a part of a block, and of the cluster.
#include "tests/emulated_cuda/cluster.hpp"

#include <fmt/format.h>

namespace cairn::emulated_cuda {

/// All that have arrived know what the others released, and continue.
void Cluster::complete(BarrierState& barrier) {
    const Clock clock = joined(barrier.released);
    bool has_waited = false;  // a thread's wait for earlier launches holds for those that meet it
    for (const ThreadClock& released : barrier.released) has_waited |= threads_[released.thread].has_waited;
    for (Thread* thread : barrier.waiting) {
        thread->clock.others = clock;
        thread->has_waited |= has_waited;
        wake(*thread);
    }
    barrier = {};
}

int Cluster::block_barrier(BarrierResult result, int predicate, int line) {
    Thread& self = this->self();
    BarrierState& barrier = blocks_[self.block].barrier;
    if (barrier.waiting.empty()) barrier.line = line;
    if (barrier.line != line)
        fail([&] {
            return fmt::format("threads of the block are at different barriers: line {} and line {}", barrier.line,
                               line);
        });
    barrier.waiting.push_back(&self);
    barrier.released.push_back(release(self.clock));
    barrier.any |= predicate != 0 ? 1 : 0;
    barrier.all &= predicate != 0 ? 1 : 0;
    barrier.count += predicate != 0 ? 1 : 0;
    if (barrier.waiting.size() == block_threads_) {
        const int answer = result == BarrierResult::any   ? barrier.any
                           : result == BarrierResult::all ? barrier.all
                                                          : barrier.count;
        for (Thread* thread : barrier.waiting) thread->result = answer;
        complete(barrier);
    }
    wait("__syncthreads()", line);
    return self.result;
}

void Cluster::named_barrier(unsigned id, unsigned threads, bool waits, int line) {
    Thread& self = this->self();
    if (id < 1 || id > 15) fail([&] { return fmt::format("named barrier {} is not in 1 to 15", id); });
    if (threads == 0 || threads % 32 != 0 || threads > block_threads_)
        fail([&] { return fmt::format("named barrier {} for {} threads of {}", id, threads, block_threads_); });
    BarrierState& barrier = blocks_[self.block].named[id];
    if (barrier.released.empty()) barrier.expected = threads;
    if (barrier.expected != threads)
        fail([&] { return fmt::format("named barrier {} for {} threads and for {}", id, barrier.expected, threads); });
    barrier.released.push_back(release(self.clock));
    if (waits) barrier.waiting.push_back(&self);
    if (barrier.released.size() == threads) complete(barrier);
    if (waits) wait("a named barrier", line);
}

void Cluster::cluster_arrive(bool releases) {
    Thread& self = this->self();
    if (self.has_arrived) fail("arrives at the barrier of the cluster twice");
    self.has_arrived = true;
    self.arrival_phase = barrier_phase_;
    ThreadClock released = release(self.clock);
    if (!releases) released.time = self.fenced_time;  // what was before the fence of the mbarriers
    barrier_.released.push_back(released);
    ++arrived_;
    complete_cluster_barrier();
}

void Cluster::cluster_wait(int line) {
    Thread& self = this->self();
    if (!self.has_arrived) fail("waits at the barrier of the cluster without having arrived");
    if (self.arrival_phase == barrier_phase_) {
        barrier_.waiting.push_back(&self);
        wait("the barrier of the cluster", line);
    }
    self.has_arrived = false;
    self.clock.others = joined(self.clock.others, barrier_clock_);
}

/// Completes the phase if all threads have arrived; those that have finished count as arrived. The next phase cannot
/// complete before all have waited for this one, so one clock is enough.
void Cluster::complete_cluster_barrier() {
    if (arrived_ != threads_.size() || barrier_.released.empty()) return;
    arrived_ = finished_;
    ++barrier_phase_;
    barrier_clock_ = joined(barrier_.released);
    complete(barrier_);
}

}  // namespace cairn::emulated_cuda
