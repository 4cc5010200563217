#pragma once

#include "runtime/byte_range.hpp"
#include "runtime/frame.hpp"

#include <span>
#include <vector>

/// Declares outputs in the caller's memory: computed there directly, or copied there at the end of a run.
namespace cairn::runtime {

/// The caller's memory for one output.
struct OutputSlot {
    void* data = nullptr;  ///< the caller's memory, or null
    std::size_t bytes = 0;
    bool is_direct = false;  ///< computed in the caller's memory by the current run
};

/// Places the outputs of one program in the caller's memory. Immutable.
class CallerOutputs {
public:
    explicit CallerOutputs(const program::Program& program);

    /// Checks the memory given and decides which outputs are computed in it directly: those that cover a buffer of
    /// their own and whose memory no input shares. Throws Error(argument) if memory is too small or outputs overlap.
    void resolve(const Frame& frame, std::span<const ByteRange> inputs, std::span<OutputSlot> slots) const;
    /// Requires that all pointers are set. Throws Error(argument) if an output that is a view of an input would be lost
    /// because another output is written to that memory.
    void check_views(const Frame& frame, std::span<const OutputSlot> slots) const;
    /// Copies the outputs that are not direct: first the views of inputs, whose memory the others may overwrite.
    void copy(const Frame& frame, std::span<const OutputSlot> slots, const Context::Impl& context) const;

private:
    const program::Program* program_;
    std::vector<bool> own_buffer_, in_input_;
};

}  // namespace cairn::runtime
