#pragma once

#include "cairn/kernel.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

/// Runs one Kernel on one Problem of constant sizes, without graph, plan or executor.
///
///     SimdCase c("add | f32[2,3] f32[2,3]:(0,1) -> f32[2,3]");
///     c.inputs[0].fill(random);
///     c.run(find(kernels, "add"), 2);
///     c.outputs[0].get(4);
namespace cairn::test {

/// The memory of one operand, exactly as large as its strides require, so that sanitizers detect out-of-bounds
/// accesses.
class Operand {
public:
    explicit Operand(const TensorDesc& desc);
    std::int64_t size() const noexcept { return count_; }
    /// The element at a row-major index, as a double (integers beyond 2^53 lose digits).
    double get(std::int64_t index) const;
    void set(std::int64_t index, double value);
    /// Normally distributed floats, small integers, random booleans.
    void fill(std::mt19937& random, double scale = 1);
    /// Offset of the first changed byte between the elements; -1 if there is none.
    std::int64_t first_touched_gap() const;
    /// True if all elements are bitwise equal.
    bool same_bits(const Operand& other) const;
    TensorArg arg() noexcept { return {bytes_.get(), shape_.data(), strides_.data(), static_cast<int>(shape_.size())}; }
    /// Shares the other's memory: an output in place of an input.
    void share(const Operand& other) { bytes_ = other.bytes_; }
    /// A copy with memory of its own.
    Operand copy() const;

private:
    std::int64_t offset(std::int64_t index) const;

    DType dtype_;
    std::vector<std::int64_t> shape_, strides_;
    std::int64_t count_ = 1, span_ = 0;
    std::shared_ptr<std::byte[]> bytes_;
};

/// A Problem with memory for its operands.
struct SimdCase {
    explicit SimdCase(const std::string& text);
    explicit SimdCase(Problem made);
    /// Runs with a team of `members` threads. Returns the reason that a member reported by Team::fail, or "". Adds a
    /// test failure on a refusal.
    std::string run(const Kernel& kernel, int members = 1);

    Problem problem;
    std::vector<Operand> inputs, outputs;
};

/// The levels to test: the names of runnable_levels() (tests/kernels/emulated_levels.hpp).
std::vector<std::string> level_names();
/// The kernels of a level.
const std::vector<Kernel>& kernels_of(const std::string& level);
/// The kernel of a definition; the test fails if there is none.
const Kernel& find(const std::vector<Kernel>& kernels, const std::string& definition);

/// Tests of each of level_names().
class SimdLevel : public testing::TestWithParam<std::string> {
protected:
    const Kernel& kernel(const std::string& definition) const { return find(kernels_of(GetParam()), definition); }
};

}  // namespace cairn::test
