#include "rewrite/alternatives/equivalence_rule.hpp"
#include "rewrite/alternatives/weights.hpp"

#include <algorithm>
#include <vector>

namespace cairn::alternatives {
namespace {

using ir::Node;
using ir::NodeId;
using ir::Op;

// Concats of more parts, and concats that more products read, are not split.
constexpr std::size_t max_parts = 4, max_products = 4;

// True for a concat of columns that only products read, as their left operand.
bool is_splittable(const Expander& e, NodeId concat) {
    const Node& node = e.node(concat);
    if (node.op != Op::concat || node.attributes.integer("axis") != -1 || node.operands.size() > max_parts)
        return false;
    const auto users = e.users(concat);
    const auto count = std::count_if(users.begin(), users.end(), [&](NodeId user) { return e.is_original(user); });
    return e.is_original(concat) && !e.is_bound(concat) && !e.is_read_outside(concat) &&
           static_cast<std::size_t>(count) <= max_products && std::all_of(users.begin(), users.end(), [&](NodeId user) {
               const Node& reads = e.node(user);
               return !e.is_original(user) ||
                      (reads.op == Op::matmul && reads.operands[0] == concat && reads.operands[1] != concat);
           });
}

}  // namespace

// Splits a product with a concat into the sum of the products of its parts, so that the parts are not copied:
//
//     %3 = concat %x, %y axis=(-1)        add (matmul %x, (slice %w)), (matmul %y, (slice %w)) = %4
//     %4 = matmul %3, %w              ->
//
// The weight is cut only where parts meet.
void split_product(Expander& e, NodeId id, Laws laws) {
    const NodeId whole = e.node(id).operands[0], w = e.node(id).operands[1];
    if (!e.is_original(id) || !is_float(e.node(id).dtype) || !is_splittable(e, whole)) return;
    const std::vector<NodeId> parts = e.node(whole).operands;
    std::optional<NodeId> sum;
    Dim begin = 0;
    for (const NodeId part : parts) {
        if (e.node(part).shape.back() == Dim(0)) return;
        const Dim end = begin + e.node(part).shape.back();
        const Attributes cut{{"axis", std::vector<Dim>{-2}},
                             {"start", std::vector<Dim>{begin}},
                             {"stop", std::vector<Dim>{end}},
                             {"step", std::vector<Dim>{1}}};
        const auto rows = sliced(e, w, cut, id);
        const auto product = rows ? e.make(Op::matmul, {part, *rows}, {}, id) : std::nullopt;
        if (!product) return;
        sum = sum ? e.make(Op::add, {*sum, *product}, {}, id) : product;
        if (!sum) return;
        begin = end;
    }
    e.join(id, *sum, laws);
}

}  // namespace cairn::alternatives
