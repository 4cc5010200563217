#include "select/siblings.hpp"

#include "types/knobs.hpp"
#include "types/levels.hpp"

#include <algorithm>
#include <cmath>

namespace cairn::inline v0::select {
namespace {

// As wide as the uncertainty of a kernel that nothing is known of: two standard deviations of its logarithm.
const double foretold_deviation = std::log(4.0) / 2;
constexpr double least_uncertainty = 1.3, most_uncertainty = 8;

/// What its settings, and twins', have in common.
std::string family_at_all_settings(const Kernel& kernel) { return std::string(kernel_of(family_of(kernel))); }

}  // namespace

std::string family_of(const Kernel& kernel) {
    const std::string level(level_name(kernel.needs));
    std::string family = kernel.id;
    for (const char* before : {".", "_"})
        if (const std::size_t at = family.find(before + level + "."); at != std::string::npos)
            return family.replace(at + 1, level.size(), "*");
    return family;
}

std::string twin_of(const Kernel& kernel, FeatureSet needs) {
    std::string family = family_of(kernel);
    const std::size_t at = family.find('*');
    return family == kernel.id || at == std::string::npos ? std::string() : family.replace(at, 1, level_name(needs));
}

/// Seen often, the mean of what was seen; seen once, half of that.
Fit Siblings::Shown::fit() const {
    if (weight == 0) return {};
    const double spread = std::max(squares - sum * sum / weight, 0.0) + foretold_deviation * foretold_deviation;
    return {std::exp(sum / (weight + 1)),
            std::clamp(std::exp(2 * std::sqrt(spread / weight)), least_uncertainty, most_uncertainty)};
}

void Siblings::add(const Kernel& kernel, double measured, double roofline, double weight) {
    if (names_setting(kernel.id)) return;
    std::vector<Shown>& twins = families_[family_at_all_settings(kernel)];
    auto shown = std::find_if(twins.begin(), twins.end(), [&](const Shown& twin) { return twin.id == kernel.id; });
    if (shown == twins.end()) shown = twins.insert(shown, Shown{kernel.id, kernel.needs});
    const double log = std::log(measured / roofline);
    shown->weight += weight;
    shown->sum += weight * log;
    shown->squares += weight * log * log;
}

const Siblings::Shown* Siblings::find(const Kernel& kernel, const std::vector<Shown>& twins) const {
    for (const Shown& twin : twins)
        if (twin.id == kernel_of(kernel.id)) return &twin;
    return nullptr;
}

double Siblings::weight_of(const Kernel& kernel) const {
    const auto family = families_.find(family_at_all_settings(kernel));
    const Shown* const own = family == families_.end() ? nullptr : find(kernel, family->second);
    return own == nullptr ? 0 : own->weight;
}

Fit Siblings::of(const Kernel& kernel) const {
    const auto family = families_.find(family_at_all_settings(kernel));
    if (family == families_.end()) return {};
    const Shown* const own = find(kernel, family->second);
    Fit fit = own == nullptr ? Fit{} : own->fit();
    for (const Shown& twin : family->second) {
        const double factor = twin.fit().factor;
        if (own == nullptr && is_lower(twin.needs, kernel.needs)) fit.factor = std::min(fit.factor, factor);
        if (is_lower(kernel.needs, twin.needs)) fit.factor = std::max(fit.factor, factor);
    }
    return fit;
}

}  // namespace cairn::inline v0::select
