#pragma once

#include "cairn/kernel.hpp"
#include "tests/emulated_cuda/emulated_module.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cairn::kernels::cuda {

/// An element of any dtype: 64 bits of mantissa hold every integer and every double.
using Number = long double;
/// The elements of a tensor in row-major order.
using Numbers = std::vector<Number>;

/// A failure that a kernel has reported.
struct ReportedFailure {
    std::uint32_t code = 0, instruction = 0, input = 0, unused = 0;
    std::int64_t position = 0, value = 0;
};

struct CaseOptions {
    std::uint64_t seed = 1;
    std::size_t misaligned = 0;  ///< elements by which all operands are moved from an address of 16 bytes
    std::vector<std::pair<int, int>> same = {};  ///< an input and the output that has its memory
    ReportedFailure* failure = nullptr;          ///< null: a failure fails the test
};

/// Problems with the kernels that take them, compiled together for the emulator.
class KernelCases {
public:
    /// Takes for each problem the first kernel that accepts it and whose id begins with `ids[i]`, if there are any.
    /// Throws std::runtime_error with the refusals if there is none.
    explicit KernelCases(std::vector<std::string> problems, const std::vector<std::string>& ids = {});

    const Problem& problem(std::size_t i) const { return cases_.at(i).problem; }
    const std::string& kernel_id(std::size_t i) const { return cases_.at(i).id; }
    const KernelCode& code(std::size_t i) const { return cases_.at(i).code; }
    std::size_t size() const { return cases_.size(); }

    /// The problem at given values of its symbols.
    Problem at(std::size_t i, std::span<const std::int64_t> symbols) const;

    /// Runs a problem. Returns the elements of its outputs; operands in partial sums are all parts, one after another.
    /// Strided operands have gaps of NaN around their elements,
    /// and a gap that the kernel has written fails the test.
    std::vector<Numbers> run(std::size_t i, std::span<const std::int64_t> symbols, const std::vector<Numbers>& inputs,
                             const CaseOptions& options = {}) const;

private:
    struct Case {
        Problem problem;
        std::string id;
        KernelCode code;
        KernelFunction<Dim(const Problem& problem, int threads)> workspace;
    };
    std::vector<Case> cases_;
    std::unique_ptr<emulated_cuda::EmulatedModule> module_;
};

/// The text of a problem with its inputs from `first` to `last` in another dtype.
std::string with_inputs_in(std::string problem, int first, int last, const std::string& dtype);

/// The nearest number of a float dtype up to f32.
Number as_stored(double value, DType dtype);

/// Random elements of a dtype: floats between -1 and 1, integers between -100 and 100.
Numbers random_numbers(const TensorDesc& tensor, std::uint64_t seed);
std::vector<Numbers> random_inputs(const Problem& problem, std::uint64_t seed);

/// The kernels of an H100, as far as their costs tell.
KernelSet h100_kernels();

/// The larger of the relative L2 error and a tenth of the largest |y - r| / max(|r|, RMS r). Elements of which one is
/// NaN, or infinite, must be so in both: otherwise the error is infinite.
double error_of(const Numbers& y, const Numbers& reference);

/// Number of elements in memory, at constant sizes: those of all parts of a tensor in partial sums.
std::int64_t count_of(const TensorDesc& tensor);

}  // namespace cairn::kernels::cuda
