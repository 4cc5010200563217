#pragma once

#include "graph/types/hash_index.hpp"
#include "rewrite/alternatives/e_classes.hpp"
#include "selection/candidates/candidate.hpp"
#include "selection/candidates/interned_problem.hpp"
#include "selection/candidates/views.hpp"

#include <cstdint>
#include <span>
#include <vector>

/// Structural hashes of values: kernels treat values with equal hashes alike.
namespace cairn::selection {

/// Structural hash of nodes and values: equal for those that differ only in their ids. Problems of nodes with equal
/// signatures are equal.
///
///     %4 = tanh %3 : f32[T,768]    %9 = tanh %8 : f32[T,768]    of_node(%4) = of_node(%9)
class ValueSignatures {
public:
    /// All arguments must outlive it.
    ValueSignatures(const ir::GraphData& graph, const alternatives::EClasses& classes,
                    const std::vector<ValueView>& views, const std::vector<bool>& bound,
                    const std::vector<LayoutNames>& layouts, TensorDescInterner& desc_interner);

    /// Signature of a node: its strided description, the kind of memory it lies in, and the signature of what it
    /// widens.
    std::uint32_t of_node(ir::NodeId node);
    /// Signature of a value, named by its first expression: those of all its expressions, that of its rounded copy, and
    /// the computed layouts that it can have.
    std::uint32_t of_value(ir::NodeId value);
    /// The description of a node as an operand read in place.
    const TensorDesc* strided(ir::NodeId node) { return signatures_[of_node(node)].strided; }

private:
    static constexpr std::uint32_t unknown = 0;
    /// For a node: its description, its flags, and the signature of what it widens. For a value with several
    /// expressions: the signature of all but the last, and that of the last. If the value may be rounded: the same once
    /// more, then `unknown`. If it can have computed layouts: for each its description in the layout, and the signature
    /// so far.
    struct Signature {
        const TensorDesc* strided = nullptr;
        std::uint32_t first = 0, second = 0;
        friend bool operator==(const Signature&, const Signature&) = default;
    };

    std::uint32_t intern(const Signature& signature);

    const ir::GraphData& graph_;
    const alternatives::EClasses& classes_;
    const std::vector<ValueView>& views_;
    const std::vector<bool>& bound_;
    const std::vector<LayoutNames>& layouts_;
    TensorDescInterner& desc_interner_;
    std::vector<std::uint32_t> of_nodes_;
    std::vector<Signature> signatures_{1};
    types::HashIndex index_;  // of `signatures_`
};

}  // namespace cairn::selection
