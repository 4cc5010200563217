#include "kernels/cpu/simd/axis_offsets.hpp"
#include "kernels/cpu/simd/movement/strided_copy.hpp"
#include "kernels/cpu/simd/plain_memory.hpp"
#include "kernels/cpu/simd/table.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

/// Registers scatter. A member copies a part of x and stores the updates of that part, so that the part is still in its
/// cache and no barrier is needed. The code is the same at all levels.
namespace cairn::kernels::cpu {
namespace {

struct ScatterPlan {
    int axis = 0;
    bool has_wide_indices = false;
    std::int64_t bytes = 4;
};

/// `count` pieces: piece i is stored to the position in `to` given by index i, if it is one of the `positions` rows
/// from `first` on.
struct ScatterPieces {
    std::byte* to;
    const std::byte* from;
    std::int64_t to_stride, from_stride;  ///< between pieces, in bytes
    const std::byte* indices;
    std::int64_t index_stride, count;
    std::int64_t first, positions, size;
};

constexpr std::int64_t no_bad_index = -1;

/// Stores the pieces; returns the first one whose index is outside 0 .. size - 1, or no_bad_index. Bytes: size of a
/// piece, 0 if it is `bytes`. `pieces` is passed by value, so that the compiler knows that stores do not alias it.
template <typename Index, int Bytes>
std::int64_t scatter_each(ScatterPieces pieces, std::int64_t bytes) noexcept {
    const auto* indices = reinterpret_cast<const Index*>(pieces.indices);
    const auto first = static_cast<std::uint64_t>(pieces.first),
               positions = static_cast<std::uint64_t>(pieces.positions), size = static_cast<std::uint64_t>(pieces.size);
    for (std::int64_t i = 0; i < pieces.count; ++i) {
        const std::int64_t index = indices[i * pieces.index_stride];
        if (static_cast<std::uint64_t>(index) - first >= positions) {
            if (static_cast<std::uint64_t>(index) >= size) return i;
            continue;
        }
        std::byte* to = pieces.to + index * pieces.to_stride;
        const std::byte* from = pieces.from + i * pieces.from_stride;
        if constexpr (Bytes > 0) {
            std::memcpy(to, from, Bytes);
        } else {
            std::memcpy(to, from, static_cast<std::size_t>(bytes));
        }
    }
    return no_bad_index;
}
template <typename Index>
std::int64_t scatter_by_size(const ScatterPieces& pieces, std::int64_t bytes) noexcept {
    switch (bytes) {
        case 1: return scatter_each<Index, 1>(pieces, bytes);
        case 2: return scatter_each<Index, 2>(pieces, bytes);
        case 4: return scatter_each<Index, 4>(pieces, bytes);
        case 8: return scatter_each<Index, 8>(pieces, bytes);
        case 16: return scatter_each<Index, 16>(pieces, bytes);
        case 32: return scatter_each<Index, 32>(pieces, bytes);
        case 64: return scatter_each<Index, 64>(pieces, bytes);
        default: return scatter_each<Index, 0>(pieces, bytes);
    }
}

/// Stores the pieces; reports a bad index to the team and returns false.
bool scatter_pieces(const ScatterPieces& pieces, bool has_wide_indices, std::int64_t bytes, Team& team) noexcept {
    const std::int64_t fault =
        has_wide_indices ? scatter_by_size<std::int64_t>(pieces, bytes) : scatter_by_size<std::int32_t>(pieces, bytes);
    if (fault == no_bad_index) return true;
    const std::int64_t at = fault * pieces.index_stride;
    team.fail("an index is out of range of the indexed axis", 1, fault,
              has_wide_indices ? reinterpret_cast<const std::int64_t*>(pieces.indices)[at]
                               : reinterpret_cast<const std::int32_t*>(pieces.indices)[at]);
    return false;
}

/// Splits the positions along the axis, for each of `slabs` combinations of the axes before it, into `parts` parts; a
/// chunk has `per_chunk` parts. Each part reads all indices, so there are no more parts than keep the members busy.
/// Results do not depend on the split.
struct ScatterShares {
    std::int64_t slabs, size, parts = 1, per_chunk = 1;

    ScatterShares(std::int64_t all_slabs, std::int64_t positions, std::int64_t row_bytes, std::int64_t indices,
                  std::int64_t members) noexcept
        : slabs(all_slabs), size(positions) {
        constexpr std::int64_t chunk_bytes = 32768;
        const std::int64_t slab_bytes = size * row_bytes, wanted = indices < size / 8 ? 4 * members : members;
        if (slab_bytes < chunk_bytes) per_chunk = chunk_bytes / std::max<std::int64_t>(slab_bytes, 1);
        if (slabs < wanted && members > 1)
            parts = std::max<std::int64_t>(std::min({slab_bytes / chunk_bytes, size, wanted}), 1);
    }
    std::int64_t items() const noexcept { return slabs * parts; }
    std::int64_t first_position(std::int64_t part) const noexcept { return size * part / parts; }
};

void run_scatter(const Args& args, Team& team) {
    const auto& plan = *static_cast<const ScatterPlan*>(args.prepared);
    const TensorArg &x = args.inputs[0], &indices = args.inputs[1], &updates = args.inputs[2], &out = args.outputs[0];
    const std::int64_t behind = count_of(out, plan.axis + 1, out.rank - plan.axis - 1), row_bytes = behind * plan.bytes;
    const std::int64_t size = out.shape[plan.axis], slabs = count_of(out, 0, plan.axis);
    const ScatterShares shares(slabs, size, row_bytes, indices.shape[0], team.size());
    ScatterPieces pieces{out.data,
                         updates.data,
                         out.strides[plan.axis] * plan.bytes,
                         updates.strides[plan.axis] * plan.bytes,
                         indices.data,
                         indices.strides[0],
                         indices.shape[0],
                         0,
                         0,
                         size};
    if (slabs * row_bytes == 0) {  // indices are validated anyway
        if (team.rank() == 0) scatter_pieces(pieces, plan.has_wide_indices, row_bytes, team);
        return;
    }
    StridedCopy job;
    job.to = out.data;
    job.from = x.data;
    job.bytes = plan.bytes;
    for (int axis = 0; axis < out.rank; ++axis) job.add_axis(out.shape[axis], out.strides[axis], x.strides[axis]);
    for (std::int64_t chunk = team.next_chunk(); chunk * shares.per_chunk < shares.items(); chunk = team.next_chunk()) {
        const std::int64_t begin = chunk * shares.per_chunk, end = std::min(shares.items(), begin + shares.per_chunk);
        for (std::int64_t item = begin; item < end; ++item) {
            const std::int64_t slab = item / shares.parts, part = item % shares.parts;
            pieces.first = shares.first_position(part);
            pieces.positions = shares.first_position(part + 1) - pieces.first;
            // In place on x there is nothing to copy.
            if (out.data != x.data)
                copy_elements(job, (slab * size + pieces.first) * behind,
                              (slab * size + pieces.first + pieces.positions) * behind);
            pieces.to = out.data + offset_of(out, 0, plan.axis, slab) * plan.bytes;
            pieces.from = updates.data + offset_of(updates, 0, plan.axis, slab) * plan.bytes;
            if (!scatter_pieces(pieces, plan.has_wide_indices, row_bytes, team)) return;
        }
    }
}

Refusal accepts(const Problem& problem) {
    if (Refusal no = needs_plain(problem, max_copy_rank); !no.empty()) return no;
    if (problem.inputs.size() != 3 || problem.outputs.size() != 1) return "needs x, indices, updates and one output";
    const TensorDesc &x = problem.inputs[0], &indices = problem.inputs[1], &updates = problem.inputs[2];
    const TensorDesc& out = problem.outputs[0];
    if (indices.dtype != DType::i32 && indices.dtype != DType::i64) return "needs indices i32 or i64";
    if (indices.shape.size() != 1) return "needs indices of one axis";
    if (x.dtype != out.dtype || updates.dtype != out.dtype) return "needs one dtype";
    if (x.shape != out.shape || updates.shape.size() != out.shape.size()) return "needs one shape";
    if (x.shape.empty()) return "needs an axis";
    const auto axis = static_cast<std::size_t>(axis_index(problem.attributes.integer("axis"), x.shape.size()));
    if (!is_dense_from(updates, axis + 1) || !is_dense_from(out, axis + 1)) return "needs rows without gaps";
    return {};
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    auto plan = std::make_shared<ScatterPlan>();
    plan->axis = axis_index(problem.attributes.integer("axis"), problem.inputs[0].shape.size());
    plan->has_wide_indices = problem.inputs[1].dtype == DType::i64;
    plan->bytes = static_cast<std::int64_t>(size_of(problem.inputs[0].dtype));
    return plan;
}

}  // namespace

void add_scatter(std::vector<Kernel>& kernels) {
    Kernel made;
    made.id = "cpu.baseline.scatter@1";
    made.definition = "scatter";
    made.accepts = accepts;
    made.run = run_scatter;
    made.prepare = prepare;
    made.in_place = {{0, 0}};
    made.cost = [](const Problem& problem) { return Cost{0, bytes_of(problem), 0.25}; };
    made.samples = {
        "scatter axis=(-2) | f32[50,9] i32[N] f32[N,9] -> f32[50,9] where N in 0..200",
        "scatter axis=(-1) | i64[N,9] i64[40]:(2) i64[N,40] -> i64[N,9] where N in 0..500",
        "scatter axis=(-2) | i64[2,1400,7] i32[T] i64[2,T,7] -> i64[2,1400,7]:(14000,7,1) where T in 0..200",
        "scatter axis=(-1) | f64[9000] i64[700] f64[700]:(0) -> f64[9000]",
        "scatter axis=(-3) | f16[N,4,8]:(1,N,4*N) i32[9] f16[9,4,8]:(40,8,1) -> f16[N,4,8] where N in 1..90"};
    kernels.push_back(std::move(made));
}

}  // namespace cairn::kernels::cpu
