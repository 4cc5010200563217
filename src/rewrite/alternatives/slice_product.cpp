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

// Maximum number of ops that the slices of one value are pushed through, all slices together, and of slices.
constexpr std::size_t max_ops = 64, max_slices = 16;

Dim size_at(const Shape& shape, std::size_t back) {
    return back < shape.size() ? shape[shape.size() - 1 - back] : Dim(1);
}

std::size_t back_of(const Node& slice) { return static_cast<std::size_t>(-slice.attributes.integer("axis") - 1); }

/// The ops that slices of a value along one axis, `back` places before the last, are pushed through. No other nodes
/// read their results.
class PushdownRegion {
public:
    PushdownRegion(Expander& e, NodeId top, std::size_t back, std::size_t room) : e_(e), top_(top), back_(back) {
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
                if (is_sliced_operand(next, i))
                    open.insert(operand);
                else
                    read_whole_.insert(operand);
            }
        }
    }

    bool has_product() const noexcept { return has_product_; }
    bool computes() const noexcept { return computes_; }

    /// Makes the slice of the top from slices of the region's operands.
    std::optional<NodeId> sliced(NodeId slice) {
        const Attributes cut = e_.node(slice).attributes;
        std::map<NodeId, NodeId> made;
        for (const NodeId member : members_) {
            std::vector<NodeId> operands = e_.node(member).operands;
            for (std::size_t i = 0; i < operands.size(); ++i) {
                if (!is_sliced_operand(member, i)) continue;
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
    // True if the operand is sliced when the node is; else it is read whole.
    bool is_sliced_operand(NodeId id, std::size_t at) const {
        const Node& node = e_.node(id);
        const bool is_side = node.op == Op::matmul && back_ == (at == 0 ? 0U : 1U);
        return !is_side && !(size_at(e_.node(node.operands[at]).shape, back_) == Dim(1));
    }

    bool is_member(NodeId id) const {
        if (!e_.is_original(id) || e_.is_bound(id) || !may_push_through(id)) return false;
        if (id == top_) return true;
        const auto users = e_.users(id);
        return !e_.is_read_outside(id) && !read_whole_.contains(id) &&
               std::all_of(users.begin(), users.end(),
                           [&](NodeId user) { return !e_.is_original(user) || members_.contains(user); });
    }

    // True for ops that compute an element from the elements at its position in the operands.
    bool may_push_through(NodeId id) const {
        const Node& node = e_.node(id);
        if (ir::is(node, OpClass::elementwise)) return operands_have_axis(node);
        if (!is_float(node.dtype)) return false;
        if (node.op == Op::sum || node.op == Op::max_reduce) {
            const std::vector<Dim>& axes = node.attributes.dims("axes");
            return std::find(axes.begin(), axes.end(), Dim(-1 - static_cast<std::int64_t>(back_))) == axes.end();
        }
        if (node.op == Op::reshape) return keeps_axis(node);
        return node.op == Op::matmul && operands_have_axis(node) && (id == top_ || e_.is_bound(node.operands[1]));
    }

    // True if each operand has the whole axis or is broadcast along it.
    bool operands_have_axis(const Node& node) const {
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

// The number of slices along one axis that read a value. Nothing if anything else reads it, or if the slices cover all
// of it: views of it then cost nothing, except for an output, which has memory of its own.
std::optional<std::size_t> count_of_slices(const Expander& e, NodeId value, std::size_t back) {
    if (!e.is_original(value) || e.is_read_outside(value)) return std::nullopt;
    std::size_t count = 0;
    Dim total = 0;
    bool is_output = false;
    for (const NodeId user : e.users(value)) {
        if (!e.is_original(user)) continue;
        if (e.node(user).op != Op::slice || back_of(e.node(user)) != back || ++count > max_slices) return std::nullopt;
        total = total + size_at(e.node(user).shape, back);
        is_output = is_output || e.is_read_outside(user);
    }
    const bool is_all = provably_le(size_at(e.node(value).shape, back), total);
    return is_all && !is_output ? std::nullopt : std::optional(count);
}

}  // namespace

// A slice of a product is a product of slices: of rows of its left operand, of columns of its right operand. It is
// pushed likewise through all ops that compute an element from the elements at its position:
//
//     %4 = add (matmul %x, %w), %b            matmul %x, (slice %w)     slice %b
//     %5 = slice %4 axis=(-1)             ->  add of the two = %5
//
// Applied if only slices read the value: the last of many tokens; some parts of a merged product, each by itself. If
// the ops include no product, applied only if a single slice reads it.
void slice_product(Expander& e, NodeId id, Laws laws) {
    if (!e.is_original(id) || e.is_bound(id)) return;
    const std::size_t back = back_of(e.node(id));
    const NodeId top = e.node(id).operands[0];
    const auto slices = count_of_slices(e, top, back);
    if (!slices || size_at(e.node(top).shape, back) == Dim(1) || size_at(e.node(id).shape, back) == Dim(0)) return;
    PushdownRegion region(e, top, back, max_ops / *slices);
    if (!region.has_product() && (*slices > 1 || !region.computes())) return;
    if (const auto expression = region.sliced(id)) e.join(id, *expression, laws);
}

}  // namespace cairn::alternatives
