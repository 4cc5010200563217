#include "runtime/caller_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::runtime {
namespace {

using program::BufferKind;
using program::Port;
using program::Program;

/// True if an output port covers its whole buffer and is the only one in it.
bool has_own_buffer(const Program& program, const Port& port) {
    const program::Buffer& buffer = program.buffers[static_cast<std::size_t>(port.view.buffer)];
    const Dim bytes = element_count(port.desc.shape) * Dim(size_of(port.desc.dtype));
    return buffer.kind == BufferKind::output && port.view.offset == Dim(0) && buffer.bytes == bytes &&
           std::count_if(program.outputs.begin(), program.outputs.end(),
                         [&](const Port& other) { return other.view.buffer == port.view.buffer; }) == 1;
}

}  // namespace

CallerOutputs::CallerOutputs(const Program& program) : program_(&program) {
    for (const Port& port : program.outputs) {
        own_buffer_.push_back(has_own_buffer(program, port));
        in_input_.push_back(program.buffers[static_cast<std::size_t>(port.view.buffer)].kind == BufferKind::input);
    }
}

void CallerOutputs::resolve(const Frame& frame, std::span<const ByteRange> inputs, std::span<OutputSlot> slots) const {
    for (std::size_t o = 0; o < slots.size(); ++o) {
        OutputSlot& slot = slots[o];
        if (slot.data == nullptr) continue;
        const Port& port = program_->outputs[o];
        const ByteRange range{slot.data, byte_count(frame.output(o), port.desc.dtype)};
        if (range.bytes > slot.bytes)
            throw Error(ErrorKind::argument, "run",
                        fmt::format("output \"{}\" needs {} bytes, the memory given has {}", port.name, range.bytes,
                                    slot.bytes));
        for (std::size_t p = 0; p < o; ++p)
            if (slots[p].data != nullptr &&
                range.overlaps({slots[p].data, byte_count(frame.output(p), program_->outputs[p].desc.dtype)}))
                throw Error(ErrorKind::argument, "run",
                            fmt::format("the memory given for output \"{}\" overlaps that for output \"{}\"", port.name,
                                        program_->outputs[p].name));
        slot.is_direct = own_buffer_[o] && std::none_of(inputs.begin(), inputs.end(),
                                                        [&](const ByteRange& input) { return range.overlaps(input); });
    }
}

void CallerOutputs::check_views(const Frame& frame, std::span<const OutputSlot> slots) const {
    for (std::size_t seen = 0; seen < slots.size(); ++seen) {
        if (!in_input_[seen]) continue;
        const TensorArg result = frame.output(seen);
        const ByteRange range{result.data, byte_count(result, program_->outputs[seen].desc.dtype)};
        for (std::size_t o = 0; o < slots.size(); ++o) {
            const bool is_saved_before = slots[seen].data != nullptr && !in_input_[o];
            if (o == seen || slots[o].data == nullptr || is_saved_before) continue;
            const ByteRange target{slots[o].data, byte_count(frame.output(o), program_->outputs[o].desc.dtype)};
            if (range.overlaps(target))
                throw Error(ErrorKind::argument, "run",
                            fmt::format("output \"{}\" is a view of an input, whose memory is given for output "
                                        "\"{}\"",
                                        program_->outputs[seen].name, program_->outputs[o].name));
        }
    }
}

void CallerOutputs::copy(const Frame& frame, std::span<const OutputSlot> slots, const Context::Impl& context) const {
    for (const bool from_input : {true, false})
        for (std::size_t o = 0; o < slots.size(); ++o) {
            if (slots[o].data == nullptr || slots[o].is_direct || in_input_[o] != from_input) continue;
            const TensorArg result = frame.output(o);
            const Port& port = program_->outputs[o];
            context.backend(program::device_of(*program_, port))
                .copy(static_cast<std::byte*>(slots[o].data), result.data, byte_count(result, port.desc.dtype));
        }
}

}  // namespace cairn::runtime
