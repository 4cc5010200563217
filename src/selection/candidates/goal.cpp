#include "selection/candidates/goal.hpp"

#include <fmt/format.h>

namespace cairn::selection {

std::string to_string(const Goal& goal) {
    std::string text = fmt::format("%{}", goal.value);
    if (goal.place.in_state) text += " in its state";
    if (!goal.place.layout.empty()) text += fmt::format(" as {}", goal.place.layout);
    if (goal.place.device != Device::cpu) text += fmt::format(" on {}", cairn::to_string(goal.place.device));
    if (goal.kept) text += ", kept";
    if (goal.transferred) text += ", transferred";
    return text;
}

}  // namespace cairn::selection
