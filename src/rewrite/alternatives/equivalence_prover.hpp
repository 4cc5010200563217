#pragma once

#include "rewrite/alternatives/e_classes.hpp"
#include "rewrite/normal_form/normal_forms.hpp"

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace cairn::alternatives {

/// Proves that expressions are equal to their values. First it normalizes the nodes between both and their common
/// operands, which count as given; if that does not suffice, the whole graph. Normal forms use only the laws of the
/// expression.
///
///     %7 = slice %6, %6 = matmul %5, %1     %9 = matmul %8, %1, %8 = slice %5     given: %1, %5
class EquivalenceProver {
public:
    /// Graph and classes must outlive it. Throws Cancelled on a stop.
    EquivalenceProver(const ir::GraphData& graph, const EClasses& classes, std::stop_token stop);
    bool is_proved(ir::NodeId expression);

private:
    /// The nodes from a value and its expression down to their common operands.
    struct ProofRegion {
        std::vector<ir::NodeId> nodes;  ///< oldest first
        std::vector<bool> is_given;     ///< of each: a common operand of both
    };
    std::optional<ProofRegion> between(ir::NodeId value, ir::NodeId expression) const;
    normal_form::ScaledTerm form_of(ir::NodeId id, bool is_given,
                                    const std::map<ir::NodeId, normal_form::ScaledTerm>& forms,
                                    normal_form::Normalizer& normalizer) const;
    bool is_proved_locally(ir::NodeId value, ir::NodeId expression);
    bool is_proved_globally(ir::NodeId value, ir::NodeId expression);

    const ir::GraphData& graph_;
    const EClasses& classes_;
    std::stop_token stop_;
    std::vector<bool> bound_;
    std::map<std::string, normal_form::Normalizer> normalizers_;  // by laws
    std::map<std::string, normal_form::NormalForms> forms_;       // by laws
};

}  // namespace cairn::alternatives
