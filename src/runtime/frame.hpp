#pragma once

#include "graph/types/per_device.hpp"
#include "runtime/command_list.hpp"
#include "runtime/program_set.hpp"

#include <memory>
#include <span>
#include <vector>

namespace cairn::runtime {

/// Sizes, pointers and launches of one program in one instance, at the symbol values last set. Changing sizes allocates
/// nothing: each distinct size is evaluated once, offsets follow from the frozen plan, pointers from the offsets.
class Frame {
public:
    /// The backends of the context run the launches. Both must outlive the frame.
    Frame(const LinkedProgram& program, const Context::Impl& context);

    /// Evaluates all sizes. `symbol_values` are in the order of the program's own symbols.
    void resize(std::span<const std::int64_t> symbol_values);
    /// Bytes of the arenas needed at the current sizes, of each device of the program.
    const types::PerDevice<std::int64_t>& arena_bytes() const noexcept { return arena_bytes_; }
    /// Sets the base address of every buffer, then all pointers. `bases` has an entry per buffer. Bases of arena
    /// buffers are computed from `arenas`, the base of each device's, unless the entry is set (an output in the
    /// caller's memory).
    void set_pointers(std::span<std::byte* const> bases, const types::PerDevice<std::byte*>& arenas) noexcept;

    /// The launches of all instructions of a run.
    const std::vector<device::KernelLaunch>& launches() const noexcept { return launches_; }
    /// Runs them at the current sizes and pointers.
    CommandList& commands() noexcept { return *commands_; }
    /// Output port `i` at the current sizes and pointers.
    TensorArg output(std::size_t i) const noexcept;
    std::int64_t value(int expression) const noexcept { return values_[static_cast<std::size_t>(expression)]; }
    /// Offset of a storage in the arena of its device.
    std::int64_t offset(int storage) const noexcept { return offsets_[static_cast<std::size_t>(storage)]; }
    const LinkedProgram& program() const noexcept { return *program_; }

private:
    std::byte* address(const LinkedOperand& operand) const noexcept;
    std::int64_t bytes_of(const LinkedInstruction& instruction) const noexcept;

    const LinkedProgram* program_;
    std::vector<int> symbolic_;          // indices of the expressions that are not constant
    std::vector<std::int64_t> symbols_;  // values last set
    std::vector<std::int64_t> values_;   // per expression
    std::vector<std::int64_t> table_;
    std::vector<int> symbolic_entries_;  // indices of the entries of `table_` that are not constant
    std::vector<std::int64_t> offsets_, ends_;
    std::vector<std::byte*> bases_;  // per buffer
    std::vector<TensorArg> args_;
    std::vector<device::KernelLaunch> launches_;
    std::vector<device::Backend*> backends_;  // per launch
    std::unique_ptr<CommandList> commands_;
    types::PerDevice<std::int64_t> arena_bytes_;
};

}  // namespace cairn::runtime
