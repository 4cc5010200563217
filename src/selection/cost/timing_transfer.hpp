#pragma once

#include "cairn/kernel.hpp"

#include <map>
#include <string>
#include <vector>

/// Timing transfer: the time of a kernel at one size, derived from its measured times at others.
namespace cairn::selection {

/// Ratio of a kernel's times to the roofline.
struct Fit {
    double factor = 1;       ///< times are the roofline's multiplied by this
    double uncertainty = 4;  ///< typical error of that, as a factor either way
};

/// The same kernel on other sizes usually deviates from the roofline by a similar factor: the geometric mean of the
/// observed ratios, shrunk towards 1 while there are few. Kernels whose ids differ in the ISA level alone are variants;
/// one is narrower if the other needs all that it needs and more. A wider variant without observations of its own is
/// expected to be as good as a narrower one; a narrower one never counts as faster than a wider one. A kernel at
/// another setting is expected to perform as at its first; its times are not observations of the first.
///
///     cpu.panel_avx2.matmul.f32@1, cpu.panel_avx512.matmul.f32@1
class TimingTransfer {
public:
    /// Adds a kernel's time and its roofline, both above 0. A time of another machine has a weight below 1.
    void add(const Kernel& kernel, double measured, double roofline, double weight = 1);
    Fit of(const Kernel& kernel) const;
    /// The total weight of the times added for the kernel itself.
    double weight_of(const Kernel& kernel) const;
    bool empty() const noexcept { return families_.empty(); }

private:
    struct LogRatioStats {
        std::string id;
        FeatureSet needs;
        double weight = 0, sum = 0, squares = 0;  // of the logarithms of the ratios
        Fit fit() const;
    };
    const LogRatioStats* find(const Kernel& kernel, const std::vector<LogRatioStats>& variants) const;
    std::map<std::string, std::vector<LogRatioStats>> families_;  // by family_of_all_settings
};

/// A kernel's id without its level (isa_level_name). `cpu.panel_avx2.linear@1` -> `cpu.panel_*.linear@1`
std::string family_of(const Kernel& kernel);

/// The id of the kernel's variant with other needs, whether or not it exists; empty if the kernel has no variants.
std::string isa_variant_of(const Kernel& kernel, FeatureSet needs);

/// True if `b` needs all that `a` needs, and more.
inline bool is_narrower_isa(FeatureSet a, FeatureSet b) noexcept { return a != b && b.includes(a); }

}  // namespace cairn::selection
