#pragma once

#include "cairn/graph.hpp"
#include "cairn/problem.hpp"
#include "graph/ir/op_list.hpp"
#include "graph/types/hash_index.hpp"
#include "graph/types/small_vector.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

/// The graph on which every compiler stage operates: a hash-consed vector of nodes in topological order.
namespace cairn::ir {

using NodeId = std::uint32_t;

/// The kinds of node; op_list.hpp has a row for each.
enum class Op : std::uint8_t {
#define CAIRN_OP(name, ...) name,
    CAIRN_UNARY_OPS(CAIRN_OP) CAIRN_BINARY_OPS(CAIRN_OP) CAIRN_OTHER_OPS(CAIRN_OP)
#undef CAIRN_OP
};

/// One value. Its attributes are in the order that its op_table row declares. Axes are stored negative, counted from
/// the end (-1 is the last), so that a node is unchanged by added leading axes. Reductions keep their axes with size 1;
/// ops_reduction.cpp adds the reshape that drops them. Memory is no part of a value: the memory plan assigns it. Only
/// `copy_to` names the device of its result, as an attribute.
struct Node {
    Op op = Op::input;
    DType dtype = DType::f32;
    Shape shape;
    types::SmallVector<NodeId, 3> operands;
    Attributes attributes;
    std::string name;  ///< of an input, weight or state
    /// All elements of a constant, row-major; the initial contents of a state_read, if they are not zeros.
    std::shared_ptr<const std::vector<double>> values;
    /// If dtype is i64 and some element is not representable as a double: all elements; `values` has the nearest
    /// doubles.
    std::shared_ptr<const std::vector<std::int64_t>> exact_integers;
    std::source_location where;  ///< line in the user's code; not part of identity
    std::string composite;       ///< the outermost composite that created it; not part of identity
    std::string label;           ///< the user's name of the value (cairn::name); not part of identity
};

/// True for the same op with equal attributes and constants, bit for bit, and results of one type. Operands and names
/// are not compared.
bool is_same_operation(const Node& a, const Node& b);
/// True for nodes of one value: the same operation on the same operands, with the same name.
bool same(const Node& a, const Node& b);

struct StateInfo {
    std::string name;
    DType dtype = DType::f32;
    Shape shape;                             ///< of the live part before a run
    int axis = 0;                            ///< the growing axis, negative; 0: none, the size is fixed
    std::int64_t capacity = 0;               ///< of the growing axis
    NodeId read = 0;                         ///< the state_read node
    NodeId latest = 0;                       ///< the version that a run commits
    std::optional<DType> public_dtype = {};  ///< the dtype that users see, if it is wider than the stored one
    bool grows() const noexcept { return axis != 0; }
    /// Index of the growing axis, counted from the front; requires grows().
    std::size_t growing_axis() const noexcept {
        return static_cast<std::size_t>(static_cast<int>(shape.size()) + axis);
    }
};

struct Output {
    std::string name;
    NodeId node = 0;
};

/// Owner of one graph. Nodes are only ever added; operands precede their users.
class GraphData {
public:
    explicit GraphData(std::string_view name);
    /// An empty graph that shares the symbol table.
    GraphData(std::string_view name, std::shared_ptr<Symbols> symbols);

    const std::string& name() const noexcept { return name_; }
    const std::shared_ptr<Symbols>& symbols() const noexcept { return symbols_; }
    const std::deque<Node>& nodes() const noexcept { return nodes_; }
    const Node& node(NodeId id) const { return nodes_[id]; }
    const std::vector<Output>& outputs() const noexcept { return outputs_; }
    const std::vector<StateInfo>& states() const noexcept { return states_; }
    std::vector<StateInfo>& states() noexcept { return states_; }

    /// The node equal to `node` (op, dtype, shape, operands, attributes, name, values), added if there is none. No
    /// inference, no checks. An existing node without a label takes the label of `node`.
    NodeId intern(Node node);
    /// Gives a value a label. A label that another value has gets a number: `scores 2`.
    void set_label(NodeId id, std::string_view label);
    /// Gives a label to the value that replaces a node in this graph, if it has none.
    void inherit_label(NodeId id, const std::string& label);
    /// True if a value has this label.
    bool has_label(const std::string& label) const { return labels_.contains(label); }
    /// Infers dtype and shape (infer.hpp), checks, interns. Within a composite, the line of the composite's caller
    /// replaces `where`.
    NodeId make(Op op, std::vector<NodeId> operands, Attributes attributes, const std::source_location& where,
                std::string name = {});
    void add_output(std::string name, NodeId node) { outputs_.push_back({std::move(name), node}); }
    /// The input, weight or state_read of that name; empty if there is none.
    std::optional<NodeId> find_leaf(std::string_view name) const;

    /// Called by CompositeScope: records the name of the outermost composite and its caller's line.
    void enter_composite(std::string_view name, const std::source_location& where);
    void leave_composite() noexcept;
    /// The part that an error about `op` names now: `softmax` inside that composite, else the op's own name.
    std::string part_name(Op op) const;
    std::string part_name(std::string_view name) const;
    const std::source_location& place(const std::source_location& where) const noexcept;

private:
    std::string name_;
    std::shared_ptr<Symbols> symbols_;
    std::deque<Node> nodes_;  // references stay valid while it grows
    std::vector<Output> outputs_;
    std::vector<StateInfo> states_;
    types::HashIndex index_;  // of `nodes_`, by hash
    std::unordered_map<std::string, NodeId> leaves_;
    std::unordered_map<std::string, NodeId> labels_;
    std::string composite_;
    std::source_location composite_where_;
    int composite_depth_ = 0;
};

/// Number of uses of each node by other nodes, outputs and state commits.
std::vector<int> use_counts(const GraphData& graph);
/// Liveness: true for nodes that an output or a state commit depends on.
std::vector<bool> live_nodes(const GraphData& graph);
/// True for nodes that depend on weights and constants only (and on no symbol-sized leaf): computed once at bind.
std::vector<bool> bind_time_nodes(const GraphData& graph);

/// A copy with other symbols: symbol i of the graph becomes `replacements[i]`, a Dim of `symbols` or a constant. Names,
/// states and outputs stay. Used for the graph of one bucket: `T in 1..1024` becomes 1, or `T in 2..12`.
std::shared_ptr<GraphData> specialize(const GraphData& graph, const std::shared_ptr<Symbols>& symbols,
                                      const std::vector<Dim>& replacements);

/// Copies a node into `target`, its operands translated by `map` (old id -> new id), without inference.
NodeId copy_node(const Node& node, const std::vector<NodeId>& map, GraphData& target);

/// Copies outputs and states into `target`, their nodes translated by `map`: the last step of every stage that builds a
/// new graph.
void copy_outputs_and_states(const GraphData& graph, const std::vector<NodeId>& map, GraphData& target);

/// The state_read at the beginning of the chain of versions that `version` (a state_read, state_append or state_write)
/// belongs to; empty if `version` is no such node.
std::optional<NodeId> state_origin(const GraphData& graph, NodeId version);

/// The list as an attribute's value, each number one element: `{"axes", dims({-2, -1})}`.
std::vector<Dim> dims(const std::vector<int>& values);

}  // namespace cairn::ir
