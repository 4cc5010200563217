#include "select/goal.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::select {

std::string to_string(const Goal& goal) {
    std::string text = fmt::format("%{}", goal.value);
    if (goal.place.in_state) text += " in its state";
    if (!goal.place.layout.empty()) text += fmt::format(" as {}", goal.place.layout);
    if (goal.place.device != Device::cpu) text += fmt::format(" on {}", cairn::to_string(goal.place.device));
    if (goal.kept) text += ", kept";
    if (goal.brought) text += ", brought";
    return text;
}

}  // namespace cairn::inline v0::select
