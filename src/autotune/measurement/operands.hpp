#pragma once

#include "autotune/measurement/operand_memory.hpp"
#include "cairn/kernel.hpp"

#include <memory>
#include <vector>

/// Memory and data for one kernel call that is measured.
namespace cairn::autotune {

/// Where the operands of a Problem of constant sizes lie in an OperandMemory, as a program would leave them: what is
/// bound is streamed, and so is a large operand with gaps, a part of a state; others are where the kernel before has
/// just written them. Integers are legal indices, and booleans tell rows that are filled up at their end, in memory of
/// their own.
class Operands {
public:
    /// `cold`: else nothing is streamed on, each call reads the same. Throws Error(memory), Cancelled.
    /// `kernels` has the packed forms of operands, and the definition.
    Operands(const Problem& problem, const Kernel& kernel, const KernelSet& kernels, int threads,
             std::shared_ptr<OperandMemory> memory, bool cold, const FillOptions& filling = {});

    /// Whether weights may come from a cache: there was no time to fill a whole round.
    bool is_warm() const noexcept { return cold_ && streamed_bytes_ > 0 && memory_->is_partly_filled(); }

    /// Bytes of the streamed stretch for one call; 0 for none.
    std::size_t streamed_bytes() const noexcept { return streamed_bytes_; }
    /// How many calls read different memory; 1 where nothing is streamed.
    std::int64_t places() const noexcept;
    /// The place that the next call finds its streamed operands at, and the one after `calls` calls.
    std::int64_t place() const noexcept;
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
    device::Arena own_;
    std::size_t workspace_ = 0;  // offset in what is written
    std::vector<std::int64_t> dims_;
    std::shared_ptr<const void> prepared_;
};

/// The arguments of one call after another, as one member of a team sees them; valid until an OperandMemory grows.
class RotatingArgs {
public:
    explicit RotatingArgs(const Operands& operands);
    /// Those of the next call.
    const Args& next() noexcept;

private:
    struct Streamed {
        std::byte* base;
        std::size_t tensor;
    };
    std::size_t bytes_;
    std::int64_t place_, places_;
    std::vector<TensorArg> tensors_;
    std::vector<Streamed> streamed_;
    Args args_;
};

}  // namespace cairn::autotune
