#pragma once

#include "runtime/byte_range.hpp"
#include "runtime/frame.hpp"

#include <span>
#include <vector>

/// Outputs in the caller's memory: which are computed right there, and which are copied there at the end of a run.
namespace cairn::runtime {

struct OutputSlot {
    void* data = nullptr;  ///< the caller's memory, or null
    std::size_t bytes = 0;
    bool is_direct = false;  ///< computed in the caller's memory by the run at hand
};

/// What never changes about the outputs of one program.
class CallerOutputs {
public:
    explicit CallerOutputs(const program::Program& program);

    /// Checks the memory given and settles what is computed in place: an output that has its buffer, and all of it, to
    /// itself, and whose memory no input shares. Throws Error(argument) where memory is too small or outputs overlap.
    void resolve(const Frame& frame, std::span<const ByteRange> inputs, std::span<OutputSlot> slots) const;
    /// Once all pointers are set: throws Error(argument) where an output that is seen in an input's memory would be
    /// lost, because another output goes there.
    void check_views(const Frame& frame, std::span<const OutputSlot> slots) const;
    /// Copies what was not computed in place: first what is seen in the memory of inputs, which the rest may overwrite.
    void copy(const Frame& frame, std::span<const OutputSlot> slots) const;

private:
    const program::Program* program_;
    std::vector<bool> own_buffer_, in_input_;
};

}  // namespace cairn::runtime
