#include "io/onnx_file/resolve_names.hpp"

#include "io/mapped_file/fault_list.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace cairn::inline v0::onnx {
namespace {

using Names = std::unordered_set<std::string_view>;

/// The names of a graph, within those of the graphs around it.
struct Scope {
    const Scope* outer = nullptr;
    Names defined = {};

    bool has(std::string_view name) const { return defined.contains(name) || (outer != nullptr && outer->has(name)); }
};

std::string describe(const NodeProto& node, std::size_t index) {
    return fmt::format("node {} ({}{})", index, node.op,
                       node.name.empty() ? std::string() : " " + files::printable(node.name));
}

/// The names that a graph reads and does not define.
void add_free_names(const GraphProto& graph, Names& free);

void add_read_names(const NodeProto& node, Names& names) {
    for (const std::string& input : node.inputs)
        if (!input.empty()) names.insert(input);
    for (const AttributeProto& attribute : node.attributes)
        for (const GraphProto& graph : attribute.graphs) add_free_names(graph, names);
}

void add_free_names(const GraphProto& graph, Names& free) {
    Names read, own;
    for (const NodeProto& node : graph.nodes) {
        add_read_names(node, read);
        own.insert(node.outputs.begin(), node.outputs.end());
    }
    for (const ValueProto& output : graph.outputs) read.insert(output.name);
    for (const ValueProto& input : graph.inputs) own.insert(input.name);
    for (const TensorProto& tensor : graph.initializers) own.insert(tensor.name);
    own.insert(graph.sparse_initializers.begin(), graph.sparse_initializers.end());
    for (const std::string_view name : read)
        if (!own.contains(name)) free.insert(name);
}

class NameResolver {
public:
    explicit NameResolver(files::FaultList& faults) : faults_(faults) {}

    void resolve(GraphProto& graph, const Scope* outer, const std::string& where) {
        Scope scope{outer};
        for (const ValueProto& input : graph.inputs) define(input.name, scope, where + "an input");
        Names initializers;
        for (const TensorProto& tensor : graph.initializers)
            define_initializer(tensor.name, initializers, scope, where);
        for (const std::string& name : graph.sparse_initializers) define_initializer(name, initializers, scope, where);
        resolve_nodes(graph.nodes, scope, where);
        for (const ValueProto& output : graph.outputs)
            if (!scope.has(output.name))
                faults_.add(where + "no node computes the output " + files::printable(output.name));
        put_in_order(graph.nodes, where);
    }

    void resolve(FunctionProto& function) {
        const std::string where = fmt::format("function {}: ", files::printable(function.name));
        Scope scope;
        for (const std::string& input : function.inputs) define(input, scope, where + "an input");
        resolve_nodes(function.nodes, scope, where);
        for (const std::string& output : function.outputs)
            if (!scope.has(output)) faults_.add(where + "no node computes the output " + files::printable(output));
        put_in_order(function.nodes, where);
    }

private:
    void define(std::string_view name, Scope& scope, const std::string& what) {
        if (name.empty()) return faults_.add(what + " has no name");
        if (scope.outer != nullptr && scope.outer->has(name))
            faults_.add(
                fmt::format("{} {} has the name of a value of the graph around it", what, files::printable(name)));
        else if (!scope.defined.insert(name).second)
            faults_.add(fmt::format("{} {} has the name of another value", what, files::printable(name)));
    }

    /// Files of IR version 3 list initializers as inputs, too.
    void define_initializer(const std::string& name, Names& initializers, Scope& scope, const std::string& where) {
        if (!initializers.insert(name).second)
            return faults_.add(where + "two initializers are called " + files::printable(name));
        if (!scope.defined.contains(name)) define(name, scope, where + "an initializer");
    }

    void resolve_nodes(std::vector<NodeProto>& nodes, Scope& scope, const std::string& where) {
        for (std::size_t n = 0; n < nodes.size(); ++n)
            for (const std::string& output : nodes[n].outputs)
                if (!output.empty()) define(output, scope, where + describe(nodes[n], n) + ": output");
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            for (const std::string& input : nodes[n].inputs)
                if (!input.empty() && !scope.has(input))
                    faults_.add(fmt::format("{}{} reads {}, which nothing defines", where, describe(nodes[n], n),
                                            files::printable(input)));
            for (AttributeProto& attribute : nodes[n].attributes)
                for (GraphProto& graph : attribute.graphs)
                    resolve(graph, &scope,
                            fmt::format("{}{}, {}: ", where, describe(nodes[n], n), files::printable(attribute.name)));
        }
    }

    /// A topological order: each node after those that compute what it reads, otherwise as in the file. Moves the
    /// nodes, and with them the names that a scope refers to.
    void put_in_order(std::vector<NodeProto>& nodes, const std::string& where) {
        std::unordered_map<std::string_view, std::size_t> producers;
        for (std::size_t n = 0; n < nodes.size(); ++n)
            for (const std::string& output : nodes[n].outputs) producers.emplace(output, n);
        std::vector<std::vector<std::size_t>> reads(nodes.size());
        bool is_ordered = true;
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            Names names;
            add_read_names(nodes[n], names);
            for (const std::string_view name : names)
                if (const auto it = producers.find(name); it != producers.end()) {
                    reads[n].push_back(it->second);
                    is_ordered = is_ordered && it->second < n;
                }
        }
        if (is_ordered) return;
        std::vector<std::size_t> order;
        enum class State : std::uint8_t { unseen, open, done };
        std::vector<State> states(nodes.size(), State::unseen);
        std::vector<std::pair<std::size_t, std::size_t>> path;  // nodes being visited, and the next one that each reads
        for (std::size_t first = 0; first < nodes.size(); ++first) {
            if (states[first] != State::unseen) continue;
            path.emplace_back(first, 0);
            states[first] = State::open;
            while (!path.empty()) {
                auto& [node, next] = path.back();
                if (next == reads[node].size()) {
                    states[node] = State::done;
                    order.push_back(node);
                    path.pop_back();
                    continue;
                }
                const std::size_t read = reads[node][next++];
                if (states[read] == State::open)
                    return faults_.add(fmt::format("{}{} is in a cycle of nodes", where, describe(nodes[read], read)));
                if (states[read] == State::unseen) {
                    states[read] = State::open;
                    path.emplace_back(read, 0);
                }
            }
        }
        std::vector<NodeProto> ordered;
        ordered.reserve(nodes.size());
        for (const std::size_t node : order) ordered.push_back(std::move(nodes[node]));
        nodes = std::move(ordered);
    }

    files::FaultList& faults_;
};

}  // namespace

void resolve_names(ModelProto& model, std::string_view file) {
    files::FaultList faults;
    NameResolver resolver(faults);
    resolver.resolve(model.graph, nullptr, "");
    for (FunctionProto& function : model.functions) resolver.resolve(function);
    faults.throw_if_any("onnx", file);
}

}  // namespace cairn::inline v0::onnx
