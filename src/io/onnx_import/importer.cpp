#include "io/onnx_import/importer.hpp"

#include "io/onnx_import/function_call.hpp"
#include "io/onnx_operators/operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cairn::inline v0::onnx {
namespace {

constexpr std::int64_t oldest_opset = 7, newest_opset = 28;
constexpr std::size_t deepest = 64;
/// Nodes that loops and functions may become.
constexpr std::size_t most_graph_nodes = 4'000'000;

std::set<std::string, std::less<>> names_of_inputs(const Model& model) {
    std::set<std::string, std::less<>> names;
    for (const Port& input : model.inputs()) names.insert(input.name);
    return names;
}

/// The message of an Error without the source line, which is one of this library.
std::string reason_of(const Error& error) {
    std::string text = error.what();
    const std::size_t place = text.rfind(" (");
    if (place != std::string::npos && text.back() == ')' && text.find(".cpp:", place) != std::string::npos)
        text.resize(place);
    return text;
}

/// The name of a size that the file does not state. Some exporters write `?` or `None` for all of them.
std::string size_name(const Port& input, std::size_t axis) {
    const std::string& name = input.shape[axis].name;
    const bool is_named = !name.empty() && name != "?" && name != "None" && name != "-1";
    return is_named ? name : fmt::format("{}_{}", input.name, axis);
}

/// Sets a member for as long as this exists.
template <typename T>
class Restored {
public:
    Restored(T& member, T value) : member_(member), old_(std::exchange(member, std::move(value))) {}
    ~Restored() { member_ = std::move(old_); }
    Restored(const Restored&) = delete;
    Restored& operator=(const Restored&) = delete;

private:
    T& member_;
    T old_;
};

}  // namespace

ValuePtr Scope::find(std::string_view name) const {
    if (name.empty()) return nullptr;
    if (const auto it = values.find(name); it != values.end()) return it->second;
    return outer != nullptr ? outer->find(name) : nullptr;
}

Importer::Importer(const Model& model, const ImportOptions& options)
    : model_(model),
      proto_(model.file()->file.model()),
      options_(options),
      graph_(proto_.graph.name.empty() ? "onnx" : proto_.graph.name),
      sizes_(graph_, options),
      weights_(graph_, model.file(), names_of_inputs(model)) {}

Imported Importer::run() {
    opsets_ = &proto_.opsets;
    add_inputs();
    if (report_.empty()) sizes_.check_all_used();
    add_initializers(proto_.graph, main_);
    import_nodes(proto_.graph.nodes, main_);
    add_outputs(main_);
    if (!report_.empty()) throw ImportError(model_.name(), std::move(report_.entries()));
    return {graph_, weights_.source(), sizes_.symbol_names()};
}

void Importer::add_inputs() {
    for (const auto& [name, view] : options_.values)
        if (std::ranges::none_of(model_.inputs(), [&](const Port& input) { return input.name == name; }))
            throw Error(ErrorKind::argument, "onnx", fmt::format("the model has no input '{}'", name));
    for (const Port& input : model_.inputs()) {
        ValuePtr& value = main_.values[input.name];
        if (const auto it = options_.values.find(input.name); it != options_.values.end()) {
            value = fixed_input(input, it->second);
            continue;
        }
        value = Value::refused();
        const auto refuse = [&](std::string reason) { report_.add({{}, {}, 0, input.name, std::move(reason)}); };
        if (input.type.empty())
            refuse("the input is no tensor");
        else if (!input.dtype.has_value())
            refuse(fmt::format("the input is of {}, for which there is no dtype", input.type));
        else if (!input.has_shape)
            refuse("the input has no shape");
        else {
            Shape shape;
            for (std::size_t axis = 0; axis < input.shape.size(); ++axis) {
                const Dimension& dim = input.shape[axis];
                // Some exporters write -1 for a size that is not known.
                const bool is_stated = dim.value.has_value() && *dim.value >= 0;
                shape.push_back(is_stated ? Dim(*dim.value) : sizes_.size(size_name(input, axis)));
            }
            value = Value::of(graph_.input(input.name, *input.dtype, shape));
        }
    }
}

void Importer::add_outputs(const Scope& scope) {
    for (const Port& output : model_.outputs()) {
        const ValuePtr value = scope.find(output.name);
        if (value == nullptr || value->kind() == Value::Kind::refused) continue;
        if (value->kind() != Value::Kind::tensor) {
            report_.add({{}, {}, 0, output.name, "the output is no tensor"});
            continue;
        }
        if (!dtype_of(value->type()).has_value()) {
            report_.add({{},
                         {},
                         0,
                         output.name,
                         fmt::format("the output is of {}, for which there is no dtype", to_string(value->type()))});
            continue;
        }
        try {
            graph_.output(output.name, value->tensor(graph_));
        } catch (const Refusal& refusal) { report_.add({{}, {}, 0, output.name, refusal.what()}); }
    }
}

void Importer::add_initializers(const GraphProto& graph, Scope& scope) {
    for (const TensorProto& tensor : graph.initializers)
        scope.values.insert_or_assign(tensor.name, weights_.value(tensor, tensor.name));
    for (const std::string& name : graph.sparse_initializers) {
        report_.add({{}, {}, 0, name, "the initializer is sparse"});
        scope.values.insert_or_assign(name, Value::refused());
    }
}

void Importer::import_nodes(const std::vector<NodeProto>& nodes, Scope& scope) {
    for (std::size_t index = 0; index < nodes.size(); ++index) import_node(nodes[index], index, scope);
}

void Importer::import_node(const NodeProto& node, std::size_t index, Scope& scope) {
    const auto define = [&](const std::vector<ValuePtr>& outputs) {
        for (std::size_t i = 0; i < node.outputs.size(); ++i)
            if (!node.outputs[i].empty()) scope.values.insert_or_assign(node.outputs[i], outputs[i]);
    };
    const auto refused = std::vector<ValuePtr>(node.outputs.size(), Value::refused());
    std::vector<ValuePtr> inputs;
    for (const std::string& name : node.inputs) inputs.push_back(scope.find(name));
    if (std::ranges::any_of(
            inputs, [](const ValuePtr& value) { return value != nullptr && value->kind() == Value::Kind::refused; }))
        return define(refused);
    const Restored<Scope*> within(scope_, &scope);
    const auto refuse = [&](std::string reason) {
        const auto version = opsets_->find(node.domain);
        report_.add({node.op, node.domain, version != opsets_->end() ? version->second : 0,
                     node.name.empty() ? fmt::format("#{}", index) : node.name, std::move(reason)});
        define(refused);
    };
    try {
        std::vector<ValuePtr> outputs = outputs_of(node, inputs);
        for (std::size_t i = 0; i < outputs.size(); ++i)
            if (outputs[i] == nullptr && !node.outputs[i].empty())
                throw Refusal(fmt::format("its output {} is not supported", i));
        if (&scope == &main_) set_names(node, inputs, outputs);
        define(outputs);
    } catch (const Refusal& refusal) { refuse(refusal.what()); } catch (const InternalError&) {
        throw;
    } catch (const Error& error) { refuse(reason_of(error)); }
}

std::vector<ValuePtr> Importer::outputs_of(const NodeProto& node, std::vector<ValuePtr> inputs) {
    if (graph_.size() > most_graph_nodes)
        throw Refusal(fmt::format("loops and functions become more than {} nodes", most_graph_nodes));
    if (const FunctionProto* const function = function_of(node)) return call_function(*function, node, inputs);
    const std::int64_t opset = opset_of(node.domain);
    const Operator* const row = find_operator(node.domain, node.op, opset);
    if (row == nullptr) throw Refusal("there is no such operator here");
    Node call(node, opset, std::move(inputs), graph_, *this);
    bool all_known = call.input_count() > 0;
    for (std::size_t i = 0; i < call.input_count(); ++i) all_known = all_known && (!call.has(i) || call.known(i));
    const bool folds = row->fold != nullptr && (all_known || row->make == nullptr);
    if (!folds || !row->fold(call)) {
        if (row->make == nullptr) throw Refusal("it can only be imported if its inputs are known at import");
        row->make(call);
    }
    return std::move(call.outputs());
}

const FunctionProto* Importer::function_of(const NodeProto& node) const {
    for (const FunctionProto& function : proto_.functions)
        if (function.name == node.op && function.domain == node.domain && function.overload == node.overload)
            return &function;
    return nullptr;
}

std::int64_t Importer::opset_of(const std::string& domain) const {
    const auto version = opsets_->find(domain);
    if (version == opsets_->end()) throw Refusal("the file states no operator set for its domain");
    if (domain.empty() && (version->second < oldest_opset || version->second > newest_opset))
        throw Refusal(fmt::format("its operator set is {}; those of {} to {} are understood", version->second,
                                  oldest_opset, newest_opset));
    return version->second;
}

std::vector<ValuePtr> Importer::call_function(const FunctionProto& function, const NodeProto& node,
                                              const std::vector<ValuePtr>& inputs) {
    const Restored<std::size_t> deeper(depth_, depth_ + 1);
    if (depth_ > deepest) throw Refusal("functions call one another without end");
    Scope scope;
    for (std::size_t i = 0; i < function.inputs.size(); ++i)
        scope.values.emplace(function.inputs[i], i < inputs.size() ? inputs[i] : nullptr);
    const Restored<const OpsetVersions*> versions(opsets_, &function.opsets);
    for (std::size_t index = 0; index < function.nodes.size(); ++index)
        import_node(calls_.emplace_back(with_attributes(function.nodes[index], function, node)), index, scope);
    std::vector<ValuePtr> outputs;
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
        outputs.push_back(i < function.outputs.size() ? scope.find(function.outputs[i]) : nullptr);
    return outputs;
}

std::vector<ValuePtr> Importer::import_graph(const GraphProto& graph, const std::vector<ValuePtr>& inputs) {
    const Restored<std::size_t> deeper(depth_, depth_ + 1);
    Scope scope{scope_};
    add_initializers(graph, scope);
    if (inputs.size() > graph.inputs.size())
        throw Refusal(fmt::format("a graph of {} inputs is given {}", graph.inputs.size(), inputs.size()));
    for (std::size_t i = 0; i < inputs.size(); ++i) scope.values.insert_or_assign(graph.inputs[i].name, inputs[i]);
    import_nodes(graph.nodes, scope);
    std::vector<ValuePtr> outputs;
    for (const ValueProto& output : graph.outputs) outputs.push_back(scope.find(output.name));
    return outputs;
}

/// The results of a node get the names of its outputs, unless they are results of other nodes.
void Importer::set_names(const NodeProto& node, const std::vector<ValuePtr>& inputs,
                         const std::vector<ValuePtr>& outputs) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i] == nullptr || outputs[i]->kind() != Value::Kind::tensor || !outputs[i]->has_tensor()) continue;
        const Tensor& tensor = outputs[i]->tensor(graph_);
        const bool is_input = std::ranges::any_of(inputs, [&](const ValuePtr& input) {
            return input != nullptr && input->has_tensor() && input->tensor(graph_).id() == tensor.id();
        });
        if (is_input || !name_of(tensor).empty()) continue;
        try {
            name(tensor, node.outputs[i]);
        } catch (const Error&) {  // no name of a value: too long, or with control characters
        }
    }
}

Imported import(const Model& model, const ImportOptions& options) { return Importer(model, options).run(); }

}  // namespace cairn::inline v0::onnx
