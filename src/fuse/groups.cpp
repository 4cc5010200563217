#include "fuse/groups.hpp"

#include "fuse/numbers.hpp"
#include "ir/op_table.hpp"
#include "types/hash.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

namespace cairn::inline v0::fuse {
namespace {

using ir::NodeId;
using ir::Op;

constexpr std::size_t most_steps = 64;
constexpr std::size_t most_inputs = 16, product_inputs = 3;

// Within a group of this many ops, no link of a chain starts a group of its own: there would be as many long groups as
// ops, and it does not matter where a chain is cut.
constexpr std::size_t long_group = 16;
constexpr int chain_steps = 4;

// A number that a body can hold.
bool is_scalar_constant(const ir::Node& node) {
    return node.op == Op::constant && node.shape.empty() && node.wide == nullptr;
}

bool is_matmul(const Tile& product) { return product.definition == ir::info(Op::matmul).name; }

template <typename T>
bool contains(const std::vector<T>& list, const T& id) {
    return std::find(list.begin(), list.end(), id) != list.end();
}

}  // namespace

// The members in topological order, the root last, and what they read.
struct Groups::Group {
    explicit Group(NodeId at, Head begins_with = Head::none) : root(at), head(begins_with) {}

    NodeId root;
    Head head;
    std::optional<NodeId> product;  // the value that it goes on from
    std::vector<NodeId> members, reads, inputs, constants;
    std::vector<NodeId> open;  // reads that may be taken in and have not been refused
    bool has_shared = false;   // a producer that is read elsewhere too was looked at
    bool read_again = false;   // one was refused for what it reads
};

// How much the members of a group read: tensors, and those as large as the root; the rest are numbers.
struct Groups::Rim {
    std::size_t reads = 0, inputs = 0, large = 0;
    void count(const Facts& facts, const Facts& root, int sign) {
        reads += static_cast<std::size_t>(sign);
        if (!facts.number) inputs += static_cast<std::size_t>(sign);
        if (facts.shape == root.shape) large += static_cast<std::size_t>(sign);
    }
};

Groups::Groups(const ir::GraphData& graph, const expand::Classes& classes, const BodyParts& parts, std::stop_token stop)
    : graph_(graph),
      classes_(classes),
      parts_(parts),
      stop_(std::move(stop)),
      uses_(ir::use_counts(graph)),
      facts_(graph.nodes().size()),
      marks_(graph.nodes().size()),
      ancestors_(graph, classes, stop_) {
    const std::vector<bool> bound = ir::bound_nodes(graph);
    std::unordered_multimap<std::size_t, NodeId> first_of_shape;
    for (NodeId id = 0; id < facts_.size(); ++id) {
        if (stop_.stop_requested()) throw Cancelled("fuse");
        const ir::Node& node = graph.node(id);
        const ir::OpInfo& info = ir::info(node.op);
        const bool is_shared = uses_[id] > 1 || classes_.spellings(classes_.value_of(id)).size() > 1;
        facts_[id] = {id,
                      info.kind == ir::OpClass::elementwise,
                      info.work == ir::Work::cheap,
                      is_scalar_constant(node),
                      is_shared,
                      bound[id]};
        std::size_t hash = 0;
        types::mix(hash, node.shape);
        const auto [first, last] = first_of_shape.equal_range(hash);
        const auto same =
            std::find_if(first, last, [&](const auto& other) { return graph.node(other.second).shape == node.shape; });
        if (same == last)
            first_of_shape.emplace(hash, id);
        else
            facts_[id].shape = same->second;
    }
}

bool Groups::joins(NodeId producer, const Group& group) const {
    const Facts &facts = facts_[producer], &root = facts_[group.root];
    // What is computed once, when weights are bound, is not computed for each element of a product.
    const bool is_there = group.head != Head::none && facts.bound && !root.bound;
    return (facts.elementwise && (facts.shape == root.shape || (facts.cheap && !is_there))) ||
           is_product(producer, group);
}

// True for what a group may go on from.
bool Groups::is_product(NodeId id, const Group& group) const {
    if (group.head == Head::none || group.product || facts_[id].shape != facts_[group.root].shape) return false;
    return group.head == Head::product ? !parts_.products_at(id).empty() : !parts_.products_of(id).empty();
}

// What a member reads: behind a product a step that is a definition stands for all that it consists of.
std::span<const NodeId> Groups::operands_of(NodeId id, const Group& group) const {
    const Tile* const step = group.head == Head::none ? nullptr : parts_.step(id);
    if (step != nullptr) return {step->inputs.data(), step->inputs.size()};
    return {graph_.node(id).operands.data(), graph_.node(id).operands.size()};
}

// The rim once `producer` is a member.
Groups::Rim Groups::widened(Rim rim, NodeId producer, const Group& group) const {
    const Facts& root = facts_[group.root];
    if (producer != group.root) rim.count(facts_[producer], root, -1);
    const std::span<const NodeId> operands = operands_of(producer, group);
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const auto before = operands.begin() + static_cast<std::ptrdiff_t>(i);
        if (part_of(operands[i]) == Part::none && std::find(operands.begin(), before, operands[i]) == before)
            rim.count(facts_[operands[i]], root, 1);
    }
    return rim;
}

void Groups::take(NodeId producer, Group& group, Shared shared) {
    group.members.push_back(producer);
    if (producer != group.root) group.reads.erase(std::find(group.reads.begin(), group.reads.end(), producer));
    set_part(producer, Part::member);
    for (const NodeId operand : operands_of(producer, group))
        if (part_of(operand) == Part::none) {
            group.reads.push_back(operand);
            set_part(operand, Part::read);
            if (joins(operand, group) && (shared != Shared::read || !facts_[operand].shared))
                group.open.push_back(operand);
        }
}

// Takes in producers, newest first, as long as there is room. False where the root alone does not fit.
bool Groups::grow(Group& group, Shared shared) {
    ++group_;
    Rim rim = widened({}, group.root, group);
    take(group.root, group, shared);
    while (!group.open.empty()) {
        const auto newest = std::max_element(group.open.begin(), group.open.end());
        const NodeId next = *newest;
        *newest = group.open.back();
        group.open.pop_back();
        if (is_product(next, group) && is_read_inside(next, group)) {
            group.reads.erase(std::find(group.reads.begin(), group.reads.end(), next));
            group.product = next;
            set_part(next, Part::member);
            continue;
        }
        if (!facts_[next].elementwise || is_product(next, group)) {
            set_part(next, Part::refused);
            continue;
        }
        const auto late = [&](NodeId input) { return input != next && ancestors_.may_rest_on(input, next); };
        const auto provided = [&] {
            return shared == Shared::provide && facts_[next].shape == facts_[group.root].shape &&
                   std::none_of(group.reads.begin(), group.reads.end(), late);
        };
        const Rim wider = widened(rim, next, group);
        const bool again = uses_[next] > 1 && wider.large > rim.large;
        group.has_shared = group.has_shared || facts_[next].shared;
        group.read_again = group.read_again || again;
        if (wider.inputs + (group.head == Head::none ? 0 : product_inputs) > most_inputs ||
            group.members.size() + 1 + (wider.reads - wider.inputs) > most_steps || (again && !provided())) {
            set_part(next, Part::refused);
            continue;
        }
        take(next, group, shared);
        rim = wider;
    }
    std::sort(group.members.begin(), group.members.end());
    list_reads(group);
    if (group.head != Head::none)
        return group.product.has_value() && group.inputs.size() + product_inputs <= most_inputs;
    return group.inputs.size() <= most_inputs && !group.inputs.empty();
}

// True where the group reads a value alone, and what it makes of it but for the root: no product is computed twice.
bool Groups::is_read_inside(NodeId value, const Group& group) const {
    std::vector<NodeId> inside = group.members;
    for (const NodeId id : group.members)
        if (const Tile* const step = parts_.step(id))
            inside.insert(inside.end(), step->interior.begin(), step->interior.end());
    inside.push_back(value);
    std::sort(inside.begin(), inside.end());
    inside.erase(std::unique(inside.begin(), inside.end()), inside.end());
    std::vector<int> uses(inside.size(), 0);
    std::vector<bool> rests_on_it(inside.size(), false);
    for (std::size_t i = 0; i < inside.size(); ++i) {
        rests_on_it[i] = inside[i] == value;
        if (rests_on_it[i]) continue;
        for (const NodeId operand : graph_.node(inside[i]).operands) {
            const auto at = std::lower_bound(inside.begin(), inside.end(), operand);
            if (at == inside.end() || *at != operand) continue;
            const auto place = static_cast<std::size_t>(at - inside.begin());
            ++uses[place];
            rests_on_it[i] = rests_on_it[i] || rests_on_it[place];
        }
    }
    for (std::size_t i = 0; i < inside.size(); ++i)
        if (rests_on_it[i] && inside[i] != group.root && uses[i] != uses_[inside[i]]) return false;
    return true;
}

// Inputs by age, numbers in the order in which they are read.
void Groups::list_reads(Group& group) {
    for (const NodeId member : group.members)
        for (const NodeId operand : operands_of(member, group)) {
            if (part_of(operand) == Part::member || part_of(operand) == Part::listed) continue;
            (facts_[operand].number ? group.constants : group.inputs).push_back(operand);
            set_part(operand, Part::listed);
        }
    std::sort(group.inputs.begin(), group.inputs.end());
}

Tile Groups::tile_of(const Group& group, const std::vector<NodeId>& outputs) {
    Tile tile;
    tile.definition = "elementwise";
    for (const NodeId input : group.inputs) tile.inputs.push_back(classes_.value_of(input));
    tile.outputs = outputs;
    int values = 0;
    for (const NodeId id : group.inputs) marks_[id].value = values++;
    add_steps(group, values);
    tile.body = bodies_.finish();
    for (const NodeId output : outputs) tile.results.push_back(marks_[output].value);
    for (const NodeId id : group.members)
        if (!contains(outputs, id)) tile.interior.push_back(id);
    return tile;
}

// The group's numbers and members, the first of which is value number `values`.
void Groups::add_steps(const Group& group, int values) {
    for (const NodeId id : group.constants) {
        const ir::Node& node = graph_.node(id);
        bodies_.constant(node.dtype, as_written(node.values->front(), node.dtype));
        marks_[id].value = values++;
    }
    std::vector<int> operands;
    for (const NodeId id : group.members) {
        const ir::Node& node = graph_.node(id);
        operands.clear();
        for (const NodeId operand : operands_of(id, group)) operands.push_back(marks_[operand].value);
        if (group.head != Head::none && parts_.step(id) != nullptr)
            bodies_.add(parts_.step(id)->definition, node.dtype, operands);
        else
            bodies_.add(node.op, node.dtype, operands);
        marks_[id].value = values++;
    }
}

// A product that makes `group.product`, and what the group makes of it; only the product where it has no members.
Tile Groups::tile_of(const Group& group, const Tile& product) {
    Tile tile;
    tile.outputs = {group.root};
    tile.attributes = product.attributes;
    tile.inputs = {product.inputs[0], product.inputs[1]};
    tile.interior = product.interior;
    const bool has_bias = product.inputs.size() > 2;
    if (!has_bias && group.members.empty()) {
        tile.definition = ir::info(Op::matmul).name;
        return tile;
    }
    tile.definition = "fused";
    std::vector<NodeId> others = group.inputs;
    if (has_bias && !contains(others, product.inputs[2]))
        others.insert(std::upper_bound(others.begin(), others.end(), product.inputs[2]), product.inputs[2]);
    int values = 2;
    for (const NodeId id : others) {
        tile.inputs.push_back(classes_.value_of(id));
        marks_[id].value = values++;
    }
    const DType dtype = graph_.node(*group.product).dtype;
    if (is_matmul(product))
        bodies_.add(Op::matmul, dtype, std::array{0, 1});
    else
        bodies_.add(product.definition, dtype, std::array{0, 1});
    if (has_bias) {
        bodies_.add(Op::add, dtype, std::array{values, marks_[product.inputs[2]].value});
        ++values;
    }
    marks_[*group.product].value = values++;
    add_steps(group, values);
    tile.body = bodies_.finish();
    tile.results = {marks_[group.root].value};
    std::vector<NodeId> inside(tile.interior.begin(), tile.interior.end());
    const auto add_inside = [&](NodeId id) {
        if (id != group.root && !contains(inside, id)) inside.push_back(id);
    };
    for (const NodeId id : group.members) {
        if (const Tile* const step = parts_.step(id))
            std::for_each(step->interior.begin(), step->interior.end(), add_inside);
        add_inside(id);
    }
    add_inside(*group.product);
    tile.interior = inside;
    return tile;
}

// Members that others read too and that the group can provide: of the root's shape, and no input is computed from them.
std::vector<NodeId> Groups::shared_values(const Group& group) {
    const std::vector<int> inside = uses_inside(group);
    std::vector<NodeId> result;
    for (std::size_t i = 0; i < group.members.size(); ++i) {
        const NodeId id = group.members[i];
        if (id == group.root || facts_[id].shape != facts_[group.root].shape) continue;
        const auto late = [&](NodeId input) { return ancestors_.may_rest_on(input, id); };
        if (uses_[id] > inside[i] && std::none_of(group.inputs.begin(), group.inputs.end(), late)) result.push_back(id);
    }
    return result;
}

// How often members read each member.
std::vector<int> Groups::uses_inside(const Group& group) const {
    std::vector<int> uses(group.members.size(), 0);
    for (const NodeId reader : group.members)
        for (const NodeId operand : graph_.node(reader).operands) {
            const auto at = std::lower_bound(group.members.begin(), group.members.end(), operand);
            if (at != group.members.end() && *at == operand)
                ++uses[static_cast<std::size_t>(at - group.members.begin())];
        }
    return uses;
}

// True for a value that is read once and computed from one other, and so on for some `steps`.
bool Groups::is_link(NodeId id, int steps) const {
    if (steps == 0) return true;
    const std::vector<NodeId>& operands = graph_.node(id).operands;
    const auto computed = [&](NodeId operand) { return !facts_[operand].number; };
    return !facts_[id].shared && std::count_if(operands.begin(), operands.end(), computed) == 1 &&
           is_link(*std::find_if(operands.begin(), operands.end(), computed), steps - 1);
}

void Groups::pass_over(const Group& group, std::vector<bool>& passed) const {
    if (group.members.size() < long_group) return;
    for (const NodeId id : group.members)
        if (id != group.root && is_link(id, chain_steps) && facts_[id].shape == facts_[group.root].shape)
            passed[id] = true;
}

std::vector<std::vector<Tile>> Groups::all(const std::vector<bool>& wanted) {
    std::vector<std::vector<Tile>> tiles(graph_.nodes().size());
    std::vector<bool> passed(tiles.size(), false);
    for (std::size_t i = tiles.size(); i-- > 0;) {
        if (stop_.stop_requested()) throw Cancelled("fuse");
        const auto root = static_cast<NodeId>(i);
        add_products(root, tiles[i]);
        if (passed[i] && !wanted[i]) continue;
        add_behind_product(root, tiles[i]);
        at(root, tiles[i], passed);
    }
    return tiles;
}

// Those of matrices found at a node, alone: heads are tiles already. Where the node is a view, a product without a bias
// is a tile of what it views.
void Groups::add_products(NodeId root, std::vector<Tile>& tiles) {
    Group group(root);
    group.product = root;
    for (const Tile& product : parts_.products_at(root))
        if (is_matmul(product) && (product.inputs.size() > 2 || facts_[root].elementwise))
            tiles.push_back(tile_of(group, product));
}

// The group behind a product found at any spelling of a value; and where it stands there at another than the node, the
// group behind one found further down.
void Groups::add_behind_product(NodeId root, std::vector<Tile>& tiles) {
    if (!facts_[root].elementwise || !parts_.products_at(root).empty() || parts_.is_inside_step(root)) return;
    for (const Head head : {Head::product_in_any_spelling, Head::product}) {
        Group group(root, head);
        if (!grow(group, Shared::recompute)) return;
        for (const Tile* product : parts_.products_of(*group.product)) tiles.push_back(tile_of(group, *product));
        if (!parts_.products_at(*group.product).empty()) return;
    }
}

// The ways to treat shared values part where there is one; until then they make the same group.
void Groups::at(NodeId root, std::vector<Tile>& tiles, std::vector<bool>& passed) {
    if (!facts_[root].elementwise) return;
    const auto add = [&](const Group& group, const std::vector<NodeId>& outputs) {
        tiles.push_back(tile_of(group, outputs));
        pass_over(group, passed);
    };
    Group first(root), reading(root), providing(root);
    const bool is_first = grow(first, Shared::recompute);
    if (is_first) add(first, {root});
    const bool is_reading =
        first.has_shared && grow(reading, Shared::read) && !(is_first && reading.members == first.members);
    if (is_reading) add(reading, {root});
    if (first.read_again ? !grow(providing, Shared::provide) : !is_first) return;
    const Group& group = first.read_again ? providing : first;
    std::vector<NodeId> outputs = shared_values(group);
    const bool is_known =
        (is_first && group.members == first.members) || (is_reading && group.members == reading.members);
    if (outputs.empty() && is_known) return;
    outputs.push_back(root);
    add(group, outputs);
}

}  // namespace cairn::inline v0::fuse
