#pragma once

#include "cairn/version.hpp"

#include <cstddef>
#include <cstdint>

/// Arguments of a running kernel: plain pointers and sizes. Separate from kernel.hpp because code compiled for one
/// instruction set, and the program executor, include nothing else.
namespace cairn::inline v0 {

/// The threads that run one instruction together. Every member calls the kernel; a kernel never starts threads.
class CAIRN_API Team {
public:
    /// Rank of this member, 0 .. size() - 1, and size of the team: the threads of the Context, or 1 if the tensors are
    /// too small to share.
    int rank() const noexcept { return rank_; }
    int size() const noexcept { return size_; }
    /// Waits until all members have reached this barrier. All members must call it equally often.
    void barrier();
    /// Atomic counter 0, 1, 2, ...: each number is returned to exactly one member during one instruction. Chunk borders
    /// must depend on sizes only; then results do not depend on which member computes a chunk.
    std::int64_t next_chunk() noexcept;
    /// Reports that the data cannot be computed with (an index out of range, for example). `reason` must be a string
    /// literal. The first report of a run becomes its Error; the kernel returns normally.
    void fail(const char* reason) noexcept;
    /// Also reports the location: element `position` (row-major) of input `input` of the instruction is `value`.
    void fail(const char* reason, int input, std::int64_t position, std::int64_t value) noexcept;

    /// Constructed by the runtime; `shared` is the runtime's state of the team.
    Team(int rank, int size, void* shared) noexcept : shared_(shared), rank_(rank), size_(size) {}

private:
    void* shared_;
    int rank_, size_;
};

/// A tensor argument of a running kernel. Shape and strides have `rank` entries.
struct TensorArg {
    std::byte* data;              ///< the first element
    const std::int64_t* shape;    ///< sizes, outermost first
    const std::int64_t* strides;  ///< in elements
    int rank;                     ///< number of axes
};

/// All arguments of a running kernel.
struct Args {
    const TensorArg* inputs;   ///< the inputs of the Problem, in its order
    const TensorArg* outputs;  ///< the outputs of the Problem, in its order
    const std::int64_t* dims;  ///< values of the Problem's list attributes, all lists concatenated
    std::byte* workspace;      ///< `Kernel::workspace` bytes, 64-byte aligned, contents undefined
    const void* prepared;      ///< result of `Kernel::prepare`
};

}  // namespace cairn::inline v0
