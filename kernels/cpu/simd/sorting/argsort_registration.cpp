#include "kernels/cpu/simd/axis_offsets.hpp"
#include "kernels/cpu/simd/plain_memory.hpp"
#include "kernels/cpu/simd/reduction/reduce_plan.hpp"
#include "kernels/cpu/simd/sorting/sort_keys.hpp"
#include "kernels/cpu/simd/table.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

/// Registers argsort: LSD radix sort of keys with their indices, 8 bits per digit, which is stable; short lines use a
/// comparison sort. A member sorts whole lines. The code is the same at all levels.
namespace cairn::kernels::cpu {
namespace {

struct ArgsortPlan {
    int axis;
    DType dtype;
    bool descending;
};

/// A key and its original index. Keys of up to 32 bits share a word with the index, so that one comparison suffices.
template <typename Key>
struct KeyedIndex {
    std::uint64_t word;

    static KeyedIndex of(Key key, std::int64_t place) noexcept {
        return {static_cast<std::uint64_t>(key) << 32 | static_cast<std::uint32_t>(place)};
    }
    std::int32_t place() const noexcept { return static_cast<std::int32_t>(word & 0x7fffffffu); }
    std::size_t digit(unsigned number) const noexcept { return word >> (32 + 8 * number) & 0xffu; }
    friend bool operator<(KeyedIndex a, KeyedIndex b) noexcept { return a.word < b.word; }
};
template <>
struct KeyedIndex<std::uint64_t> {
    std::uint64_t key, at;

    static KeyedIndex of(std::uint64_t key, std::int64_t place) noexcept {
        return {key, static_cast<std::uint64_t>(place)};
    }
    std::int32_t place() const noexcept { return static_cast<std::int32_t>(at); }
    std::size_t digit(unsigned number) const noexcept { return key >> (8 * number) & 0xffu; }
    friend bool operator<(const KeyedIndex& a, const KeyedIndex& b) noexcept {
        return a.key != b.key ? a.key < b.key : a.at < b.at;
    }
};

struct Indices {
    std::byte* to;
    std::int64_t stride;
    void put(std::int64_t at, std::int32_t place) const noexcept {
        reinterpret_cast<std::int32_t*>(to)[at * stride] = place;
    }
};

constexpr unsigned bucket_count = 256;
constexpr std::int64_t compared_at_most = 64;
using Buckets = std::array<std::uint32_t, bucket_count>;

template <typename Key>
void comparison_sort(KeyedIndex<Key>* entries, std::int64_t size, const Indices& out) noexcept {
    std::sort(entries, entries + size);
    for (std::int64_t i = 0; i < size; ++i) out.put(i, entries[i].place());
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
        for (std::int64_t i = 0; i < size; ++i) out.put(i, entries[i].place());
    for (unsigned pass = 0; pass < digit_count; ++pass) {
        const unsigned digit = digits[pass];
        Buckets& next = counts[digit];
        exclusive_prefix_sum(next);
        if (pass + 1 == digit_count) {
            for (std::int64_t i = 0; i < size; ++i) out.put(next[entries[i].digit(digit)]++, entries[i].place());
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

template <typename Key, typename KeyOf>
void sort_line(const std::byte* x, std::int64_t stride, std::int64_t size, Key flip, KeyOf key_of, std::byte* scratch,
               const Indices& out) noexcept {
    auto* counts = reinterpret_cast<Buckets*>(scratch);
    auto* entries = reinterpret_cast<KeyedIndex<Key>*>(scratch + buckets_bytes);
    auto* other = entries + size;
    const auto* keys = reinterpret_cast<const Key*>(x);
    const auto entry = [&](std::int64_t i) {
        return KeyedIndex<Key>::of(static_cast<Key>(key_of(keys[i * stride]) ^ flip), i);
    };
    if (size <= compared_at_most) {
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
    const TensorArg &in = args.inputs[0], &out = args.outputs[0];
    const std::int64_t size = in.shape[plan.axis], behind = count_of(in, plan.axis + 1, in.rank - plan.axis - 1);
    if (size == 0) return;
    const std::int64_t lines = count_of(in, 0, plan.axis) * behind;
    // Scratch is indexed by the member's first line if there are fewer lines than members, otherwise by its rank.
    std::byte* scratch = nullptr;
    const auto first_of = [&](const TensorArg& arg, std::int64_t line) {
        return offset_of(arg, 0, plan.axis, line / behind) +
               offset_of(arg, plan.axis + 1, arg.rank - plan.axis - 1, line % behind);
    };
    // Lines that share cache lines are sorted by one member.
    const std::int64_t shared = in.strides[plan.axis] == 1 ? 1 : 16,
                       at_once = std::max<std::int64_t>(4096 / size, shared);
    with_keys(plan.dtype, [&](auto element, auto key_of) {
        using Key = decltype(element);
        const Key flip = plan.descending ? static_cast<Key>(~Key{0}) : Key{0};
        for (std::int64_t chunk = team.next_chunk(); chunk * at_once < lines; chunk = team.next_chunk()) {
            const std::int64_t end = std::min(lines, (chunk + 1) * at_once);
            if (scratch == nullptr)
                scratch = args.workspace + scratch_bytes(size, plan.dtype) *
                                               (lines < team.size() ? chunk * at_once : std::int64_t{team.rank()});
            for (std::int64_t line = chunk * at_once; line < end; ++line)
                sort_line(in.data + first_of(in, line) * static_cast<std::int64_t>(sizeof(Key)), in.strides[plan.axis],
                          size, flip, key_of, scratch, {out.data + first_of(out, line) * 4, out.strides[plan.axis]});
        }
    });
}

Refusal accepts(const Problem& problem) {
    if (Refusal no = needs_plain(problem, max_reduce_rank); !no.empty()) return no;
    if (problem.inputs.size() != 1 || problem.outputs.size() != 1) return "needs one input and one output";
    const TensorDesc &x = problem.inputs[0], &out = problem.outputs[0];
    if (x.dtype == DType::boolean) return "needs numbers";
    if (out.dtype != DType::i32 || x.shape != out.shape) return "needs indices i32 of one shape with x";
    return x.shape.empty() ? "needs an axis" : Refusal();
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    const TensorDesc& x = problem.inputs[0];
    return std::make_shared<ArgsortPlan>(ArgsortPlan{axis_index(problem.attributes.integer("axis"), x.shape.size()),
                                                     x.dtype, problem.attributes.integer("descending") != 0});
}

}  // namespace

void add_argsort(std::vector<Kernel>& kernels) {
    Kernel made;
    made.id = "cpu.baseline.argsort@1";
    made.definition = "argsort";
    made.accepts = accepts;
    made.run = run_argsort;
    made.prepare = prepare;
    made.workspace = [](const Problem& problem, int threads) {
        const Shape& shape = problem.inputs[0].shape;
        const int axis = axis_index(problem.attributes.integer("axis"), shape.size());
        Dim lines = 1;
        for (std::size_t i = 0; i < shape.size(); ++i)
            if (static_cast<int>(i) != axis) lines *= shape[i];
        return scratch_bytes(shape[static_cast<std::size_t>(axis)], problem.inputs[0].dtype) * min(lines, Dim(threads));
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
