#pragma once

#include "autotune/measurement/operand_memory.hpp"
#include "cairn/kernel.hpp"

#include <memory>
#include <utility>
#include <vector>

/// Memory and data of the operands of a measured kernel call.
namespace cairn::autotune {

/// Memory for the operands of a kernel. All three are that of its device, except that a kernel for `copy_to` reads or
/// writes that of another.
struct OperandMemories {
    /// One memory for all operands.
    OperandMemories(const std::shared_ptr<OperandMemory>& all) : inputs(all), outputs(all), workspace(all) {}
    OperandMemories(std::shared_ptr<OperandMemory> of_inputs, std::shared_ptr<OperandMemory> of_outputs,
                    std::shared_ptr<OperandMemory> of_workspace)
        : inputs(std::move(of_inputs)), outputs(std::move(of_outputs)), workspace(std::move(of_workspace)) {}

    std::shared_ptr<OperandMemory> inputs, outputs, workspace;
};

/// Places the operands of a Problem of constant sizes in OperandMemories, in the cache state that a program would
/// leave them in. Bound operands are streamed, and so is a large operand with gaps, which is part of a state; others
/// are where the kernel before has just written them. Integers are valid indices, booleans are the masks of rows padded
/// at their end; these two have memory of their own.
class Operands {
public:
    /// `cold`: false lets each call read the same memory. Throws Error(memory), Cancelled. `kernels` has the packed
    /// layouts of operands, and the definition.
    Operands(const Problem& problem, const Kernel& kernel, const KernelSet& kernels, int threads,
             OperandMemories memories, bool cold, const FillOptions& filling = {});

    /// True if weights may come from a cache because there was no time to fill the whole ring.
    bool is_warm() const noexcept { return cold_ && streamed_bytes_ > 0 && memories_.inputs->is_partly_filled(); }

    int inputs() const noexcept { return static_cast<int>(inputs_); }
    int outputs() const noexcept { return static_cast<int>(operands_.size() - inputs_); }
    /// Bytes of the streamed region that one call reads; 0 for none.
    std::size_t streamed_bytes() const noexcept { return streamed_bytes_; }
    /// Number of successive calls that read different memory; 1 if nothing is streamed.
    std::int64_t position_count() const noexcept;
    /// The place of the streamed operands of the next call.
    std::int64_t position() const noexcept;
    void advance(std::int64_t calls) const noexcept;

private:
    friend class RotatingArgs;
    enum class Placement : std::uint8_t { streamed, kept, written, own };
    struct Operand {
        Placement placement;
        std::size_t offset;
        std::vector<std::int64_t> shape, strides;
    };

    Placement placement(const TensorDesc& input, std::size_t bytes) const;
    std::byte* base(Placement placement) const noexcept;

    OperandMemories memories_;
    bool cold_;
    std::size_t inputs_, streamed_bytes_ = 0;
    std::vector<Operand> operands_;  // inputs, then outputs
    std::unique_ptr<device::Memory> own_;
    std::size_t workspace_ = 0;  // offset in the written region of its memory
    std::vector<std::int64_t> dims_;
    std::shared_ptr<const void> prepared_;
};

/// The arguments of successive calls for one member of a team, each at the next place of the ring. Invalid once the
/// OperandMemory grows.
class RotatingArgs final : public device::CallArguments {
public:
    explicit RotatingArgs(const Operands& operands);
    const Args& next() noexcept override;

private:
    struct Streamed {
        std::byte* base;
        std::size_t tensor;
    };
    std::size_t bytes_;
    std::int64_t position_, position_count_;
    std::vector<TensorArg> tensors_;
    std::vector<Streamed> streamed_;
    Args args_;
};

}  // namespace cairn::autotune
