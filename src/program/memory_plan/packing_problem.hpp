#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Declares the packing problem of memory planning on plain numbers: which buffers may share bytes, and their offsets.
///
/// Sizes depend on symbols (a sequence length). A plan is therefore not a list of offsets but an order relation "lies
/// below" between buffers, computed at a few sample sizes. At any size
///
///     offset(i) = max over the buffers j directly below i of align_up(offset(j) + bytes(j), alignment(i)),  0 if none
///
/// Any two buffers live at the same time are ordered by the relation, hence disjoint at every size.
namespace cairn::memory_plan {

/// Memory that is live from instruction `first` to instruction `last`, both included.
struct BufferRequest {
    std::vector<std::int64_t> bytes;  ///< at each sample point; 0 is legal
    std::int64_t alignment = 64;      ///< a power of two
    int first = 0;
    int last = 0;
};

/// Input of pack(): the buffers to place. Every buffer has `samples` entries in `bytes`.
struct PackingProblem {
    std::vector<BufferRequest> buffers;
    int samples = 1;
};

/// Output of pack(): the plan. Indices are those of `PackingProblem::buffers`.
struct PackingSolution {
    /// Per buffer the buffers directly below it: the transitive reduction of the relation.
    std::vector<std::vector<int>> below;
    /// Topological order: each buffer after those below it. Offsets are evaluated in this order.
    std::vector<int> order;
    /// `offsets[sample][buffer]`
    std::vector<std::vector<std::int64_t>> offsets;
    /// Size of the plan in bytes, per sample.
    std::vector<std::int64_t> height;
    /// Lower bound of any plan's height, per sample: the maximum over instructions of the live bytes, sizes rounded up
    /// to the smallest alignment of all buffers, except for one buffer that may be on top unrounded.
    std::vector<std::int64_t> lower_bound;
};

/// Checks `problem`: returns the first fault in words, empty if it is well formed: as many sizes as samples, no
/// negative size, alignments that are powers of two, `first <= last`, and a sum of all sizes and alignments that fits
/// 62 bits.
std::string fault_of(const PackingProblem& problem);

/// `value` rounded up to a multiple of `alignment`, a power of two.
constexpr std::int64_t align_up(std::int64_t value, std::int64_t alignment) noexcept {
    return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace cairn::memory_plan
