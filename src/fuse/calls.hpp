#pragma once

#include "fuse/instance.hpp"
#include "fuse/pattern.hpp"
#include "fuse/sizes.hpp"
#include "types/index.hpp"
#include "types/short_list.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace cairn::inline v0::fuse {

/// The dtype and shape of each node as a number: graphs have many values of few types.
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

/// A constant that holds so many times the number in a hole.
struct Holder {
    ir::NodeId constant;
    std::size_t hole;
    double factor;
};

/// A pattern's definition called on operands of certain types.
struct Call {
    std::vector<std::uint32_t> operands;  ///< their types
    std::vector<TensorDesc> types;
    bool fits = false;        ///< the pattern's sizes come out
    bool is_refused = false;  ///< by the definition, whatever the numbers are
    /// By the numbers in the pattern's holes; null where the definition refuses these.
    std::vector<std::pair<types::ShortList<double, 4>, const Filled*>> made;
    types::Index by_numbers;                     ///< of `made`, by the bits of the numbers
    std::optional<std::vector<Holder>> holders;  ///< of all holes, once looked for; empty where others hang on them too
};

/// What the types of operands alone tell of calls of one pattern, found out once for all values of these types.
class Calls {
public:
    Calls(const Pattern& pattern, const ir::GraphData& graph, const NodeTypes& types, Instances& instances);
    /// True when operand `index` may have the type of the node, were there no other operands. Asked while nothing is
    /// bound.
    bool may_be(std::size_t index, ir::NodeId id);
    /// False when the graph has no value that may be some operand. Asked while nothing is bound.
    bool has_operands();
    /// What the operands chosen so far bind.
    Sizes& sizes() noexcept { return sizes_; }
    /// The call on these operands, which are bound.
    Call& of(std::span<const ir::NodeId> operands);
    /// False when the call makes a value of another type than the node has, so far as is known: no number changes that.
    bool may_make(const Call& call, ir::NodeId root) const;
    /// The definition so called; null where it refuses. Of many numbers that it puts into constants as they are, only
    /// the first few are built: what is found with others asks for own().
    const Filled* filled(Call& call, const Attributes& attributes);
    /// The same, built with these very numbers.
    const Filled* own(Call& call, const Attributes& attributes);

private:
    enum class Known : std::uint8_t { nothing, yes, no };
    using Numbers = types::ShortList<double, 4>;

    Numbers numbers_in(const Attributes& attributes) const;
    std::pair<const Filled**, bool> made_of(Call& call, const Numbers& numbers);
    const Filled* shared(Call& call, const Numbers& numbers);
    std::vector<Holder> holders_of(const Call& call, const Instance& with_sentinels);
    const Instance* build(const Call& call, const Attributes& attributes);

    const Pattern& pattern_;
    const ir::GraphData& graph_;
    const NodeTypes& types_;
    Instances& instances_;
    Sizes sizes_;
    std::vector<std::vector<Known>> may_be_;  // of each operand and type
    Known has_operands_ = Known::nothing;
    std::deque<Call> calls_;
    std::deque<Filled> filled_;
    types::Index index_;
};

}  // namespace cairn::inline v0::fuse
