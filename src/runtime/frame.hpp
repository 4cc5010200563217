#pragma once

#include "runtime/executor.hpp"
#include "runtime/program_set.hpp"

#include <span>
#include <vector>

namespace cairn::runtime {

/// One instance's view of one program: its sizes, pointers and steps at the symbol values last set. Changing sizes
/// allocates nothing: each distinct size is evaluated once, offsets follow from the frozen plan, pointers from the
/// offsets.
class Frame {
public:
    explicit Frame(const LinkedProgram& program);

    /// Evaluates all sizes. `symbol_values` in the order of the program's own symbols.
    void resize(std::span<const std::int64_t> symbol_values);
    /// Bytes of arena needed at the current sizes.
    std::int64_t arena_bytes() const noexcept { return arena_bytes_; }
    /// Sets the base of every buffer that is not in the arena, then all pointers. `bases` has an entry a buffer; those
    /// of arena buffers are computed from `arena`, unless the entry is set (an output in the caller's memory).
    void set_pointers(std::span<std::byte* const> bases, std::byte* arena) noexcept;

    const std::vector<KernelLaunch>& steps() const noexcept { return steps_; }
    /// ParallelRegion::serial_steps for the current sizes.
    const std::int32_t* serial_steps() const noexcept { return serial_steps_.data(); }
    /// Whether one thread had better run all of it.
    bool is_small() const noexcept {
        return serial_steps_.empty() || serial_steps_[0] == static_cast<std::int32_t>(serial_steps_.size());
    }
    /// Output port `i` at the current sizes and pointers.
    TensorArg output(std::size_t i) const noexcept;
    std::int64_t value(int expression) const noexcept { return values_[static_cast<std::size_t>(expression)]; }
    /// Offset of a storage in the arena.
    std::int64_t offset(int storage) const noexcept { return offsets_[static_cast<std::size_t>(storage)]; }
    const LinkedProgram& program() const noexcept { return *program_; }

private:
    std::byte* address(const LinkedOperand& operand) const noexcept;
    bool is_small(const LinkedInstruction& instruction) const noexcept;

    const LinkedProgram* program_;
    std::vector<int> symbolic_;         // expressions that are no constants
    std::vector<std::int64_t> values_;  // of each expression
    std::vector<std::int64_t> table_;
    std::vector<int> symbolic_entries_;  // of the table
    std::vector<std::int64_t> offsets_, ends_;
    std::vector<std::byte*> bases_;  // of each buffer
    std::vector<TensorArg> args_;
    std::vector<KernelLaunch> steps_;
    std::vector<std::int32_t> serial_steps_;
    std::int64_t arena_bytes_ = 0;
};

}  // namespace cairn::runtime
