#include "runtime/run_fault.hpp"

#include <fmt/format.h>

#include <new>
#include <string>
#include <vector>

namespace cairn::runtime {
namespace {

using program::BufferKind;
using program::Instruction;
using program::Program;

/// Index of a tensor's element as text, from its position in row-major order: `[0,1]`.
std::string index_text(const TensorArg& tensor, std::int64_t position) {
    std::vector<std::int64_t> index(static_cast<std::size_t>(tensor.rank), 0);
    for (std::size_t axis = index.size(); axis-- > 0;) {
        if (tensor.shape[axis] == 0) break;
        index[axis] = position % tensor.shape[axis];
        position /= tensor.shape[axis];
    }
    return fmt::format("[{}]", fmt::join(index, ","));
}

/// The instruction that copies a buffer from another device; null if none does.
const Instruction* copy_into(const Program& program, int buffer) {
    for (const auto* section : {&program.bind, &program.run})
        for (const Instruction& instruction : *section)
            if (instruction.problem->definition == "copy_to" && instruction.outputs[0].buffer == buffer)
                return &instruction;
    return nullptr;
}

/// The user's name of an operand, or of what it is a copy of on another device; empty if there is none.
std::string operand_name(const Program& program, const Instruction& instruction, std::size_t input) {
    const program::View& view = instruction.inputs[input];
    const program::Buffer& buffer = program.buffers[static_cast<std::size_t>(view.buffer)];
    const bool has_name =
        buffer.kind == BufferKind::input || buffer.kind == BufferKind::weight || buffer.kind == BufferKind::state;
    std::string name;
    if (has_name)
        name = fmt::format("\"{}\"", buffer.name);
    else if (const Instruction* const copy = copy_into(program, view.buffer))
        name = operand_name(program, *copy, 0);
    const bool is_whole = view.offset == Dim(0) && instruction.problem->inputs[input].shape == buffer.desc.shape;
    return is_whole || name.empty() || name.starts_with("a view of ") ? name : "a view of " + name;
}

std::string operand_text(const Program& program, const Instruction& instruction, int input) {
    const std::string name = operand_name(program, instruction, static_cast<std::size_t>(input));
    return name.empty() ? fmt::format("operand {}", input) : name;
}

std::string failure_text(const device::Failure& failure, const Args& args, const Program& program,
                         const Instruction& instruction) {
    if (failure.input < 0 || failure.input >= static_cast<int>(instruction.inputs.size())) return failure.reason;
    const TensorArg& tensor = args.inputs[failure.input];
    return fmt::format("{}: {}{} is {}", failure.reason, operand_text(program, instruction, failure.input),
                       index_text(tensor, failure.position), failure.value);
}

[[noreturn]] void rethrow(const std::exception_ptr& thrown, std::string_view part, const std::string& prefix) {
    try {
        std::rethrow_exception(thrown);
    } catch (const Error& error) {
        throw Error(error.kind(), part, prefix + error.what());
    } catch (const std::bad_alloc&) {
        throw Error(ErrorKind::memory, part, prefix + "out of memory");
    } catch (const std::exception& error) {
        throw Error(ErrorKind::argument, part, prefix + error.what());
    } catch (...) {
        throw Error(ErrorKind::argument, part, prefix + "threw an exception that is not a std::exception");
    }
}

}  // namespace

void throw_fault(const device::Submission& submission, std::span<const device::KernelLaunch> launches,
                 std::string_view part, const Program& program, std::span<const Instruction> instructions) {
    const std::int64_t at = submission.failed;
    if (at < 0) {
        if (submission.thrown) rethrow(submission.thrown, part, "");
        return;
    }
    const Instruction& instruction = instructions[static_cast<std::size_t>(at)];
    const std::string prefix =
        fmt::format("instruction {}, {} by {}: ", at, instruction.problem->definition, instruction.kernel);
    if (submission.thrown) rethrow(submission.thrown, part, prefix);
    if (submission.failure)
        throw Error(ErrorKind::argument, part,
                    prefix + failure_text(*submission.failure, launches[static_cast<std::size_t>(at)].args, program,
                                          instruction));
}

}  // namespace cairn::runtime
