#include "runtime/program_set.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::inline v0::runtime {

int LinkedProgram::expression(const Dim& dim) {
    const auto it = std::find(expressions_.begin(), expressions_.end(), dim);
    if (it != expressions_.end()) return static_cast<int>(it - expressions_.begin());
    expressions_.push_back(dim);
    return static_cast<int>(expressions_.size()) - 1;
}

int LinkedProgram::entries(const std::vector<Dim>& dims) {
    std::vector<int> wanted;
    for (const Dim& dim : dims) wanted.push_back(expression(dim));
    const auto it = std::search(table_.begin(), table_.end(), wanted.begin(), wanted.end());
    const auto start = static_cast<int>(it - table_.begin());
    if (it == table_.end()) table_.insert(table_.end(), wanted.begin(), wanted.end());
    return start;
}

LinkedOperand LinkedProgram::operand(const program::View& view, const TensorDesc& desc) {
    return {view.buffer,         expression(view.offset), static_cast<std::int64_t>(size_of(desc.dtype)),
            entries(desc.shape), entries(desc.strides),   static_cast<int>(desc.shape.size())};
}

/// The state that a view may overwrite parts of, or -1.
int LinkedProgram::overwritten_state(const program::View& view) const {
    for (std::size_t s = 0; s < program_->states.size(); ++s)
        if (program_->states[s].buffer == view.buffer)
            return program_->states[s].overwritten ? static_cast<int>(s) : -1;
    return -1;
}

namespace {

std::shared_ptr<const void> prepare(const Kernel& kernel, const program::Instruction& instruction,
                                    const Context& context) {
    std::string reason;
    try {
        return kernel.prepare(instruction.problem, context.threads());
    } catch (const std::exception& error) { reason = error.what(); } catch (...) {
        reason = "it threw what is no std::exception";
    }
    throw Error(ErrorKind::unsupported, "program", fmt::format("{} cannot prepare: {}", kernel.id, reason));
}

}  // namespace

LinkedInstruction LinkedProgram::link(const program::Instruction& instruction, const Context& context,
                                      std::string& missing) {
    LinkedInstruction linked;
    linked.kernel = context.parts()->find(instruction.kernel);
    if (linked.kernel == nullptr || linked.kernel->isa > context.isa()) {
        if (missing.find(instruction.kernel) == std::string::npos)
            missing += (missing.empty() ? "" : ", ") + instruction.kernel;
        return linked;
    }
    linked.first_operand = static_cast<int>(operands_.size());
    linked.inputs = static_cast<int>(instruction.inputs.size());
    linked.outputs = static_cast<int>(instruction.outputs.size());
    for (std::size_t i = 0; i < instruction.inputs.size(); ++i)
        operands_.push_back(operand(instruction.inputs[i], instruction.problem.inputs[i]));
    for (std::size_t i = 0; i < instruction.outputs.size(); ++i) {
        if (const int state = overwritten_state(instruction.outputs[i]); state >= 0)
            overwrites_.push_back({static_cast<int>(run_.size()), static_cast<int>(operands_.size()), state});
        operands_.push_back(operand(instruction.outputs[i], instruction.problem.outputs[i]));
    }
    std::vector<Dim> dims;
    for (const Attribute& attribute : instruction.problem.attributes)
        if (const auto* list = std::get_if<std::vector<Dim>>(&attribute.value))
            dims.insert(dims.end(), list->begin(), list->end());
    linked.dims = entries(dims);
    linked.workspace = instruction.workspace;
    if (linked.kernel->prepare != nullptr) linked.prepared = prepare(*linked.kernel, instruction, context);
    return linked;
}

LinkedProgram::LinkedProgram(const program::Program& program, const Context& context)
    : program_(&program), peak_(program::peak_of(program)) {
    if (program.threads != context.threads())
        throw Error(
            ErrorKind::argument, "program",
            fmt::format("it was planned for {} threads, the context has {}", program.threads, context.threads()));
    std::string missing;
    for (const program::Instruction& instruction : program.bind) bind_.push_back(link(instruction, context, missing));
    for (const program::Instruction& instruction : program.run) run_.push_back(link(instruction, context, missing));
    if (!missing.empty())
        throw Error(ErrorKind::unsupported, "program",
                    "kernels that are not in this library or need another CPU: " + missing);
    for (const program::Port& port : program.outputs) outputs_.push_back(operand(port.view, port.desc));
    for (const program::StatePort& state : program.states)
        state_lengths_.emplace_back(expression(state.before), expression(state.after));
    for (const program::Storage& storage : program.plan.storages) storage_bytes_.push_back(expression(storage.bytes));
}

}  // namespace cairn::inline v0::runtime
