#pragma once

#include "device/cuda/cublaslt_table.hpp"
#include "tests/device/cuda/stand_in_driver.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::device::cuda {

/// A cuBLASLt that computes in the memory of the stand-in driver, in loops over the strides of its operands, when the
/// stream runs: what is submitted to a captured stream is a node. It checks the rules of the library, records the calls
/// and can let any call fail. It proposes up to `proposals` algorithms, which sum in different orders. At most one
/// exists at a time. Thread-safe.
class StandInCublaslt {
public:
    explicit StandInCublaslt(StandInDriver& driver);
    ~StandInCublaslt();
    StandInCublaslt(const StandInCublaslt&) = delete;
    StandInCublaslt& operator=(const StandInCublaslt&) = delete;

    std::shared_ptr<const CublasltTable> table() const { return table_; }
    /// Symbols of the functions that have been called, in order.
    std::vector<std::string> calls() const;
    void clear_calls();
    std::int64_t count(std::string_view symbol) const;
    /// The `nth` call from now on, counted from 1, of the function or of any function that destroys nothing (empty)
    /// fails: it does nothing but return this status.
    void fail(std::string_view symbol, std::int64_t nth, CublasltStatus status);
    /// Symbol of the call that fail() has let fail; empty: none yet.
    std::string failed_call() const;
    /// Algorithms proposed for operands that are aligned to 16 bytes, and for others.
    void propose(int of_wide, int of_others);
    /// The algorithms of all products so far.
    std::vector<std::uint64_t> algorithms() const;
    /// Broken rules, and objects that have not been destroyed.
    std::vector<std::string> faults() const;

    class State;

private:
    std::unique_ptr<State> state_;
    std::shared_ptr<const CublasltTable> table_;
};

}  // namespace cairn::device::cuda
