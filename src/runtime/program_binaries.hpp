#pragma once

#include "device/kernel_binary.hpp"

#include <memory>
#include <vector>

namespace cairn::runtime {

/// The machine code of the programs of a set: what its file holds, and what the linked programs use.
class ProgramBinaries {
public:
    using Binary = std::shared_ptr<const device::KernelBinary>;

    ProgramBinaries() = default;
    /// Of a saved file. `is_damaged`: the file has more, which cannot be read.
    explicit ProgramBinaries(std::vector<Binary> saved, bool is_damaged = false);

    /// Those of the file, until the programs are linked.
    device::KernelBinaries saved() const noexcept { return saved_; }
    /// Adds one that a linked program uses, unless it is there already.
    void add(Binary binary);
    /// All programs are linked: forgets what the file holds and none of them uses.
    void finish();

    /// Those that the linked programs use, in the order of their first keys.
    const std::vector<Binary>& used() const noexcept { return used_; }
    /// Number of kernels whose code the file did not hold.
    std::size_t missing() const noexcept { return missing_; }
    bool is_damaged() const noexcept { return is_damaged_; }
    /// True if the file held all that is used, and no damaged code.
    bool matches_file() const noexcept { return missing_ == 0 && !is_damaged_; }

private:
    bool is_saved(const Binary& binary) const;

    std::vector<Binary> saved_, used_;
    std::size_t missing_ = 0;
    bool is_damaged_ = false;
};

}  // namespace cairn::runtime
