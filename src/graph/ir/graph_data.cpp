#include "graph/ir/graph_data.hpp"

#include "graph/ir/infer.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/types/hash.hpp"

#include <bit>
#include <functional>

namespace cairn::ir {
namespace {

using types::hash_combine;

std::size_t hash_of(const Node& node) {
    std::size_t seed = static_cast<std::size_t>(node.op) * 64 + static_cast<std::size_t>(node.dtype);
    hash_combine(seed, node.shape);
    for (const NodeId operand : node.operands) hash_combine(seed, operand);
    for (const Attribute& attribute : node.attributes) {
        if (const auto* number = std::get_if<double>(&attribute.value))
            hash_combine(seed, std::bit_cast<std::uint64_t>(*number));
        else
            hash_combine(seed, std::get<std::vector<Dim>>(attribute.value));
    }
    hash_combine(seed, std::hash<std::string>{}(node.name));
    if (node.values)
        for (const double value : *node.values) hash_combine(seed, std::bit_cast<std::uint64_t>(value));
    if (node.exact_integers)
        for (const std::int64_t value : *node.exact_integers) hash_combine(seed, static_cast<std::size_t>(value));
    return seed;
}

// Bitwise equality: 0 and -0 differ, and a NaN is equal to itself.
bool same(double a, double b) noexcept { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

bool same(const Attributes& a, const Attributes& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].name != b[i].name || a[i].value.index() != b[i].value.index()) return false;
        const auto* number = std::get_if<double>(&a[i].value);
        if (number ? !same(*number, std::get<double>(b[i].value)) : a[i].value != b[i].value) return false;
    }
    return true;
}

bool same_values(const Node& a, const Node& b) {
    if ((a.exact_integers == nullptr) != (b.exact_integers == nullptr) ||
        (a.exact_integers && *a.exact_integers != *b.exact_integers))
        return false;
    if (a.values == b.values) return true;
    if (!a.values || !b.values || a.values->size() != b.values->size()) return false;
    for (std::size_t i = 0; i < a.values->size(); ++i)
        if (!same((*a.values)[i], (*b.values)[i])) return false;
    return true;
}

}  // namespace

bool is_same_operation(const Node& a, const Node& b) {
    return a.op == b.op && a.dtype == b.dtype && a.shape == b.shape && same(a.attributes, b.attributes) &&
           same_values(a, b);
}

bool same(const Node& a, const Node& b) {
    return a.operands == b.operands && a.name == b.name && is_same_operation(a, b);
}

GraphData::GraphData(std::string_view name) : GraphData(name, Symbols::create()) {}

GraphData::GraphData(std::string_view name, std::shared_ptr<Symbols> symbols)
    : name_(name), symbols_(std::move(symbols)) {}

NodeId GraphData::intern(Node node) {
    const std::size_t hash = hash_of(node);
    const auto id = static_cast<NodeId>(nodes_.size());
    NodeId known = id;
    index_.each(hash, [&](NodeId other) {
        if (known == id && same(nodes_[other], node)) known = other;
    });
    if (known != id) {
        inherit_label(known, node.label);
        return known;
    }
    if (!node.name.empty()) leaves_.emplace(node.name, id);
    if (!node.label.empty()) labels_.emplace(node.label, id);
    nodes_.push_back(std::move(node));
    index_.add(hash, id);
    return id;
}

void GraphData::set_label(NodeId id, std::string_view label) {
    std::string& own = nodes_[id].label;
    const auto is_free = [&](const std::string& text) {
        const auto it = labels_.find(text);
        return it == labels_.end() || it->second == id;
    };
    std::string text(label);
    for (int number = 2; !is_free(text); ++number) text = std::string(label) + ' ' + std::to_string(number);
    if (!own.empty() && own != text) labels_.erase(own);
    labels_[text] = id;
    own = std::move(text);
}

void GraphData::inherit_label(NodeId id, const std::string& label) {
    if (label.empty() || !nodes_[id].label.empty()) return;
    nodes_[id].label = label;
    labels_.emplace(label, id);
}

NodeId GraphData::make(Op op, std::vector<NodeId> operands, Attributes attributes, const std::source_location& where,
                       std::string name) {
    const std::source_location& line = place(where);
    Inferred inferred = infer(*this, op, operands, attributes, line);
    Node node;
    node.op = op;
    node.dtype = inferred.dtype;
    node.shape = std::move(inferred.shape);
    node.operands = std::move(operands);
    node.attributes = std::move(attributes);
    node.name = std::move(name);
    node.where = line;
    node.composite = composite_;
    return intern(std::move(node));
}

std::optional<NodeId> GraphData::find_leaf(std::string_view name) const {
    const auto it = leaves_.find(std::string(name));
    return it == leaves_.end() ? std::nullopt : std::optional(it->second);
}

void GraphData::enter_composite(std::string_view name, const std::source_location& where) {
    if (composite_depth_ == 0) {
        composite_ = name;
        composite_where_ = where;
    }
    ++composite_depth_;
}

void GraphData::leave_composite() noexcept {
    if (--composite_depth_ == 0) composite_.clear();
}

std::string GraphData::part_name(std::string_view name) const {
    return composite_depth_ > 0 ? composite_ : std::string(name);
}

std::string GraphData::part_name(Op op) const { return part_name(info(op).name); }

const std::source_location& GraphData::place(const std::source_location& where) const noexcept {
    return composite_depth_ > 0 ? composite_where_ : where;
}

}  // namespace cairn::ir
