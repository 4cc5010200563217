#pragma once

#include "graph/types/hash_index.hpp"
#include "rewrite/alternatives/e_classes.hpp"
#include "selection/candidates/interned_problem.hpp"
#include "selection/candidates/views.hpp"

#include <cstdint>
#include <span>
#include <vector>

/// Which values look alike to kernels.
namespace cairn::selection {

/// What can be told of nodes and values, as a number: equal where nothing but the numbers of nodes differs. Problems
/// that are made of nodes with the same looks are the same.
///
///     %4 = tanh %3 : f32[T,768]    %9 = tanh %8 : f32[T,768]    of_node(%4) = of_node(%9)
class ValueSignatures {
public:
    /// All must outlive it.
    ValueSignatures(const ir::GraphData& graph, const alternatives::EClasses& classes,
                    const std::vector<ValueView>& views, const std::vector<bool>& bound,
                    TensorDescInterner& desc_interner);

    /// How a node is seen where it lies, in whose memory, and of what it is a wider copy.
    std::uint32_t of_node(ir::NodeId node);
    /// How each spelling of a value, known by its first, is seen, and what may be read in its place rounded.
    std::uint32_t of_value(ir::NodeId value);
    /// A node as an operand that is seen where it lies.
    const TensorDesc* strided(ir::NodeId node) { return signatures_[of_node(node)].strided; }

private:
    static constexpr std::uint32_t unknown = 0;
    /// Of a node: how it is seen, what it is, and the look of what it widens. Of a value with several spellings: the
    /// looks of all but the last, and of that; where it may be rounded, the same once more and then none.
    struct Signature {
        const TensorDesc* strided = nullptr;
        std::uint32_t first = 0, second = 0;
        friend bool operator==(const Signature&, const Signature&) = default;
    };

    std::uint32_t number_of(const Signature& signature);

    const ir::GraphData& graph_;
    const alternatives::EClasses& classes_;
    const std::vector<ValueView>& views_;
    const std::vector<bool>& bound_;
    TensorDescInterner& desc_interner_;
    std::vector<std::uint32_t> of_nodes_;
    std::vector<Signature> signatures_{1};
    types::HashIndex index_;  // of `signatures_`
};

}  // namespace cairn::selection
