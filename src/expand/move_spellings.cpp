#include "expand/row.hpp"
#include "ir/op_table.hpp"

namespace cairn::inline v0::expand {

using ir::NodeId;
using ir::OpClass;

// Where a spelling is seen in another value's memory, so is what movement makes of it: each view is of one node.
//
//     %5 = matmul %x, %w1 = slice %y     transpose (reshape (slice %y))
//     %7 = transpose (reshape %5)    ->  = %7
void move_spellings(Expander& e) {
    const NodeId count = e.size();
    for (NodeId value = 0; value < count; ++value) {
        e.go_on();
        if (!e.is_original(value)) continue;
        const std::vector<NodeId> users(e.users(value).begin(), e.users(value).end());
        const std::vector<NodeId> spellings(e.spellings(value).begin(), e.spellings(value).end());
        for (const NodeId spelling : spellings) {
            if (spelling == value || !ir::is(e.node(spelling), OpClass::movement)) continue;
            for (const NodeId user : users) {
                if (!e.is_original(user) || !ir::is(e.node(user), OpClass::movement)) continue;
                if (const auto twin = e.make(e.node(user).op, {spelling}, e.node(user).attributes, user))
                    e.join(user, *twin, e.laws_of(spelling));
            }
        }
    }
}

}  // namespace cairn::inline v0::expand
