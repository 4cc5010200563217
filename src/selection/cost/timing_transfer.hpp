#pragma once

#include "cairn/kernel.hpp"

#include <map>
#include <string>
#include <vector>

/// What is known of a kernel from its times at other sizes.
namespace cairn::selection {

/// How a kernel's times lie to what the roofline says.
struct Fit {
    double factor = 1;       ///< times are the roofline's by this
    double uncertainty = 4;  ///< and that wrong by this either way, in a typical case
};

/// The same kernel on other sizes is mostly off by a like factor: the geometric mean of those seen, drawn towards 1
/// while there are few. Kernels whose ids differ in their level alone are twins; one is lower where all it needs
/// is needed by the other, which needs more. What a lower one has shown a higher one can do too, until it has shown
/// something itself; and a lower one never counts as faster than a higher one. Of a kernel at another setting the same
/// is expected as at its first; what it takes there shows nothing of the first.
///
///     cpu.panel_avx2.matmul.f32@1, cpu.panel_avx512.matmul.f32@1
class TimingTransfer {
public:
    /// A time of a kernel and the roofline's, both above 0. One of another machine has less weight than 1.
    void add(const Kernel& kernel, double measured, double roofline, double weight = 1);
    Fit of(const Kernel& kernel) const;
    /// Of all that was added of the kernel itself.
    double weight_of(const Kernel& kernel) const;
    bool empty() const noexcept { return families_.empty(); }

private:
    struct LogRatioStats {
        std::string id;
        FeatureSet needs;
        double weight = 0, sum = 0, squares = 0;  // of the logarithms
        Fit fit() const;
    };
    const LogRatioStats* find(const Kernel& kernel, const std::vector<LogRatioStats>& variants) const;
    std::map<std::string, std::vector<LogRatioStats>> families_;  // by what twins have in common
};

/// A kernel's id without its level (isa_level_name). `cpu.panel_avx2.linear@1` -> `cpu.panel_*.linear@1`
std::string family_of(const Kernel& kernel);

/// The id of a kernel's twin with other needs, whether there is such a kernel or not; empty for a kernel that has none.
std::string isa_variant_of(const Kernel& kernel, FeatureSet needs);

/// True where all that `a` needs is needed by `b`, which needs more.
inline bool is_narrower_isa(FeatureSet a, FeatureSet b) noexcept { return a != b && b.includes(a); }

}  // namespace cairn::selection
