#include "graph/ir/op_table.hpp"
#include "rewrite/alternatives/equivalence_rule.hpp"
#include "rewrite/alternatives/weights.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <vector>

namespace cairn::alternatives {
namespace {

using ir::Node;
using ir::NodeId;
using ir::Op;
using ir::OpClass;

// Ops that the slices of one value are taken through at most, all in all, and how many slices.
constexpr std::size_t most_ops = 64, most_slices = 16;

Dim size_at(const Shape& shape, std::size_t back) {
    return back < shape.size() ? shape[shape.size() - 1 - back] : Dim(1);
}

std::size_t back_of(const Node& slice) { return static_cast<std::size_t>(-slice.attributes.integer("axis") - 1); }

/// What slices of a value along one axis, `back` places before the last, are taken through: all of it is read by them
/// alone.
class Region {
public:
    Region(Expander& e, NodeId top, std::size_t back, std::size_t room) : e_(e), top_(top), back_(back) {
        whole_ = size_at(e.node(top).shape, back);
        std::set<NodeId, std::greater<>> open{top};
        while (!open.empty() && members_.size() < room) {
            const NodeId next = *open.begin();
            open.erase(open.begin());
            if (!is_member(next)) continue;
            members_.insert(next);
            has_product_ = has_product_ || e.node(next).op == Op::matmul;
            computes_ = computes_ || e.node(next).op != Op::reshape;
            for (std::size_t i = 0; i < e.node(next).operands.size(); ++i) {
                const NodeId operand = e.node(next).operands[i];
                if (is_cut(next, i))
                    open.insert(operand);
                else
                    read_whole_.insert(operand);
            }
        }
    }

    bool has_product() const noexcept { return has_product_; }
    bool computes() const noexcept { return computes_; }

    /// The slice of the top, made of slices of what the region rests on.
    std::optional<NodeId> sliced(NodeId slice) {
        const Attributes cut = e_.node(slice).attributes;
        std::map<NodeId, NodeId> made;
        for (const NodeId member : members_) {
            std::vector<NodeId> operands = e_.node(member).operands;
            for (std::size_t i = 0; i < operands.size(); ++i) {
                if (!is_cut(member, i)) continue;
                const auto known = made.find(operands[i]);
                const auto part = known != made.end() ? std::optional(known->second)
                                                      : alternatives::sliced(e_, operands[i], cut, slice);
                if (!part) return std::nullopt;
                made.emplace(operands[i], *part);
                operands[i] = *part;
            }
            const auto whole = again(member, std::move(operands), slice);
            if (!whole) return std::nullopt;
            made.emplace(member, *whole);
        }
        return made.at(top_);
    }

private:
    // True where a slice of a node is one of its operand too; else that is read as it is.
    bool is_cut(NodeId id, std::size_t at) const {
        const Node& node = e_.node(id);
        const bool is_side = node.op == Op::matmul && back_ == (at == 0 ? 0U : 1U);
        return !is_side && !(size_at(e_.node(node.operands[at]).shape, back_) == Dim(1));
    }

    bool is_member(NodeId id) const {
        if (!e_.is_original(id) || e_.is_bound(id) || !passes(id)) return false;
        if (id == top_) return true;
        const auto users = e_.users(id);
        return !e_.is_read_outside(id) && !read_whole_.contains(id) &&
               std::all_of(users.begin(), users.end(),
                           [&](NodeId user) { return !e_.is_original(user) || members_.contains(user); });
    }

    // True for what makes an element from what lies there in its operands.
    bool passes(NodeId id) const {
        const Node& node = e_.node(id);
        if (ir::is(node, OpClass::elementwise)) return all_reach(node);
        if (!is_float(node.dtype)) return false;
        if (node.op == Op::sum || node.op == Op::max_reduce) {
            const std::vector<Dim>& axes = node.attributes.dims("axes");
            return std::find(axes.begin(), axes.end(), Dim(-1 - static_cast<std::int64_t>(back_))) == axes.end();
        }
        if (node.op == Op::reshape) return keeps_axis(node);
        return node.op == Op::matmul && all_reach(node) && (id == top_ || e_.is_bound(node.operands[1]));
    }

    // Each operand has all of the axis or repeats along it.
    bool all_reach(const Node& node) const {
        for (std::size_t i = 0; i < node.operands.size(); ++i) {
            if (node.op == Op::matmul && back_ == (i == 0 ? 0U : 1U)) continue;
            const Dim size = size_at(e_.node(node.operands[i]).shape, back_);
            if (!(size == Dim(1)) && !(size == whole_)) return false;
        }
        return true;
    }

    bool keeps_axis(const Node& reshape) const {
        const Shape& from = e_.node(reshape.operands[0]).shape;
        for (std::size_t i = 0; i <= back_; ++i)
            if (!(size_at(from, i) == size_at(reshape.shape, i))) return false;
        return true;
    }

    std::optional<NodeId> again(NodeId member, std::vector<NodeId> operands, NodeId slice) {
        Attributes attributes = e_.node(member).attributes;
        if (e_.node(member).op == Op::reshape) {
            Shape shape = e_.node(member).shape;
            shape[shape.size() - 1 - back_] = size_at(e_.node(slice).shape, back_);
            attributes = {{"shape", std::vector<Dim>(shape.begin(), shape.end())}};
        }
        return e_.make(e_.node(member).op, std::move(operands), std::move(attributes), member);
    }

    Expander& e_;
    NodeId top_;
    std::size_t back_;
    Dim whole_;
    std::set<NodeId> members_, read_whole_;
    bool has_product_ = false, computes_ = false;
};

// How many slices along one axis read a value; nothing where something else does, and where they are all of it: what is
// seen in it then costs nothing, but for an output, which has memory of its own.
std::optional<std::size_t> count_of_slices(const Expander& e, NodeId value, std::size_t back) {
    if (!e.is_original(value) || e.is_read_outside(value)) return std::nullopt;
    std::size_t count = 0;
    Dim taken = 0;
    bool is_output = false;
    for (const NodeId user : e.users(value)) {
        if (!e.is_original(user)) continue;
        if (e.node(user).op != Op::slice || back_of(e.node(user)) != back || ++count > most_slices) return std::nullopt;
        taken = taken + size_at(e.node(user).shape, back);
        is_output = is_output || e.is_read_outside(user);
    }
    const bool is_all = provably_le(size_at(e.node(value).shape, back), taken);
    return is_all && !is_output ? std::nullopt : std::optional(count);
}

}  // namespace

// Slices of a product are products of slices: of rows of its left side, of columns of its right side; and so through
// all that makes each element from what lies there in its operands:
//
//     %4 = add (matmul %x, %w), %b            matmul %x, (slice %w)     slice %b
//     %5 = slice %4 axis=(-1)             ->  add of the two = %5
//
// Where nothing but slices reads the whole: the last of many tokens; some parts of a merged product, each by itself.
// Without a product among it, where one slice reads it.
void slice_product(Expander& e, NodeId id, Laws laws) {
    if (!e.is_original(id) || e.is_bound(id)) return;
    const std::size_t back = back_of(e.node(id));
    const NodeId top = e.node(id).operands[0];
    const auto slices = count_of_slices(e, top, back);
    if (!slices || size_at(e.node(top).shape, back) == Dim(1) || size_at(e.node(id).shape, back) == Dim(0)) return;
    Region region(e, top, back, most_ops / *slices);
    if (!region.has_product() && (*slices > 1 || !region.computes())) return;
    if (const auto expression = region.sliced(id)) e.join(id, *expression, laws);
}

}  // namespace cairn::alternatives
