#pragma once

#include "cairn/version.hpp"

#include <cstddef>
#include <cstdint>

/// What a running kernel sees: plain pointers and sizes. Kept apart from kernel.hpp because code compiled for one
/// instruction set, and the loop that runs a program, include nothing else.
namespace cairn::inline v0 {

/// The threads that run one instruction together. Every member enters the kernel; a kernel never starts threads of its
/// own.
class CAIRN_API Team {
public:
    /// This member's number, 0 .. size() - 1, and how many there are: as many as the Context has threads, or one where
    /// the tensors are too small to share.
    int rank() const noexcept { return rank_; }
    int size() const noexcept { return size_; }
    /// Waits until every member has come here. All members must call it equally often.
    void barrier();
    /// 0, 1, 2, ...: each number goes to exactly one member of the team during one instruction. Divide work into chunks
    /// whose borders depend on sizes only; then results do not depend on who takes a chunk.
    std::int64_t next_chunk() noexcept;
    /// Reports that the data cannot be computed with (an index out of range, say). `reason` must be a string literal.
    /// The first report of a run becomes its Error; the kernel returns normally.
    void fail(const char* reason) noexcept;
    /// The same, and where: element `position` (row-major) of input number `input` of the instruction is `value`.
    void fail(const char* reason, int input, std::int64_t position, std::int64_t value) noexcept;

    /// Made by the runtime; `shared` is the runtime's own state of the team.
    Team(int rank, int size, void* shared) noexcept : shared_(shared), rank_(rank), size_(size) {}

private:
    void* shared_;
    int rank_, size_;
};

/// One tensor handed to a running kernel. Strides are in elements; shape and strides have `rank` entries.
struct TensorArg {
    std::byte* data;              ///< the first element
    const std::int64_t* shape;    ///< sizes, outermost first
    const std::int64_t* strides;  ///< in elements
    int rank;                     ///< number of axes
};

/// All that a running kernel sees.
struct Args {
    const TensorArg* inputs;   ///< as many as the Problem has, in its order
    const TensorArg* outputs;  ///< likewise
    const std::int64_t* dims;  ///< the values of the Problem's list attributes, all lists one after another
    std::byte* workspace;      ///< `Kernel::workspace` bytes, 64-byte aligned, contents undefined
    const void* prepared;      ///< what `Kernel::prepare` returned
};

}  // namespace cairn::inline v0
