#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Memory planning on plain numbers: which buffers may share bytes, and where each one lies.
///
/// Sizes depend on symbols (a sequence length), so a plan is no list of offsets but a relation "lies below" between
/// buffers, found at a few sample sizes. At any size
///
///     offset(i) = max over the buffers j directly below i of align_up(offset(j) + bytes(j), alignment(i)),  0 if there
///     is none
///
/// Any two buffers that live at the same time are ordered by the relation, hence disjoint whatever their sizes are.
namespace cairn::memory_plan {

/// A piece of memory that is needed from instruction `first` to instruction `last`, both included.
struct BufferRequest {
    std::vector<std::int64_t> bytes;  ///< at each sample point; 0 is legal
    std::int64_t alignment = 64;      ///< a power of two
    int first = 0;
    int last = 0;
};

/// What is to be placed. Every buffer has `samples` entries in `bytes`.
struct PackingProblem {
    std::vector<BufferRequest> buffers;
    int samples = 1;
};

/// Where everything lies. Indices are those of `PackingProblem::buffers`.
struct PackingSolution {
    /// Per buffer the buffers that lie directly below it: the relation without the edges that follow from others.
    std::vector<std::vector<int>> below;
    /// All buffers, each after those below it: offsets are evaluated in this order.
    std::vector<int> order;
    /// `offsets[sample][buffer]`
    std::vector<std::vector<std::int64_t>> offsets;
    /// Per sample the bytes that the plan takes.
    std::vector<std::int64_t> height;
    /// Per sample the bytes that no plan can undercut: the most that is alive at one instruction, sizes rounded up to
    /// the smallest alignment of all buffers, but for one buffer that may lie on top unrounded.
    std::vector<std::int64_t> lower_bound;
};

/// The first thing wrong with `problem`, in words; empty when it is well formed: as many sizes as samples, no negative
/// size, alignments that are powers of two, `first <= last`, and a sum of all sizes and alignments that fits 62 bits.
std::string fault_of(const PackingProblem& problem);

/// `value` rounded up to a multiple of `alignment`, a power of two.
constexpr std::int64_t align_up(std::int64_t value, std::int64_t alignment) noexcept {
    return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace cairn::memory_plan
