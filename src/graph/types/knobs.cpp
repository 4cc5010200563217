#include "graph/types/knobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace cairn::inline v0 {
namespace {

using Values = std::vector<std::pair<std::string, std::int64_t>>;

std::string text_of(const std::vector<Knob>& knobs, const Values& values) {
    std::string text;
    for (std::size_t i = 0; i < knobs.size(); ++i)
        if (values[i].second != knobs[i].values.front())
            text += fmt::format("{}{}={}", text.empty() ? "{" : ",", values[i].first, values[i].second);
    return text.empty() ? text : text + "}";
}

void set_to(const Values& values, Kernel& kernel) {
    const auto setting = std::make_shared<const Setting>(values);
    kernel.accepts.bind(setting);
    kernel.workspace.bind(setting);
    kernel.cost.bind(setting);
    kernel.error.bind(setting);
    kernel.prepare.bind(setting);
    kernel.redundant.bind(setting);
    kernel.code.bind(setting);
    kernel.enqueue.bind(setting);
    kernel.output_layout.bind(setting);
}

Kernel with(const Kernel& kernel, const Values& values) {
    Kernel set = kernel;
    set.id += text_of(kernel.knobs, values);
    for (std::size_t i = 0; i < values.size(); ++i) set.knobs[i].values = {values[i].second};
    set_to(values, set);
    return set;
}

/// The n-th setting, the last knob varying fastest.
Values values_at(const std::vector<Knob>& knobs, std::size_t n) {
    Values values(knobs.size());
    for (std::size_t i = knobs.size(); i-- > 0; n /= knobs[i].values.size())
        values[i] = {knobs[i].name, knobs[i].values[n % knobs[i].values.size()]};
    return values;
}

}  // namespace

std::int64_t Setting::operator[](std::string_view knob) const {
    for (const auto& [name, value] : values_)
        if (name == knob) return value;
    throw Error(ErrorKind::argument, "setting", fmt::format("there is no knob {}", knob));
}

std::size_t count_settings(const Kernel& kernel) noexcept {
    std::size_t count = 1;
    for (const Knob& knob : kernel.knobs)
        count = knob.values.size() > max_settings ? max_settings + 1
                                                  : std::min(count * knob.values.size(), max_settings + 1);
    return count;
}

Kernel at_default_setting(Kernel kernel) {
    if (!kernel.knobs.empty()) set_to(values_at(kernel.knobs, 0), kernel);
    return kernel;
}

std::vector<Kernel> all_settings(Kernel kernel) {
    std::vector<Kernel> others;
    for (std::size_t n = 1; n < count_settings(kernel); ++n) others.push_back(with(kernel, values_at(kernel.knobs, n)));
    std::vector<Kernel> all;
    all.reserve(others.size() + 1);
    all.push_back(at_default_setting(std::move(kernel)));
    std::ranges::move(others, std::back_inserter(all));
    return all;
}

std::string_view without_setting(std::string_view id) noexcept { return id.substr(0, id.find('{')); }

std::string explain_unknown_id(std::string_view id, const KernelSet& kernels) {
    const auto kernel = std::find_if(kernels.kernels.begin(), kernels.kernels.end(),
                                     [&](const Kernel& each) { return each.id == without_setting(id); });
    if (!has_setting_suffix(id) || kernel == kernels.kernels.end())
        return fmt::format("there is no kernel {}", without_setting(id));
    if (kernel->knobs.empty()) return fmt::format("{} has no knobs", kernel->id);
    std::string listed;
    for (const Knob& knob : kernel->knobs)
        listed += fmt::format("{}{} of {}", listed.empty() ? "" : ", ", knob.name, fmt::join(knob.values, "|"));
    return fmt::format("{} has no setting {}: ids name, in this order, the values that are not the first, {}",
                       kernel->id, id.substr(kernel->id.size()), listed);
}

}  // namespace cairn::inline v0
