#pragma once

#include "cairn/kernel.hpp"
#include "device/cpu/arena.hpp"

#include <vector>

/// Memory and data for one kernel call that is measured.
namespace cairn::inline v0::timing {

/// Operands of a Problem of constant sizes, filled with seeded data: normal floats, legal indices, true booleans. Bound
/// inputs come in several copies, so that successive calls find them outside the caches, as a model's weights are.
class Operands {
public:
    /// `rotation` is how many bytes the copies of bound inputs should take together; 0 for one copy. Throws
    /// Error(memory).
    Operands(const Problem& problem, const Kernel& kernel, const std::vector<Layout>& layouts, int threads,
             std::size_t rotation);

    int copies() const noexcept { return static_cast<int>(args_.size()); }
    /// The arguments of call number `call`.
    const Args& args(std::int64_t call) const noexcept { return args_[static_cast<std::size_t>(call) % args_.size()]; }

private:
    struct Sizes {
        std::vector<std::int64_t> shape, strides;
    };
    std::byte* place(std::size_t bytes);

    device::Arena memory_;
    std::size_t used_ = 0;
    std::vector<Sizes> sizes_;
    std::vector<std::int64_t> dims_;
    std::vector<std::vector<TensorArg>> tensors_;  // of each copy: inputs, then outputs
    std::shared_ptr<const void> prepared_;
    std::vector<Args> args_;
};

}  // namespace cairn::inline v0::timing
