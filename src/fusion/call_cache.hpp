#pragma once

#include "fusion/definition_instance.hpp"
#include "fusion/pattern.hpp"
#include "fusion/shape_unifier.hpp"
#include "graph/types/hash_index.hpp"
#include "graph/types/small_vector.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace cairn::fusion {

/// The type (dtype and shape) of each node as a number: graphs have many values of few types.
class NodeTypes {
public:
    explicit NodeTypes(const ir::GraphData& graph);
    std::uint32_t of(ir::NodeId id) const { return types_[id]; }
    std::size_t count() const noexcept { return first_.size(); }
    /// The first node of each type.
    std::span<const ir::NodeId> first() const noexcept { return first_; }

private:
    std::vector<std::uint32_t> types_;
    std::vector<ir::NodeId> first_;
};

/// A constant that holds the number in a hole times `factor`.
struct ConstantForHole {
    ir::NodeId constant;
    std::size_t hole;
    double factor;
};

/// A pattern's definition called on operands of given types.
struct TypedCall {
    std::vector<std::uint32_t> operands;  ///< their types
    std::vector<TensorDesc> types;
    bool fits = false;         ///< the pattern's sizes can be solved for
    bool is_rejected = false;  ///< by the definition, whatever the numbers are
    /// The instance for each choice of numbers in the pattern's holes; null if the definition rejects them.
    std::vector<std::pair<types::SmallVector<double, 4>, const FilledInstance*>> made;
    types::HashIndex by_numbers;  ///< indexes `made` by the bits of the numbers
    std::optional<std::vector<ConstantForHole>>
        constants_for_holes;  ///< of all holes, found on demand; empty if other constants depend on the numbers too
};

/// Calls of one pattern, by the types of the operands: what follows from types is computed once for all values of these
/// types.
class CallCache {
public:
    CallCache(const Pattern& pattern, const ir::GraphData& graph, const NodeTypes& types, InstanceCache& instances);
    /// True if operand `index` may have the type of the node, ignoring other operands. Precondition: nothing is bound.
    bool accepts_operand(std::size_t index, ir::NodeId id);
    /// False if the graph has no value for some operand. Precondition: nothing is bound.
    bool has_operands();
    /// The sizes bound by the operands chosen so far.
    ShapeUnifier& sizes() noexcept { return sizes_; }
    /// The call on these operands, which must be bound.
    TypedCall& of(std::span<const ir::NodeId> operands);
    /// False if the call is known to compute a value of another type than that of the node: no numbers change that.
    bool may_produce(const TypedCall& call, ir::NodeId root) const;
    /// The definition with the numbers in `attributes`; null if it rejects them. Of many numbers that only become
    /// constants, the first few are built and later ones share an instance: a match found with that must be proved with
    /// exact_instance().
    const FilledInstance* filled(TypedCall& call, const Attributes& attributes);
    /// The same, built with exactly these numbers.
    const FilledInstance* exact_instance(TypedCall& call, const Attributes& attributes);

private:
    enum class Answer : std::uint8_t { nothing, yes, no };
    using Numbers = types::SmallVector<double, 4>;

    Numbers numbers_in(const Attributes& attributes) const;
    std::pair<const FilledInstance**, bool> instance_entry(TypedCall& call, const Numbers& numbers);
    const FilledInstance* shared(TypedCall& call, const Numbers& numbers);
    std::vector<ConstantForHole> constants_for_holes_of(const TypedCall& call,
                                                        const DefinitionInstance& with_sentinels);
    const DefinitionInstance* build(const TypedCall& call, const Attributes& attributes);

    const Pattern& pattern_;
    const ir::GraphData& graph_;
    const NodeTypes& types_;
    InstanceCache& instances_;
    ShapeUnifier sizes_;
    std::vector<std::vector<Answer>> accepts_;  // by operand and type
    Answer has_operands_ = Answer::nothing;
    std::deque<TypedCall> calls_;
    std::deque<FilledInstance> filled_;
    types::HashIndex index_;
};

}  // namespace cairn::fusion
