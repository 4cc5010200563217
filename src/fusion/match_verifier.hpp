#pragma once

#include "fusion/match.hpp"
#include "rewrite/normal_form/normal_forms.hpp"

#include <deque>
#include <span>
#include <string>
#include <utility>

namespace cairn::fusion {

/// Proves tiles anew: rebuilds the definition of each on the values it reads and compares normal forms, whoever found
/// it. The definition is taken as it is written or simplified; where neither is proved, it is compared simplified with
/// what lies between the tile's inputs and outputs, simplified too. Forms are made for each set of laws when it is
/// first asked for.
class MatchVerifier {
public:
    /// Graph, classes and definitions must outlive it.
    MatchVerifier(const ir::GraphData& graph, const alternatives::EClasses& classes,
                  std::span<const Definition> definitions)
        : graph_(graph), classes_(classes), definitions_(definitions) {}

    /// Why the tile does not give the values it provides by exact laws and these; empty where it does.
    std::string fault(const Match& match, Laws laws);
    /// The same by the laws of definitions, or by all: with more laws a form meets more limits of size.
    std::string fault(const Match& match);
    /// The fewest laws by which it gives the values it provides, as the program spells them. Throws
    /// InternalError(fuse) where none do.
    ///
    ///     gelu(x w c) -> %9:  fused {matmul gelu} (x, w c) -> (%9)   distributed;   gelu (%8) -> (%9)   exact
    Laws laws_of(const Match& match);

private:
    normal_form::NormalForms& forms_under(Laws laws);

    const ir::GraphData& graph_;
    const alternatives::EClasses& classes_;
    std::span<const Definition> definitions_;
    std::deque<std::pair<Laws, normal_form::NormalForms>> forms_;
};

}  // namespace cairn::fusion
