#include "fusion/match.hpp"

#include <fmt/format.h>

namespace cairn::fusion {
namespace {

std::string list(const Nodes& nodes) {
    std::string text;
    for (const ir::NodeId id : nodes) text += fmt::format("{}%{}", text.empty() ? "" : ", ", id);
    return "(" + text + ")";
}

// `layer_norm eps=1e-05`, `elementwise {2=add(0,1):f32} results (2)`: in the text form of a Problem, without operands.
std::string work(const Match& match) {
    Problem problem;
    problem.definition = match.definition;
    problem.attributes = match.attributes;
    problem.body = match.body;
    problem.inputs.resize(match.inputs.size());
    problem.results = match.results;
    const std::string text = to_string(problem);
    std::string head = text.substr(0, text.find(" |"));
    if (!match.results.empty()) {
        head += " results (";
        for (std::size_t i = 0; i < match.results.size(); ++i)
            head += fmt::format("{}{}", i == 0 ? "" : ",", match.results[i]);
        head += ")";
    }
    return head;
}

}  // namespace

std::string to_string(const std::vector<Match>& matches) {
    std::string text;
    for (const Match& match : matches) {
        text += fmt::format("{} {} -> {}", work(match), list(match.inputs), list(match.outputs));
        if (!match.interior.empty()) text += " over " + list(match.interior);
        text += "\n";
    }
    return text;
}

}  // namespace cairn::fusion
