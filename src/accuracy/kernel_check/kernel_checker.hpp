#pragma once

#include "accuracy/kernel_check/check_kernels.hpp"
#include "accuracy/kernel_check/check_target.hpp"
#include "accuracy/kernel_check/oracle.hpp"
#include "accuracy/kernel_check/problem_variations.hpp"
#include "device/compiled_kernel.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cairn::kernel_check {

/// Checks one kernel on one target and collects its report.
class KernelChecker {
public:
    KernelChecker(const KernelToCheck& request, Oracle& oracle, CheckTarget& target);

    const std::vector<std::string>& samples() const { return kernel_.samples; }
    const KernelReport& report() const { return report_; }

    void need_samples();
    /// Checks a sample and its variations.
    void check_on(const std::string& sample);
    /// Checks the calls of a program.
    void check_on(std::span<const ProblemCall> calls);

private:
    struct TestCase;
    struct RunResult;

    /// Why a kernel that submits its work itself cannot be used here: the one reason for which it refuses all of its
    /// samples; empty if it accepts one, or has several.
    std::string missing_library() const;
    /// Compiles the kernel for these Problems, all together.
    void compile(std::span<const Variation* const> variations);
    void compile_samples();
    /// False if the kernel has no code for a variation, which is a fault.
    bool has_code(const Variation& variation);
    void check_code(const Variation& variation);
    void check_launch(const KernelCode& code, const Variation& variation, const std::vector<std::int64_t>& sizes);

    void check_variation(const Variation& variation);
    std::string check_at_all_sizes(const Variation& variation);
    std::string check_at_sizes(const Variation& variation, const std::vector<std::int64_t>& sizes, bool is_last);
    void check_range(const Variation& variation);
    void prepare_at(const Variation& variation, const std::vector<std::int64_t>& sizes);
    void check_cost(const Problem& problem);

    void compare(const TestCase& test_case);
    void compare_misaligned(const TestCase& test_case, int threads, double error_bound, const std::string& place);
    void compare_with_definition(const TestCase& test_case, const RunResult& once, double error_bound,
                                 const std::string& place);
    std::string difference_beyond_roundoff(const TestCase& test_case, const interpreter::Value& value, std::size_t i);
    void run_in_place(const TestCase& test_case, int threads, const RunResult& once, const std::string& place);
    void check_indices(const TestCase& test_case);
    void check_index(const TestCase& test_case, std::size_t input, std::int64_t index);
    RunResult run_once(const TestCase& test_case, int threads, const Operands& before,
                       std::optional<InPlace> in_place = {}, int members = 0);

    void fault(const std::string& text, const Problem& problem, const std::string& at = {});

    const Kernel kernel_;
    const CheckOptions options_;
    Oracle& oracle_;
    CheckTarget& target_;
    device::HostThreads* threads_;  // that may compile
    KernelReport report_;
    std::map<std::string, std::vector<Variation>> variations_;  // by sample
    std::map<const Variation*, device::CompiledKernel> codes_;
    std::map<std::string, std::string> texts_;  // by entry
};

}  // namespace cairn::kernel_check
