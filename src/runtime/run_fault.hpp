#pragma once

#include "device/command_buffer.hpp"
#include "program/program.hpp"

#include <span>
#include <string_view>

namespace cairn::runtime {

/// Throws the error of a submission in which a kernel reported a failure or threw; returns if none did. `instructions`
/// are those of the launches, in their order.
///
///     [run] instruction 2, gather by cpu.simd.gather.f32@1: an index is out of range of the indexed axis: "ids"[0,1]
///     is 9
///
/// A thrown Error keeps its kind; std::bad_alloc becomes ErrorKind::memory, anything else ErrorKind::argument.
void throw_fault(const device::Submission& submission, std::span<const device::KernelLaunch> launches,
                 std::string_view part, const program::Program& program,
                 std::span<const program::Instruction> instructions);

}  // namespace cairn::runtime
