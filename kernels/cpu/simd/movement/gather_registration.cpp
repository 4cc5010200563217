#include "kernels/cpu/simd/axis_offsets.hpp"
#include "kernels/cpu/simd/movement/packed_store.hpp"
#include "kernels/cpu/simd/plain_memory.hpp"
#include "kernels/cpu/simd/table.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

/// Registers gather, embedding and take_along_axis, which move elements by index. The code is the same at all levels.
namespace cairn::kernels::cpu {
namespace {

struct GatherPlan {
    int axis = 0;
    bool has_wide_indices = false;
    std::int64_t bytes = 4;
};

/// `count` pieces: piece i is copied to position i of `to` from the position in `from` given by index i.
struct GatherPieces {
    std::byte* to;
    const std::byte* from;
    std::int64_t to_stride, from_stride;  ///< between pieces, in bytes
    std::int64_t step;                    ///< advance of `from` per piece, in bytes
    const std::byte* indices;
    std::int64_t index_stride, count, size;
};

constexpr std::int64_t no_bad_index = -1;

/// Copies the pieces; returns the first one whose index is outside 0 .. size - 1, or no_bad_index. Bytes: size of a
/// piece, 0 if it is `bytes`. `pieces` is passed by value, so that the compiler knows that stores do not alias it.
template <typename Index, int Bytes>
std::int64_t gather_each(GatherPieces pieces, std::int64_t bytes) noexcept {
    const auto* indices = reinterpret_cast<const Index*>(pieces.indices);
    for (std::int64_t i = 0; i < pieces.count; ++i) {
        const std::int64_t index = indices[i * pieces.index_stride];
        if (index < 0 || index >= pieces.size) return i;
        std::byte* to = pieces.to + i * pieces.to_stride;
        const std::byte* from = pieces.from + i * pieces.step + index * pieces.from_stride;
        if constexpr (Bytes > 0) {
            std::memcpy(to, from, Bytes);
        } else if (bytes > 0) {
            std::memcpy(to, from, static_cast<std::size_t>(bytes));
        }
    }
    return no_bad_index;
}
template <typename Index>
std::int64_t gather_by_size(const GatherPieces& pieces, std::int64_t bytes) noexcept {
    switch (bytes) {
        case 1: return gather_each<Index, 1>(pieces, bytes);
        case 2: return gather_each<Index, 2>(pieces, bytes);
        case 4: return gather_each<Index, 4>(pieces, bytes);
        case 8: return gather_each<Index, 8>(pieces, bytes);
        case 16: return gather_each<Index, 16>(pieces, bytes);
        case 32: return gather_each<Index, 32>(pieces, bytes);
        case 64: return gather_each<Index, 64>(pieces, bytes);
        default: return gather_each<Index, 0>(pieces, bytes);
    }
}

/// Copies the pieces; reports a bad index to the team and returns false. `first`: position of the first index among
/// all.
bool gather_pieces(const GatherPieces& pieces, bool has_wide_indices, std::int64_t bytes, std::int64_t first,
                   Team& team) noexcept {
    const std::int64_t fault =
        has_wide_indices ? gather_by_size<std::int64_t>(pieces, bytes) : gather_by_size<std::int32_t>(pieces, bytes);
    if (fault == no_bad_index) return true;
    const std::int64_t at = fault * pieces.index_stride;
    team.fail("an index is out of range of the indexed axis", 1, first + fault,
              has_wide_indices ? reinterpret_cast<const std::int64_t*>(pieces.indices)[at]
                               : reinterpret_cast<const std::int32_t*>(pieces.indices)[at]);
    return false;
}

/// to[i] = the element at from + offsets[i].
template <typename T>
void gather_elements(std::byte* to, const std::byte* from, const std::int64_t* offsets, std::int64_t n) noexcept {
    store_packed<T>(to, n, [&](std::int64_t i) {
        T element;
        std::memcpy(&element, from + offsets[i], sizeof element);
        return element;
    });
}
void gather_row(std::int64_t bytes, std::byte* to, const std::byte* from, const std::int64_t* offsets,
                std::int64_t n) noexcept {
    switch (bytes) {
        case 1: return gather_elements<std::uint8_t>(to, from, offsets, n);
        case 2: return gather_elements<std::uint16_t>(to, from, offsets, n);
        case 4: return gather_elements<std::uint32_t>(to, from, offsets, n);
        default: return gather_elements<std::uint64_t>(to, from, offsets, n);
    }
}

std::int64_t index_at(const TensorArg& indices, bool is_wide, std::int64_t at) noexcept {
    return is_wide ? reinterpret_cast<const std::int64_t*>(indices.data)[at]
                   : reinterpret_cast<const std::int32_t*>(indices.data)[at];
}

/// Gathers single elements of many rows at the same indices, which are read once for several rows. The next rows are
/// prefetched entirely, because random accesses within them would miss on each line.
void gather_from_rows(const Args& args, Team& team, const GatherPlan& plan, std::int64_t rows, std::int64_t run) {
    constexpr std::int64_t block = 512, cells = 16384, rows_ahead = 2, line = 64;
    const TensorArg &table = args.inputs[0], &indices = args.inputs[1], &out = args.outputs[0];
    const std::int64_t step = table.strides[plan.axis] * plan.bytes, size = table.shape[plan.axis];
    const bool prefetches = run * line >= size * step && step > 0;
    const std::int64_t per_chunk = run < cells ? cells / run : 1;
    for (std::int64_t chunk = team.next_chunk(); chunk * per_chunk < rows; chunk = team.next_chunk()) {
        const std::int64_t end = std::min(rows, (chunk + 1) * per_chunk);
        for (std::int64_t first = 0; first < run; first += block) {
            const std::int64_t n = std::min(run - first, block);
            std::int64_t offsets[block];
            for (std::int64_t i = 0; i < n; ++i) {
                const std::int64_t at = offset_of(indices, 0, indices.rank, first + i);
                const std::int64_t index = index_at(indices, plan.has_wide_indices, at);
                if (index < 0 || index >= size)
                    return team.fail("an index is out of range of the indexed axis", 1, first + i, index);
                offsets[i] = index * step;
            }
            for (std::int64_t row = chunk * per_chunk; row < end; ++row) {
                const std::byte* from = table.data + offset_of(table, 0, plan.axis, row) * plan.bytes;
                if (prefetches && row + rows_ahead < rows) {
                    const std::byte* next = table.data + offset_of(table, 0, plan.axis, row + rows_ahead) * plan.bytes;
                    for (std::int64_t i = 0; i < size * step; i += line) __builtin_prefetch(next + i);
                }
                gather_row(plan.bytes, out.data + (offset_of(out, 0, plan.axis, row) + first) * plan.bytes, from,
                           offsets, n);
            }
        }
    }
}

void run_gather(const Args& args, Team& team) {
    const auto& plan = *static_cast<const GatherPlan*>(args.prepared);
    const TensorArg &table = args.inputs[0], &indices = args.inputs[1], &out = args.outputs[0];
    const std::int64_t row_bytes = count_of(table, plan.axis + 1, table.rank - plan.axis - 1) * plan.bytes;
    // Indices along the `merged` axes are one run; the axes before, of the table and of the indices, select the run.
    const int merged = std::min(merged_axes(indices, 0, indices.rank), merged_axes(out, plan.axis, indices.rank));
    const int leading = indices.rank - merged;
    const std::int64_t leading_count = count_of(indices, 0, leading), run = count_of(indices, leading, merged);
    const std::int64_t before = count_of(table, 0, plan.axis), total = before * leading_count * run;
    const bool is_dense = merged > 0 && leading == 0 && out.strides[plan.axis + indices.rank - 1] == 1;
    if (is_dense && row_bytes == plan.bytes && before > 1 && run > 0)
        return gather_from_rows(args, team, plan, before, run);
    const std::int64_t per_chunk = row_bytes < 32768 ? 32768 / (row_bytes + 4) + 1 : 1;
    const std::int64_t index_bytes = plan.has_wide_indices ? 8 : 4;
    for (std::int64_t chunk = team.next_chunk(); chunk * per_chunk < total; chunk = team.next_chunk()) {
        const std::int64_t end = std::min(total, (chunk + 1) * per_chunk);
        for (std::int64_t at = chunk * per_chunk; at < end;) {
            const std::int64_t outer = at / run, i = at % run, position = outer / leading_count;
            const std::int64_t lead = outer % leading_count, count = std::min(run - i, end - at);
            const std::int64_t to_stride = merged > 0 ? out.strides[plan.axis + indices.rank - 1] : 0;
            const std::int64_t index_stride = merged > 0 ? indices.strides[indices.rank - 1] : 0;
            const std::int64_t to =
                offset_of(out, 0, plan.axis, position) + offset_of(out, plan.axis, leading, lead) + i * to_stride;
            const GatherPieces pieces{
                out.data + to * plan.bytes,
                table.data + offset_of(table, 0, plan.axis, position) * plan.bytes,
                to_stride * plan.bytes,
                table.strides[plan.axis] * plan.bytes,
                0,
                indices.data + (offset_of(indices, 0, leading, lead) + i * index_stride) * index_bytes,
                index_stride,
                count,
                table.shape[plan.axis]};
            if (!gather_pieces(pieces, plan.has_wide_indices, row_bytes, lead * run + i, team)) return;
            at += count;
        }
    }
}

void run_take_along_axis(const Args& args, Team& team) {
    const auto& plan = *static_cast<const GatherPlan*>(args.prepared);
    const TensorArg &x = args.inputs[0], &indices = args.inputs[1], &out = args.outputs[0];
    const int last = out.rank - 1;
    const std::int64_t length = out.shape[last], rows = count_of(out, 0, last);
    if (length == 0) return;
    const std::int64_t per_chunk = length < 8192 ? 8192 / length : 1, index_bytes = plan.has_wide_indices ? 8 : 4;
    for (std::int64_t chunk = team.next_chunk(); chunk * per_chunk < rows; chunk = team.next_chunk()) {
        const std::int64_t end = std::min(rows, (chunk + 1) * per_chunk);
        for (std::int64_t row = chunk * per_chunk; row < end; ++row) {
            std::int64_t from = 0, rest = row;
            for (int axis = last - 1; axis >= 0; --axis) {
                if (axis != plan.axis) from += rest % out.shape[axis] * x.strides[axis];
                rest /= out.shape[axis];
            }
            const GatherPieces pieces{out.data + offset_of(out, 0, last, row) * plan.bytes,
                                      x.data + from * plan.bytes,
                                      out.strides[last] * plan.bytes,
                                      x.strides[plan.axis] * plan.bytes,
                                      plan.axis == last ? 0 : x.strides[last] * plan.bytes,
                                      indices.data + offset_of(indices, 0, last, row) * index_bytes,
                                      indices.strides[last],
                                      length,
                                      x.shape[plan.axis]};
            if (!gather_pieces(pieces, plan.has_wide_indices, plan.bytes, row * length, team)) return;
        }
    }
}

/// The gather axis of the table; for an embedding the first.
int axis_of(const Problem& problem) {
    if (!problem.attributes.has("axis")) return 0;
    return axis_index(problem.attributes.integer("axis"), problem.inputs[0].shape.size());
}

Refusal accepts(const Problem& problem) {
    if (Refusal no = needs_plain(problem, 16); !no.empty()) return no;
    if (problem.inputs.size() != 2 || problem.outputs.size() != 1) return "needs a table, indices and one output";
    const TensorDesc &table = problem.inputs[0], &indices = problem.inputs[1], &out = problem.outputs[0];
    if (indices.dtype != DType::i32 && indices.dtype != DType::i64) return "needs indices i32 or i64";
    if (table.dtype != out.dtype) return "needs one dtype";
    if (table.shape.empty()) return "needs a table with an axis";
    if (problem.definition == "take_along_axis") return {};
    const auto axis = static_cast<std::size_t>(axis_of(problem));
    if (!is_dense_from(table, axis + 1) || !is_dense_from(out, axis + indices.shape.size()))
        return "needs rows without gaps";
    return {};
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    auto plan = std::make_shared<GatherPlan>();
    plan->axis = axis_of(problem);
    plan->has_wide_indices = problem.inputs[1].dtype == DType::i64;
    plan->bytes = static_cast<std::int64_t>(size_of(problem.inputs[0].dtype));
    return plan;
}

Kernel kernel(const std::string& name, const std::string& version, Run run, std::vector<std::string> samples) {
    Kernel made;
    made.id = "cpu.baseline." + name + "@" + version;
    made.definition = name;
    made.accepts = accepts;
    made.run = run;
    made.prepare = prepare;
    made.cost = [](const Problem& problem) {
        const TensorDesc& out = problem.outputs[0];
        const double elements = static_cast<double>(element_count(out.shape).constant());
        return Cost{0, 2 * elements * static_cast<double>(size_of(out.dtype)), 0.25};
    };
    made.samples = std::move(samples);
    return made;
}

}  // namespace

void add_gathers(std::vector<Kernel>& kernels) {
    kernels.push_back(
        kernel("gather", "4", run_gather,
               {"gather axis=(-2) | f32[50,N] i32[T] -> f32[T,N] where N in 0..90, T in 0..70",
                "gather axis=(-2) | f16[9,24]:(40,1) i64[3,T]:(1,3) -> f16[3,T,24] where T in 1..60",
                "gather axis=(-3) | bf16[7,3,5] i32[] -> bf16[3,5]", "gather axis=(-1) | i8[11] i64[40] -> i8[40]",
                "gather axis=(-1) | f32[N,33]:(1,N) i32[T] -> f32[N,T] where N in 1..90, T in 0..50",
                "gather axis=(-2) | f64[4,9,2] i64[T,3] -> f64[4,T,3,2] where T in 0..50",
                "gather axis=(-2) | u8[3,9,16]:(200,20,1) i32[2,T]:(1,2) -> u8[3,2,T,16] where T in 1..50",
                "gather axis=(-2) | f32[5,9,8] i32[7]:(3) -> f32[5,7,8]:(80,10,1)",
                "gather axis=(-1) | f16[6,9] i64[] -> f16[6]",
                "gather axis=(-1) | i8[7,90] i64[N]:(2) -> i8[7,N] where N in 0..600",
                "gather axis=(-1) | f16[3,2,40]:(90,40,1) i32[3,N] -> f16[3,2,3,N] where N in 1..20",
                "gather axis=(-2) | f64[5,9,8] i32[700] -> f64[5,700,8]"}));
    kernels.push_back(kernel("embedding", "2", run_gather,
                             {"embedding | f32[50,N] i32[T] -> f32[T,N] where N in 1..90, T in 0..70",
                              "embedding | bf16[9,24]! i64[3,T]:(1,3) -> bf16[3,T,24] where T in 1..60"}));
    kernels.push_back(
        kernel("take_along_axis", "1", run_take_along_axis,
               {"take_along_axis axis=(-2) | f32[50,9] i32[N,9] -> f32[N,9] where N in 0..200",
                "take_along_axis axis=(-1) | u8[3,8]:(1,3) i64[3,N] -> u8[3,N] where N in 0..90",
                "take_along_axis axis=(-3) | f64[7,2,3] i32[4,2,3]:(1,4,8) -> f64[4,2,3]:(12,6,2)",
                "take_along_axis axis=(-2) | bf16[2,7,N]:(1,2,14) i64[2,5,N]:(0,N,1) -> bf16[2,5,N] where N in 1..99",
                "take_along_axis axis=(-1) | i32[9] i32[N] -> i32[N] where N in 0..9000"}));
}

}  // namespace cairn::kernels::cpu
