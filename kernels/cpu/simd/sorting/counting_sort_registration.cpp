#include "kernels/cpu/simd/sorting/argsort_problem.hpp"
#include "kernels/cpu/simd/table.hpp"

#include <algorithm>
#include <utility>

/// Registers the counting sort for argsort of keys of 8 and 16 bits: a histogram of all keys, then each index goes
/// where its key's run begins. Reads the keys twice and needs no memory but the histogram.
namespace cairn::kernels::cpu {
namespace {

using Count = std::uint32_t;

/// Lines of 16-bit keys shorter than this take longer: clearing and adding up the histogram rules.
constexpr std::int64_t min_wide_size = 1 << 15;

std::int64_t key_count(DType dtype) { return std::int64_t{1} << (8 * size_of(dtype)); }
std::int64_t scratch_bytes(DType dtype) {
    return key_count(dtype) * static_cast<std::int64_t>(sizeof(Count));
}

template <typename Key, typename RankOf>
void counting_sort(const Key* keys, std::int64_t stride, std::int64_t size, const RankOf& rank_of, std::byte* scratch,
                   const Indices& out) noexcept {
    if constexpr (sizeof(Key) <= 2) {
        constexpr std::size_t count = std::size_t{1} << (8 * sizeof(Key));
        auto* const next = reinterpret_cast<Count*>(scratch);
        std::fill_n(next, count, Count{0});
        for (std::int64_t i = 0; i < size; ++i) ++next[rank_of(keys[i * stride])];
        Count before = 0;
        for (std::size_t key = 0; key < count; ++key) before += std::exchange(next[key], before);
        for (std::int64_t i = 0; i < size; ++i)
            out.put(next[rank_of(keys[i * stride])]++, static_cast<std::int32_t>(i));
    }
}

void run_counting_sort(const Args& args, Team& team) {
    for_each_line(args, team, scratch_bytes(static_cast<const ArgsortPlan*>(args.prepared)->dtype),
                  [](auto... line) { counting_sort(line...); });
}

Refusal accepts(const Problem& problem) {
    if (Refusal no = argsort_refusal(problem); !no.empty()) return no;
    if (size_of(problem.inputs[0].dtype) > 2) return "needs keys of 8 or 16 bits";
    const bool is_long = size_of(problem.inputs[0].dtype) == 1 || provably_le(min_wide_size, argsort_size(problem));
    return is_long ? Refusal() : "needs lines of at least 32768 keys of 16 bits";
}

}  // namespace

void add_counting_sort(std::vector<Kernel>& kernels) {
    Kernel made;
    made.id = "cpu.baseline.counting_sort.argsort@1";
    made.definition = "argsort";
    made.accepts = accepts;
    made.run = run_counting_sort;
    made.prepare = prepare_argsort;
    made.workspace = [](const Problem& problem, int threads) {
        return Dim(scratch_bytes(problem.inputs[0].dtype)) * argsort_members(problem, threads);
    };
    made.cost = [](const Problem& problem) {
        const double elements = static_cast<double>(element_count(problem.inputs[0].shape).constant()),
                     lines = elements / std::max(1.0, static_cast<double>(argsort_size(problem).constant()));
        const auto keys = static_cast<double>(key_count(problem.inputs[0].dtype));
        return Cost{2 * elements + lines * keys, 2 * bytes_of(problem), 0.25};
    };
    made.samples = {"argsort axis=(-1) descending=(0) | i8[3,N] -> i32[3,N] where N in 0..300",
                    "argsort axis=(-2) descending=(1) | u8[2,N,5] -> i32[2,N,5] where N in 0..700",
                    "argsort axis=(-1) descending=(1) | u8[N]:(3) -> i32[N] where N in 1..1500",
                    "argsort axis=(-1) descending=(0) | f16[2,N] -> i32[2,N] where N in 32768..33000",
                    "argsort axis=(-1) descending=(1) | bf16[N]:(2) -> i32[N] where N in 32768..32800"};
    kernels.push_back(std::move(made));
}

}  // namespace cairn::kernels::cpu
