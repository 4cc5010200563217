#include "graph/types/half.hpp"
#include "kernels/cpu/simd/plain_memory.hpp"
#include "kernels/cpu/simd/table.hpp"

#include <algorithm>
#include <limits>
#include <memory>

/// Registers iota. The code is the same at all levels: baseline vectors already saturate the memory bandwidth.
namespace cairn::kernels::cpu {
namespace {

struct IotaPlan {
    DType dtype;
    int start_at;  ///< index of `start` in Args::dims
};

template <typename T, typename Convert>
void fill_ascending(std::byte* out, std::int64_t stride, std::int64_t n, Convert convert) noexcept {
    T* to = reinterpret_cast<T*>(out);
    if (stride == 1) {
        for (std::int64_t i = 0; i < n; ++i) to[i] = convert(i);
    } else {
        for (std::int64_t i = 0; i < n; ++i) to[i * stride] = convert(i);
    }
}

/// Integers from `first` on, modulo 2^bits.
template <typename Bits>
void count_integers(std::byte* out, std::int64_t stride, std::int64_t n, std::int64_t first) noexcept {
    const Bits from = static_cast<Bits>(first);
    fill_ascending<Bits>(out, stride, n,
                         [from](std::int64_t i) { return static_cast<Bits>(from + static_cast<Bits>(i)); });
}

/// Floats, rounded once. Converts from 32-bit integers if these hold all values, because that vectorises.
template <typename T, typename Short, typename Long>
void count_floats(std::byte* out, std::int64_t stride, std::int64_t n, std::int64_t first, std::int64_t most,
                  Short of_short, Long of_long) noexcept {
    if (first >= -most && first <= most - n) {
        const auto from = static_cast<std::int32_t>(first);
        fill_ascending<T>(out, stride, n,
                          [&](std::int64_t i) { return of_short(from + static_cast<std::int32_t>(i)); });
    } else {
        const auto from = static_cast<std::uint64_t>(first);
        fill_ascending<T>(out, stride, n, [&](std::int64_t i) {
            return of_long(static_cast<std::int64_t>(from + static_cast<std::uint64_t>(i)));
        });
    }
}

/// Stores n elements, counting up from `first`.
void fill(DType dtype, std::byte* out, std::int64_t stride, std::int64_t n, std::int64_t first) noexcept {
    using std::int32_t, std::int64_t, std::uint16_t;
    constexpr int64_t any = std::numeric_limits<int32_t>::max(), exact = 1 << 24;
    switch (dtype) {
        case DType::f64:
            return count_floats<double>(
                out, stride, n, first, any, [](int32_t x) { return static_cast<double>(x); },
                [](int64_t x) { return static_cast<double>(x); });
        case DType::f32:
            return count_floats<float>(
                out, stride, n, first, any, [](int32_t x) { return static_cast<float>(x); },
                [](int64_t x) { return static_cast<float>(x); });
        case DType::f16:
            return count_floats<uint16_t>(
                out, stride, n, first, exact, [](int32_t x) { return types::f32_to_f16(static_cast<float>(x)); },
                [](int64_t x) { return types::f64_to_f16(types::i64_to_f64_odd(x)); });
        case DType::bf16:
            return count_floats<uint16_t>(
                out, stride, n, first, exact, [](int32_t x) { return types::f32_to_bf16(static_cast<float>(x)); },
                [](int64_t x) { return types::f64_to_bf16(types::i64_to_f64_odd(x)); });
        case DType::i64: return count_integers<std::uint64_t>(out, stride, n, first);
        case DType::i32: return count_integers<std::uint32_t>(out, stride, n, first);
        default: return count_integers<std::uint8_t>(out, stride, n, first);
    }
}

void run_iota(const Args& args, Team& team) {
    const auto& plan = *static_cast<const IotaPlan*>(args.prepared);
    const TensorArg& out = args.outputs[0];
    constexpr std::int64_t per_chunk = 16384;
    const std::int64_t count = out.shape[0], bytes = static_cast<std::int64_t>(size_of(plan.dtype));
    const auto start = static_cast<std::uint64_t>(args.dims[plan.start_at]);
    for (std::int64_t chunk = team.next_chunk(); chunk * per_chunk < count; chunk = team.next_chunk()) {
        const std::int64_t begin = chunk * per_chunk;
        fill(plan.dtype, out.data + begin * out.strides[0] * bytes, out.strides[0], std::min(count - begin, per_chunk),
             static_cast<std::int64_t>(start + static_cast<std::uint64_t>(begin)));
    }
}

Refusal accepts(const Problem& problem) {
    if (Refusal no = needs_plain(problem, 1); !no.empty()) return no;
    if (!problem.inputs.empty() || problem.outputs.size() != 1) return "needs no input and one output";
    if (problem.outputs[0].shape.size() != 1) return "needs one axis";
    return problem.outputs[0].dtype == DType::boolean ? "counts in numbers" : Refusal();
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    return std::make_shared<IotaPlan>(
        IotaPlan{problem.outputs[0].dtype, position_of_list(problem.attributes, "start")});
}

}  // namespace

void add_iota(std::vector<Kernel>& kernels) {
    Kernel made;
    made.id = "cpu.baseline.iota@1";
    made.definition = "iota";
    made.accepts = accepts;
    made.run = run_iota;
    made.prepare = prepare;
    made.cost = [](const Problem& problem) { return Cost{0, bytes_of(problem), 0.25}; };
    // Coverage: whole chunks and remainders; values that round, that wrap, and that exceed 32 bits.
    made.samples = {"iota length=(N) start=(-7) dtype=(5) | -> i32[N] where N in 0..40000",
                    "iota length=(300) start=(9223372036854775700) dtype=(4) | -> i64[300]:(2)",
                    "iota length=(300) start=(-100) dtype=(6) | -> i8[300]",
                    "iota length=(300) start=(2147483500) dtype=(7) | -> u8[300]:(3)",
                    "iota length=(300) start=(2147483500) dtype=(1) | -> f32[300]",
                    "iota length=(N) start=(-5) dtype=(1) | -> f32[N] where N in 0..20000",
                    "iota length=(N) start=(9007199254740900) dtype=(0) | -> f64[N] where N in 1..300",
                    "iota length=(N) start=(1900) dtype=(2) | -> f16[N]:(2) where N in 1..300",
                    "iota length=(9) start=(16777210) dtype=(3) | -> bf16[9]"};
    kernels.push_back(std::move(made));
}

}  // namespace cairn::kernels::cpu
