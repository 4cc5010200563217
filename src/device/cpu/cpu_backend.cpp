#include "device/cpu/cpu_backend.hpp"

#include "cairn/error.hpp"
#include "device/cpu/affinity.hpp"
#include "device/cpu/arena.hpp"
#include "device/cpu/cpu_command_buffer.hpp"
#include "device/cpu/cpu_features.hpp"
#include "device/cpu/cpu_info.hpp"
#include "device/cpu/free_memory.hpp"
#include "device/cpu/host_memory.hpp"
#include "device/cpu/lazy_memory.hpp"
#include "device/cpu/pages.hpp"
#include "device/cpu/team_clock.hpp"
#include "device/cpu/tile_permission.hpp"
#include "device/cpu/topology.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace cairn::device {
namespace {

class ArenaMemory final : public HostMemory {
    static_assert(Arena::alignment % Memory::alignment == 0);

public:
    ArenaMemory(Arena arena, ThreadPool& pool)
        : HostMemory(arena.data(), arena.capacity()), arena_(std::move(arena)), pool_(pool) {}
    void touch(std::size_t offset, std::size_t bytes) override { arena_.touch(offset + bytes, &pool_); }

private:
    Arena arena_;
    ThreadPool& pool_;
};

class StateMemory final : public HostMemory {
public:
    explicit StateMemory(LazyMemory memory) : HostMemory(memory.data(), memory.size()), memory_(std::move(memory)) {}
    void touch(std::size_t offset, std::size_t bytes) override { memory_.touch(offset, bytes); }

private:
    LazyMemory memory_;
};

/// Times calls as the executor makes them: with a barrier after each.
class TimedRegion {
public:
    TimedRegion(const TimedCalls& calls, ThreadPool& pool)
        : calls_(calls), team_(pool.size(), pool.barrier_spin()), clock_(pool.size()) {}

    double run(ThreadPool& pool, std::optional<Failure>& failure) {
        team_.begin();
        pool.run(&TimedRegion::run_member, this, &team_.barrier);
        if (const Failure* reported = team_.failure()) failure = *reported;
        return clock_.seconds();
    }

private:
    static void run_member(void* region, int rank, int size) {
        TimedRegion& self = *static_cast<TimedRegion*>(region);
        Team team(rank, size, &self.team_);
        const std::unique_ptr<CallArguments> arguments = self.calls_.arguments();
        self.team_.next_instruction();
        self.clock_.start(rank);
        for (std::int64_t call = 0; call < self.calls_.count; ++call) {
            if (call > 0) self.team_.next_instruction();
            self.calls_.run(arguments->next(), team);
        }
        self.clock_.stop(rank);
        self.team_.next_instruction();
    }

    const TimedCalls& calls_;
    TeamState team_;
    TeamClock clock_;
};

class Cpu final : public CpuBackend {
public:
    explicit Cpu(int threads) : pool_(threads) {}

    std::unique_ptr<Memory> reserve(std::size_t bytes, MemoryUse use) override {
        if (use == MemoryUse::state) return std::make_unique<StateMemory>(LazyMemory(bytes));
        const bool is_lasting = use == MemoryUse::arena;
        return std::make_unique<ArenaMemory>(
            Arena::reserve(bytes, is_lasting ? ArenaOptions::suited_to(bytes) : ArenaOptions()), pool_);
    }
    std::size_t page_bytes() const noexcept override { return page_size(); }
    std::optional<std::int64_t> free_memory() const override { return device::free_memory(); }

    std::vector<std::shared_ptr<const void>> compile(std::span<const DeviceCode* const>,
                                                     const CompileRequest&) override {
        throw InternalError("device", "kernels of the CPU have no text");
    }
    std::unique_ptr<CommandBuffer> record(std::span<const KernelLaunch> launches,
                                          std::span<const std::int64_t>) override {
        return std::make_unique<CpuCommandBuffer>(launches, pool_);
    }
    double time(const TimedCalls& calls, std::optional<Failure>& failure) override {
        return TimedRegion(calls, pool_).run(pool_, failure);
    }

    int threads() const noexcept override { return pool_.size(); }
    FeatureSet features() const override { return detect_features(); }
    std::string permit(FeatureSet needs) override {
        return needs.has(Feature::amx_tile) ? request_tiles() : std::string();
    }
    CacheSizes caches() const override {
        const CpuInfo cpu = cpu_info();
        return {cpu.l2_bytes, cpu.l3_bytes};
    }
    std::string fingerprint(const FeatureSet& enabled) const override {
        const auto or_unknown = [](std::string_view text) { return text.empty() ? "unknown" : text; };
        const CpuInfo cpu = cpu_info();
        const std::optional<double> quota = cgroup_quota();
        return fmt::format(
            "{} | {} | family {} model {} stepping {} | L1d {} L2 {} L3 {} | {} of {} | threads {} cpus {} quota {}",
            or_unknown(cpu.vendor), or_unknown(cpu.name), cpu.family, cpu.model, cpu.stepping, cpu.l1d_bytes,
            cpu.l2_bytes, cpu.l3_bytes, to_string(enabled), to_string(cpu.features), pool_.size(),
            topology_of(affinity_mask()), quota ? fmt::format("{}", *quota) : "none");
    }

    HostThreads& host_threads() noexcept override { return pool_; }
    bool oversubscribed() const noexcept override { return pool_.oversubscribed(); }

private:
    ThreadPool pool_;
};

}  // namespace

std::unique_ptr<CpuBackend> cpu_backend(int threads) { return std::make_unique<Cpu>(threads); }

}  // namespace cairn::device
