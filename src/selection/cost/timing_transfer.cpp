#include "selection/cost/timing_transfer.hpp"

#include "graph/types/isa_levels.hpp"
#include "graph/types/knobs.hpp"

#include <algorithm>
#include <cmath>

namespace cairn::selection {
namespace {

// Spread of a kernel without observations, in logarithms: its default uncertainty is two standard deviations.
const double prior_deviation = std::log(4.0) / 2;
constexpr double least_uncertainty = 1.3, max_uncertainty = 8;

/// The part of the id that all settings and ISA variants share.
std::string family_of_all_settings(const Kernel& kernel) { return std::string(without_setting(family_of(kernel))); }

}  // namespace

std::string family_of(const Kernel& kernel) {
    const std::string level(isa_level_name(kernel.needs));
    std::string family = kernel.id;
    for (const char* before : {".", "_"})
        if (const std::size_t at = family.find(before + level + "."); at != std::string::npos)
            return family.replace(at + 1, level.size(), "*");
    return family;
}

std::string isa_variant_of(const Kernel& kernel, FeatureSet needs) {
    std::string family = family_of(kernel);
    const std::size_t at = family.find('*');
    return family == kernel.id || at == std::string::npos ? std::string()
                                                          : family.replace(at, 1, isa_level_name(needs));
}

/// Geometric mean with shrinkage: with many observations their mean, with one of weight 1 half of its logarithm.
Fit TimingTransfer::LogRatioStats::fit() const {
    if (weight == 0) return {};
    const double spread = std::max(squares - sum * sum / weight, 0.0) + prior_deviation * prior_deviation;
    return {std::exp(sum / (weight + 1)),
            std::clamp(std::exp(2 * std::sqrt(spread / weight)), least_uncertainty, max_uncertainty)};
}

void TimingTransfer::add(const Kernel& kernel, double measured, double roofline, double weight) {
    if (has_setting_suffix(kernel.id)) return;
    std::vector<LogRatioStats>& variants = families_[family_of_all_settings(kernel)];
    auto stats = std::find_if(variants.begin(), variants.end(),
                              [&](const LogRatioStats& variant) { return variant.id == kernel.id; });
    if (stats == variants.end()) stats = variants.insert(stats, LogRatioStats{kernel.id, kernel.needs});
    const double log = std::log(measured / roofline);
    stats->weight += weight;
    stats->sum += weight * log;
    stats->squares += weight * log * log;
}

const TimingTransfer::LogRatioStats* TimingTransfer::find(const Kernel& kernel,
                                                          const std::vector<LogRatioStats>& variants) const {
    for (const LogRatioStats& variant : variants)
        if (variant.id == without_setting(kernel.id)) return &variant;
    return nullptr;
}

double TimingTransfer::weight_of(const Kernel& kernel) const {
    const auto family = families_.find(family_of_all_settings(kernel));
    const LogRatioStats* const own = family == families_.end() ? nullptr : find(kernel, family->second);
    return own == nullptr ? 0 : own->weight;
}

Fit TimingTransfer::of(const Kernel& kernel) const {
    const auto family = families_.find(family_of_all_settings(kernel));
    if (family == families_.end()) return {};
    const LogRatioStats* const own = find(kernel, family->second);
    Fit fit = own == nullptr ? Fit{} : own->fit();
    for (const LogRatioStats& variant : family->second) {
        const double factor = variant.fit().factor;
        if (own == nullptr && is_narrower_isa(variant.needs, kernel.needs)) fit.factor = std::min(fit.factor, factor);
        if (is_narrower_isa(kernel.needs, variant.needs)) fit.factor = std::max(fit.factor, factor);
    }
    return fit;
}

}  // namespace cairn::selection
