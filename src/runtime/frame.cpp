#include "runtime/frame.hpp"

#include "program/memory_plan/packing_problem.hpp"
#include "program/plan_memory.hpp"

#include <algorithm>

namespace cairn::runtime {

Frame::Frame(const LinkedProgram& program, const Context::Impl& context) : program_(&program) {
    const auto& expressions = program.expressions();
    values_.resize(expressions.size());
    for (std::size_t i = 0; i < expressions.size(); ++i) {
        if (expressions[i].is_constant())
            values_[i] = expressions[i].constant();
        else
            symbolic_.push_back(static_cast<int>(i));
    }
    for (const int expression : program.table()) {
        if (!expressions[static_cast<std::size_t>(expression)].is_constant())
            symbolic_entries_.push_back(static_cast<int>(table_.size()));
        table_.push_back(values_[static_cast<std::size_t>(expression)]);
    }
    const std::size_t storages = program.program().plan.storages.size();
    offsets_.resize(storages);
    ends_.resize(storages);
    bases_.resize(program.program().buffers.size());
    for (const LinkedOperand& operand : program.operands())
        args_.push_back({nullptr, table_.data() + operand.shape, table_.data() + operand.strides, operand.rank});
    for (const LinkedInstruction& instruction : program.run()) {
        const TensorArg* first = args_.data() + instruction.first_operand;
        launches_.push_back(
            {instruction.kernel->run,
             {first, first + instruction.inputs, table_.data() + instruction.dims, nullptr, instruction.prepared.get()},
             instruction.inputs,
             instruction.outputs});
        launches_.back().code = instruction.code.get();
        if (instruction.kernel->enqueue) launches_.back().enqueued = instruction.kernel;
        launches_.back().dims = instruction.dim_count;
        backends_.push_back(&context.backend(instruction.kernel->device));
    }
    for (const Device device : program.devices()) arena_bytes_[device] = 0;
    if (const auto& symbols = program.program().symbols) symbols_.resize(symbols->list().size());
    commands_ = std::make_unique<CommandList>(launches_, backends_, symbols_);
}

std::int64_t Frame::bytes_of(const LinkedInstruction& instruction) const noexcept {
    std::int64_t bytes = 0;
    for (int i = 0; i < instruction.inputs + instruction.outputs; ++i) {
        const LinkedOperand& operand = program_->operands()[static_cast<std::size_t>(instruction.first_operand + i)];
        std::int64_t of_operand = operand.element_bytes;
        for (int axis = 0; axis < operand.rank; ++axis)
            of_operand *= table_[static_cast<std::size_t>(operand.shape + axis)];
        bytes += of_operand;
    }
    return bytes;
}

void Frame::resize(std::span<const std::int64_t> symbol_values) {
    std::copy_n(symbol_values.begin(), std::min(symbol_values.size(), symbols_.size()), symbols_.begin());
    const auto& expressions = program_->expressions();
    for (const int i : symbolic_)
        values_[static_cast<std::size_t>(i)] = expressions[static_cast<std::size_t>(i)].evaluate(symbol_values);
    for (const int entry : symbolic_entries_)
        table_[static_cast<std::size_t>(entry)] =
            values_[static_cast<std::size_t>(program_->table()[static_cast<std::size_t>(entry)])];
    const auto end_of = [&](std::size_t s, std::int64_t offset) {
        offsets_[s] = offset;
        const std::int64_t bytes = values_[static_cast<std::size_t>(program_->storage_bytes()[s])];
        return memory_plan::align_up(offset + bytes, program::arena_alignment);
    };
    for (auto& [device, bytes] : arena_bytes_) bytes = 0;
    program::stack_storages<std::int64_t>(program_->program().plan, ends_, end_of);
    for (std::size_t s = 0; s < ends_.size(); ++s) {
        std::int64_t& bytes = *arena_bytes_.find(program_->storage_devices()[s]);
        bytes = std::max(bytes, ends_[s]);
    }
    const auto& run = program_->run();
    for (std::size_t i = 0; i < run.size(); ++i) {
        device::KernelLaunch& launch = launches_[i];
        launch.bytes = bytes_of(run[i]);
        if (run[i].is_host_copy) launch.copy_bytes = static_cast<std::size_t>(launch.bytes / 2);
        for (std::size_t axis = 0; axis < launch.grid.size(); ++axis)
            if (run[i].grid[axis] >= 0) launch.grid[axis] = static_cast<unsigned>(value(run[i].grid[axis]));
    }
    commands_->update();
}

std::byte* Frame::address(const LinkedOperand& operand) const noexcept {
    return bases_[static_cast<std::size_t>(operand.buffer)] +
           values_[static_cast<std::size_t>(operand.offset)] * operand.element_bytes;
}

void Frame::set_pointers(std::span<std::byte* const> bases, const types::PerDevice<std::byte*>& arenas) noexcept {
    const auto& buffers = program_->program().buffers;
    for (std::size_t b = 0; b < buffers.size(); ++b) {
        const int storage = buffers[b].storage;
        bases_[b] = bases[b] != nullptr || storage < 0
                        ? bases[b]
                        : *arenas.find(buffers[b].device) + offsets_[static_cast<std::size_t>(storage)];
    }
    for (std::size_t i = 0; i < args_.size(); ++i) args_[i].data = address(program_->operands()[i]);
    const auto& run = program_->run();
    for (std::size_t i = 0; i < run.size(); ++i)
        launches_[i].args.workspace =
            run[i].workspace >= 0 ? bases_[static_cast<std::size_t>(run[i].workspace)] : nullptr;
}

TensorArg Frame::output(std::size_t i) const noexcept {
    const LinkedOperand& operand = program_->outputs()[i];
    return {address(operand), table_.data() + operand.shape, table_.data() + operand.strides, operand.rank};
}

}  // namespace cairn::runtime
