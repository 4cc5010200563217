#include "fusion/match.hpp"
#include "fusion/match_verifier.hpp"

#include <fmt/format.h>

namespace cairn::fusion {

std::string verify(const ir::GraphData& graph, const alternatives::EClasses& classes, const std::vector<Match>& matches,
                   std::span<const Definition> definitions) {
    MatchVerifier proof(graph, classes, definitions);
    for (const Match& match : matches) {
        const std::string fault = proof.fault(match);
        if (fault.empty()) continue;
        std::string text = to_string(std::vector<Match>{match});
        text.pop_back();
        return fmt::format("match {}: {}", text, fault);
    }
    return {};
}

}  // namespace cairn::fusion
