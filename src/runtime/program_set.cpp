#include "runtime/program_set.hpp"

#include "device/compiled_kernel.hpp"
#include "graph/types/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cairn::runtime {

bool stores_narrow_states(const program::Program& program) {
    return std::any_of(program.states.begin(), program.states.end(), [&](const program::StatePort& state) {
        return program.buffers[static_cast<std::size_t>(state.buffer)].desc.dtype != state.live.dtype;
    });
}

std::string to_string(const std::vector<Range>& ranges) {
    std::string text;
    for (const Range& range : ranges)
        text += fmt::format("{}{} in {}..{}", text.empty() ? "" : ", ", range.symbol, range.low, range.high);
    return text;
}

int LinkedProgram::expression(const Dim& dim) {
    const std::size_t hash = types::hash_of(dim);
    const auto [first, last] = expression_at_.equal_range(hash);
    for (auto it = first; it != last; ++it)
        if (expressions_[static_cast<std::size_t>(it->second)] == dim) return it->second;
    const auto made = static_cast<int>(expressions_.size());
    expressions_.push_back(dim);
    expression_at_.emplace(hash, made);
    return made;
}

int LinkedProgram::entries(const std::vector<Dim>& dims) {
    std::vector<int> wanted;
    for (const Dim& dim : dims) wanted.push_back(expression(dim));
    const auto [it, fresh] = entries_at_.try_emplace(std::move(wanted), static_cast<int>(table_.size()));
    if (fresh) table_.insert(table_.end(), it->first.begin(), it->first.end());
    return it->second;
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
        return kernel.prepare(*instruction.problem, context.threads());
    } catch (const std::exception& error) { reason = error.what(); } catch (...) {
        reason = "it threw an exception that is not a std::exception";
    }
    throw Error(ErrorKind::unsupported, "program", fmt::format("{} cannot prepare: {}", kernel.id, reason));
}

}  // namespace

/// A kernel is prepared once for all identical instructions: layers are alike.
const std::shared_ptr<const void>& LinkedProgram::prepared(const Kernel& kernel,
                                                           const program::Instruction& instruction,
                                                           const Context& context) {
    const auto [it, is_new] = prepared_.try_emplace({&kernel, instruction.problem.get()});
    if (is_new) it->second = prepare(kernel, instruction, context);
    return it->second;
}

LinkedInstruction LinkedProgram::link(const program::Instruction& instruction, const Context& context,
                                      CompiledCodes& codes, std::string& missing) {
    LinkedInstruction linked;
    linked.kernel = context.impl()->find(instruction.kernel);
    if (linked.kernel == nullptr || !context.features().includes(linked.kernel->needs)) {
        if (missing.find(instruction.kernel) == std::string::npos)
            missing += (missing.empty() ? "" : ", ") + instruction.kernel;
        return linked;
    }
    if (const std::string refusal = context.impl()->backend(linked.kernel->device).permit(linked.kernel->needs);
        !refusal.empty())
        throw Error(ErrorKind::unsupported, "program", fmt::format("{}: {}", instruction.kernel, refusal));
    linked.first_operand = static_cast<int>(operands_.size());
    linked.inputs = static_cast<int>(instruction.inputs.size());
    linked.outputs = static_cast<int>(instruction.outputs.size());
    for (std::size_t i = 0; i < instruction.inputs.size(); ++i)
        operands_.push_back(operand(instruction.inputs[i], instruction.problem->inputs[i]));
    for (std::size_t i = 0; i < instruction.outputs.size(); ++i) {
        if (const int state = overwritten_state(instruction.outputs[i]); state >= 0)
            overwrites_.push_back({static_cast<int>(run_.size()), static_cast<int>(operands_.size()), state});
        operands_.push_back(operand(instruction.outputs[i], instruction.problem->outputs[i]));
    }
    std::vector<Dim> dims;
    for (const Attribute& attribute : instruction.problem->attributes)
        if (const auto* list = std::get_if<std::vector<Dim>>(&attribute.value))
            dims.insert(dims.end(), list->begin(), list->end());
    linked.dims = entries(dims);
    linked.dim_count = static_cast<int>(dims.size());
    linked.workspace = instruction.workspace;
    if (linked.kernel->prepare != nullptr) linked.prepared = prepared(*linked.kernel, instruction, context);
    codes.add(*linked.kernel, instruction.problem, program_->symbols.get());
    linked.is_host_copy = device::is_host_copy(*linked.kernel);
    return linked;
}

void LinkedProgram::take_codes(const CompiledCodes& codes) {
    const auto finish = [&](const std::vector<program::Instruction>& section, std::vector<LinkedInstruction>& linked) {
        for (std::size_t i = 0; i < section.size(); ++i) {
            const CompiledCode* const compiled = codes.find(*linked[i].kernel, *section[i].problem);
            if (compiled == nullptr) continue;
            linked[i].code = compiled->code;
            for (std::size_t axis = 0; axis < compiled->grid.size(); ++axis)
                linked[i].grid[axis] = expression(compiled->grid[axis]);
        }
    };
    finish(program_->bind, bind_);
    finish(program_->run, run_);
}

types::PerDevice<std::int64_t> LinkedProgram::peak_bytes() const {
    types::PerDevice<std::int64_t> bytes;
    for (const auto& [device, peak] : peaks_) bytes[device] = peak.bytes;
    return bytes;
}

LinkedProgram::LinkedProgram(const program::Program& program, const Context& context, CompiledCodes& codes,
                             const std::stop_token& stop)
    : program_(&program), devices_(program::devices_of(program)) {
    if (program.threads != context.threads())
        throw Error(
            ErrorKind::argument, "program",
            fmt::format("it was planned for {} threads, the context has {}", program.threads, context.threads()));
    for (const Device device : devices_) {
        if (!has_device(context.kernels().devices, device))
            throw Error(ErrorKind::unsupported, "program",
                        fmt::format("it uses device {}, which this context does not have", cairn::to_string(device)));
        peaks_[device] = program::peak_memory_of(program, device);
    }
    std::string missing;
    const auto link_all = [&](const std::vector<program::Instruction>& section,
                              std::vector<LinkedInstruction>& linked) {
        for (const program::Instruction& instruction : section) {
            if (stop.stop_requested()) throw Cancelled("compile");
            linked.push_back(link(instruction, context, codes, missing));
        }
    };
    link_all(program.bind, bind_);
    link_all(program.run, run_);
    if (!missing.empty())
        throw Error(ErrorKind::unsupported, "program",
                    "kernels that are not in this library, or that its CPU and devices cannot run: " + missing);
    for (const program::Port& port : program.outputs) outputs_.push_back(operand(port.view, port.desc));
    for (const program::StatePort& state : program.states)
        state_lengths_.emplace_back(expression(state.before), expression(state.after));
    for (const program::Storage& storage : program.plan.storages) {
        storage_bytes_.push_back(expression(storage.bytes));
        storage_devices_.push_back(program::device_of(program, storage));
    }
}

}  // namespace cairn::runtime
