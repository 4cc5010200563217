#pragma once

#include "autotune/measurement/operand_memory.hpp"
#include "cairn/kernel.hpp"

#include <memory>
#include <vector>

/// Memory and data of the operands of a measured kernel call.
namespace cairn::autotune {

/// Places the operands of a Problem of constant sizes in an OperandMemory, in the cache state that a program would
/// leave them in. Bound operands are streamed, and so is a large operand with gaps, which is part of a state; others
/// are where the kernel before has just written them. Integers are valid indices, booleans are the masks of rows padded
/// at their end; these two have memory of their own.
class Operands {
public:
    /// `cold`: false lets each call read the same memory. Throws Error(memory), Cancelled. `kernels` has the packed
    /// layouts of operands, and the definition.
    Operands(const Problem& problem, const Kernel& kernel, const KernelSet& kernels, int threads,
             std::shared_ptr<OperandMemory> memory, bool cold, const FillOptions& filling = {});

    /// True if weights may come from a cache because there was no time to fill the whole ring.
    bool is_warm() const noexcept { return cold_ && streamed_bytes_ > 0 && memory_->is_partly_filled(); }

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

    std::shared_ptr<OperandMemory> memory_;
    bool cold_;
    std::size_t inputs_, streamed_bytes_ = 0;
    std::vector<Operand> operands_;  // inputs, then outputs
    std::unique_ptr<device::Memory> own_;
    std::size_t workspace_ = 0;  // offset in the written region
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
