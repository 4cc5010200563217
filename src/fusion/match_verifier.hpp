#pragma once

#include "fusion/match.hpp"
#include "rewrite/normal_form/normal_forms.hpp"

#include <deque>
#include <span>
#include <string>
#include <utility>

namespace cairn::fusion {

/// Proves matches independently of how they were found: rebuilds the definition of each on the values it reads and
/// compares normal forms. The definition is taken as written, then simplified. If neither is proved, the simplified
/// definition is compared with the simplified subgraph between the match's inputs and outputs. Normal forms are built
/// for each set of laws on demand.
class MatchVerifier {
public:
    /// Graph, classes and definitions must outlive this object.
    MatchVerifier(const ir::GraphData& graph, const alternatives::EClasses& classes,
                  std::span<const Definition> definitions)
        : graph_(graph), classes_(classes), definitions_(definitions) {}

    /// Why the match does not compute its outputs by the exact laws and `laws`; empty if it does.
    std::string fault(const Match& match, Laws laws);
    /// The same by the laws of definitions, or by all laws: with more laws a form reaches more size limits.
    std::string fault(const Match& match);
    /// The fewest laws by which the match computes its outputs, in the program's own expressions. Throws
    /// InternalError(fuse) if no laws suffice.
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
