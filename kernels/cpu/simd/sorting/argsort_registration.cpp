#include "kernels/cpu/simd/sorting/argsort_problem.hpp"
#include "kernels/cpu/simd/table.hpp"

#include <algorithm>
#include <array>
#include <utility>

/// Registers argsort: LSD radix sort of keys with their indices, 8 bits per digit, which is stable; short lines use a
/// comparison sort. A member sorts whole lines. The code is the same at all levels.
namespace cairn::kernels::cpu {
namespace {

/// A key and its original index. Keys of up to 32 bits share a word with the index, so that one comparison suffices.
template <typename Key>
struct KeyedIndex {
    std::uint64_t word;

    static KeyedIndex of(Key key, std::int64_t index) noexcept {
        return {static_cast<std::uint64_t>(key) << 32 | static_cast<std::uint32_t>(index)};
    }
    std::int32_t index() const noexcept { return static_cast<std::int32_t>(word & 0x7fffffffu); }
    std::size_t digit(unsigned number) const noexcept { return word >> (32 + 8 * number) & 0xffu; }
    friend bool operator<(KeyedIndex a, KeyedIndex b) noexcept { return a.word < b.word; }
};
template <>
struct KeyedIndex<std::uint64_t> {
    std::uint64_t key, at;

    static KeyedIndex of(std::uint64_t key, std::int64_t index) noexcept {
        return {key, static_cast<std::uint64_t>(index)};
    }
    std::int32_t index() const noexcept { return static_cast<std::int32_t>(at); }
    std::size_t digit(unsigned number) const noexcept { return key >> (8 * number) & 0xffu; }
    friend bool operator<(const KeyedIndex& a, const KeyedIndex& b) noexcept {
        return a.key != b.key ? a.key < b.key : a.at < b.at;
    }
};

constexpr unsigned bucket_count = 256;
constexpr std::int64_t max_compared = 64;
using Buckets = std::array<std::uint32_t, bucket_count>;

template <typename Key>
void comparison_sort(KeyedIndex<Key>* entries, std::int64_t size, const Indices& out) noexcept {
    std::sort(entries, entries + size);
    for (std::int64_t i = 0; i < size; ++i) out.put(i, entries[i].index());
}

/// Replaces the bucket counts by the offset of each bucket's first entry.
void exclusive_prefix_sum(Buckets& buckets) noexcept {
    std::uint32_t before = 0;
    for (std::uint32_t& bucket : buckets) before += std::exchange(bucket, before);
}

/// `counts`: histogram of each digit.
template <typename Key>
void radix_sort(KeyedIndex<Key>* entries, KeyedIndex<Key>* other, Buckets* counts, std::int64_t size,
                const Indices& out) noexcept {
    // A digit that is equal in all keys is skipped.
    unsigned digits[sizeof(Key)], digit_count = 0;
    for (unsigned digit = 0; digit < sizeof(Key); ++digit)
        if (counts[digit][entries[0].digit(digit)] != static_cast<std::uint32_t>(size)) digits[digit_count++] = digit;
    if (digit_count == 0)
        for (std::int64_t i = 0; i < size; ++i) out.put(i, entries[i].index());
    for (unsigned pass = 0; pass < digit_count; ++pass) {
        const unsigned digit = digits[pass];
        Buckets& next = counts[digit];
        exclusive_prefix_sum(next);
        if (pass + 1 == digit_count) {
            for (std::int64_t i = 0; i < size; ++i) out.put(next[entries[i].digit(digit)]++, entries[i].index());
        } else {
            for (std::int64_t i = 0; i < size; ++i) other[next[entries[i].digit(digit)]++] = entries[i];
            std::swap(entries, other);
        }
    }
}

std::int64_t ceildiv(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Scratch of one member in bytes: two lists of entries (one for keys of one digit), and the buckets of all digits.
constexpr std::int64_t buckets_bytes = sizeof(std::uint64_t) * sizeof(Buckets);
template <typename Size>
Size scratch_bytes(Size size, DType dtype) {
    constexpr std::int64_t line =
        64 / sizeof(KeyedIndex<std::uint32_t>);  // entries per cache line, so that lists are whole lines
    const std::int64_t bytes =
        size_of(dtype) == 8 ? sizeof(KeyedIndex<std::uint64_t>) : sizeof(KeyedIndex<std::uint32_t>);
    const std::int64_t lists = size_of(dtype) == 1 ? 1 : 2;
    return ceildiv(size, line) * Size(lists * line * bytes) + Size(buckets_bytes);
}

template <typename Key, typename RankOf>
void sort_line(const Key* keys, std::int64_t stride, std::int64_t size, const RankOf& rank_of, std::byte* scratch,
               const Indices& out) noexcept {
    auto* counts = reinterpret_cast<Buckets*>(scratch);
    auto* entries = reinterpret_cast<KeyedIndex<Key>*>(scratch + buckets_bytes);
    auto* other = entries + size;
    const auto entry = [&](std::int64_t i) { return KeyedIndex<Key>::of(rank_of(keys[i * stride]), i); };
    if (size <= max_compared) {
        for (std::int64_t i = 0; i < size; ++i) entries[i] = entry(i);
        return comparison_sort(entries, size, out);
    }
    for (unsigned digit = 0; digit < sizeof(Key); ++digit) counts[digit].fill(0);
    for (std::int64_t i = 0; i < size; ++i) {
        entries[i] = entry(i);
        for (unsigned digit = 0; digit < sizeof(Key); ++digit) ++counts[digit][entries[i].digit(digit)];
    }
    radix_sort(entries, other, counts, size, out);
}

void run_argsort(const Args& args, Team& team) {
    const auto& plan = *static_cast<const ArgsortPlan*>(args.prepared);
    for_each_line(args, team, scratch_bytes(args.inputs[0].shape[plan.axis], plan.dtype),
                  [](auto... line) { sort_line(line...); });
}

}  // namespace

void add_argsort(std::vector<Kernel>& kernels) {
    Kernel made;
    made.id = "cpu.baseline.argsort@1";
    made.definition = "argsort";
    made.accepts = argsort_refusal;
    made.run = run_argsort;
    made.prepare = prepare_argsort;
    made.workspace = [](const Problem& problem, int threads) {
        return scratch_bytes(argsort_size(problem), problem.inputs[0].dtype) * argsort_members(problem, threads);
    };
    made.cost = [](const Problem& problem) {
        const double elements = static_cast<double>(element_count(problem.inputs[0].shape).constant());
        return Cost{16 * elements, bytes_of(problem), 0.25};
    };
    made.samples = {"argsort axis=(-1) descending=(0) | f32[3,N] -> i32[3,N] where N in 0..300",
                    "argsort axis=(-2) descending=(1) | f32[2,N,5] -> i32[2,N,5] where N in 0..200",
                    "argsort axis=(-1) descending=(1) | i8[N]:(3) -> i32[N] where N in 1..1500",
                    "argsort axis=(-1) descending=(0) | i64[9,N]:(1,0) -> i32[9,N] where N in 1..200"};
    kernels.push_back(std::move(made));
}

}  // namespace cairn::kernels::cpu
