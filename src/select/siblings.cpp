#include "select/siblings.hpp"

#include <algorithm>
#include <cmath>

namespace cairn::inline v0::select {
namespace {

// As wide as the uncertainty of a kernel that nothing is known of: two standard deviations of its logarithm.
const double foretold_deviation = std::log(4.0) / 2;
constexpr double least_uncertainty = 1.3, most_uncertainty = 8;

/// Seen often, the mean of what was seen; seen once, half of that.
double shrunk_mean(const std::vector<double>& logs) {
    double sum = 0;
    for (const double log : logs) sum += log;
    return sum / (static_cast<double>(logs.size()) + 1);
}

Fit fit_of(const std::vector<double>& logs) {
    if (logs.empty()) return {};
    const auto count = static_cast<double>(logs.size());
    double mean = 0, squares = foretold_deviation * foretold_deviation;
    for (const double log : logs) mean += log / count;
    for (const double log : logs) squares += (log - mean) * (log - mean);
    return {std::exp(shrunk_mean(logs)),
            std::clamp(std::exp(2 * std::sqrt(squares / count)), least_uncertainty, most_uncertainty)};
}

}  // namespace

std::string family_of(const Kernel& kernel) {
    const std::string level(to_string(kernel.isa));
    std::string family = kernel.id;
    for (const char* before : {".", "_"})
        if (const std::size_t at = family.find(before + level + "."); at != std::string::npos)
            return family.replace(at + 1, level.size(), "*");
    return family;
}

void Siblings::add(const Kernel& kernel, double measured, double roofline) {
    std::vector<Shown>& twins = families_[family_of(kernel)];
    auto shown = std::find_if(twins.begin(), twins.end(), [&](const Shown& twin) { return twin.id == kernel.id; });
    if (shown == twins.end()) shown = twins.insert(shown, Shown{kernel.id, kernel.isa, {}});
    shown->logs.push_back(std::log(measured / roofline));
}

Fit Siblings::of(const Kernel& kernel) const {
    const auto family = families_.find(family_of(kernel));
    if (family == families_.end()) return {};
    const std::vector<Shown>& twins = family->second;
    const auto own = std::find_if(twins.begin(), twins.end(), [&](const Shown& twin) { return twin.id == kernel.id; });
    Fit fit = own == twins.end() ? Fit{} : fit_of(own->logs);
    for (const Shown& twin : twins) {
        const double factor = fit_of(twin.logs).factor;
        if (own == twins.end() && twin.isa < kernel.isa) fit.factor = std::min(fit.factor, factor);
        if (twin.isa > kernel.isa) fit.factor = std::max(fit.factor, factor);
    }
    return fit;
}

}  // namespace cairn::inline v0::select
