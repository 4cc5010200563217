#include "select/candidates.hpp"

#include "ir/op_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::inline v0::select {
namespace {

using ir::NodeId;

/// True for the tile that makes a new version of a state (not for one that copies a version).
bool changes_state(const fuse::Tile& tile, const ir::GraphData& graph) {
    const ir::Node& node = graph.node(tile.outputs[0]);
    return ir::is(node, ir::OpClass::effect) && tile.definition == ir::info(node.op).name;
}

bool broadcasts_inputs(const std::string& definition) {
    if (definition == "elementwise") return true;
    const auto op = ir::find_op(definition);
    return op && ir::info(*op).kind == ir::OpClass::elementwise;
}

/// The conventions of problem.hpp: broadcasting shows as stride 0.
void expand_inputs(Problem& problem) {
    const Shape& out = problem.outputs.at(0).shape;
    for (TensorDesc& input : problem.inputs) {
        if (!input.layout.empty()) continue;
        Shape target = out;
        if (problem.definition == "matmul") std::copy(input.shape.end() - 2, input.shape.end(), target.end() - 2);
        if (target == input.shape) continue;
        input.strides = broadcast_strides(input.shape, input.strides, target);
        input.shape = std::move(target);
    }
}

/// Calls one of a kernel's functions. What it throws is its refusal: a kernel's fault is none of the graph's.
template <typename F>
void ask_kernel(std::string_view function, Refusal& refusal, const F& call) {
    try {
        call();
    } catch (const std::exception& error) {
        refusal = fmt::format("its {} failed: {}", function, error.what());
    } catch (...) { refusal = fmt::format("its {} threw what is no std::exception", function); }
}

}  // namespace

Candidates::Candidates(const ir::GraphData& graph, const KernelSet& kernels, Isa isa, const CostSource& costs,
                       bool use_packed, std::set<std::string>& resident)
    : graph_(&graph),
      kernels_(&kernels),
      isa_(isa),
      costs_(costs),
      use_packed_(use_packed),
      sizes_(representative_sizes(*graph.symbols())),
      views_(views_of(graph)),
      bound_(ir::bound_nodes(graph)),
      resident_(&resident),
      origins_(graph.nodes().size()) {
    for (const Kernel& kernel : kernels.kernels) by_definition_.emplace(kernel.definition, &kernel);
    for (NodeId id = 0; id < origins_.size(); ++id) {
        const ir::Node& node = graph.node(id);
        // Repeated to a size known only in a run, a weight is no longer something to make once.
        const auto is_fixed = [](const Dim& size) { return size.is_constant(); };
        const auto is_bound = [&](NodeId operand) { return bound_[operand]; };
        bound_[id] = bound_[id] && std::all_of(node.shape.begin(), node.shape.end(), is_fixed) &&
                     std::all_of(node.operands.begin(), node.operands.end(), is_bound);
        if (!bound_[id]) continue;
        std::string text =
            fmt::format("{} {} {}", ir::info(node.op).name, node.name, cairn::to_string(node.dtype, node.shape));
        for (const Attribute& attribute : node.attributes)
            if (const auto* list = std::get_if<std::vector<Dim>>(&attribute.value))
                for (const Dim& dim : *list) text += ' ' + cairn::to_string(dim);
        if (node.values != nullptr)
            for (const double value : *node.values) text += fmt::format(" {}", value);
        if (node.wide != nullptr)
            for (const std::int64_t value : *node.wide) text += fmt::format(" {}", value);
        for (const NodeId operand : node.operands) text += ' ' + origins_[operand];
        origins_[id] = cairn::to_string(digest(text));
    }
}

bool Candidates::is_resident(const GoalKey& residence) const {
    return resident_->contains(origins_[residence.first] + residence.second);
}

void Candidates::keep(const GoalKey& residence) { resident_->insert(origins_[residence.first] + residence.second); }

const Layout* Candidates::layout(std::string_view name) const noexcept {
    for (const Layout& layout : kernels_->layouts)
        if (layout.name == name || layout.transposed == name) return &layout;
    return nullptr;
}

std::pair<NodeId, std::string> Candidates::packed_key(NodeId node, const std::string& name) const {
    const ValueView& view = views_[node];
    const Layout* row = layout(name);
    const Shape& shape = graph_->node(node).shape;
    if (view.base != node && shape.size() == 2 && row != nullptr && !row->transposed.empty() && view.offset == Dim(0)) {
        const ir::Node& base = graph_->node(view.base);
        const bool transposed = base.shape.size() == 2 && base.shape[0] == shape[1] && base.shape[1] == shape[0] &&
                                view.strides[0] == Dim(1) && view.strides[1] == shape[0];
        if (transposed) return {view.base, name == row->name ? row->transposed : row->name};
    }
    return {node, name};
}

TensorDesc Candidates::describe(const Source& source) const {
    const ir::Node& node = graph_->node(source.node);
    TensorDesc desc = TensorDesc::dense(node.dtype, node.shape);
    desc.bound = bound_[source.node];
    if (source.form == Form::seen) desc.strides = views_[source.node].strides;
    if (source.form == Form::packed) desc.layout = source.layout;
    return desc;
}

std::shared_ptr<const Problem> Candidates::problem_of(const fuse::Tile& tile,
                                                      const std::vector<Source>& sources) const {
    auto problem = std::make_shared<Problem>();
    problem->definition = tile.definition;
    problem->attributes = tile.attributes;
    problem->body = tile.body;
    problem->results = tile.results;
    for (const Source& source : sources) problem->inputs.push_back(describe(source));
    for (const NodeId output : tile.outputs) {
        const ir::Node& node = graph_->node(output);
        problem->outputs.push_back(TensorDesc::dense(node.dtype, node.shape));
    }
    if (broadcasts_inputs(tile.definition) || tile.definition == "matmul") expand_inputs(*problem);
    if (changes_state(tile, *graph_)) {
        // The new rows go where they belong in the state's memory; older ones stay where they are.
        TensorDesc rows = problem->inputs.back();
        rows.strides = views_[tile.outputs[0]].strides;
        rows.bound = false;
        problem->definition = "copy";
        problem->attributes.clear();
        problem->inputs.erase(problem->inputs.begin());
        problem->outputs = {rows};
    }
    return problem;
}

void Candidates::ask(const Kernel& kernel, const Problem& problem, Judged& judged) const {
    ask_kernel("accepts", judged.refusal, [&] { judged.refusal = kernel.accepts(problem); });
    if (!judged.refusal.empty()) return;
    ask_kernel("cost", judged.refusal, [&] { judged.estimate = estimate(kernel, at_sizes(problem, sizes_), costs_); });
    if (!judged.refusal.empty() || kernel.workspace == nullptr) return;
    Dim bytes = 0;
    ask_kernel("workspace", judged.refusal, [&] { bytes = kernel.workspace(problem, costs_.policy.threads); });
    if (!judged.refusal.empty()) return;
    if (bytes.symbols() != nullptr && bytes.symbols() != graph_->symbols())
        judged.refusal = "its workspace has symbols of another table";
    else if (!provably_le(0, bytes))
        judged.refusal = "its workspace may be negative: " + cairn::to_string(bytes);
}

bool Candidates::can_prepare(const Candidate& candidate) {
    const Kernel& kernel = *candidate.kernel;
    if (kernel.prepare == nullptr) return true;
    Judged& judged = judge(kernel, *candidate.problem, to_string(*candidate.problem));
    if (judged.prepared) return true;
    ask_kernel("prepare", judged.refusal, [&] { kernel.prepare(*candidate.problem, costs_.policy.threads); });
    return judged.prepared = judged.refusal.empty();
}

Candidates::Judged& Candidates::judge(const Kernel& kernel, const Problem& problem, const std::string& text) {
    const auto [it, fresh] = judged_.try_emplace(kernel.id + ' ' + text);
    if (!fresh) return it->second;
    if (kernel.isa > isa_)
        it->second.refusal = fmt::format("needs {}, in use is {}", to_string(kernel.isa), to_string(isa_));
    else if (kernel.device != Device::cpu)
        it->second.refusal = fmt::format("runs on {}", to_string(kernel.device));
    else
        ask(kernel, problem, it->second);
    return it->second;
}

Candidates::Question Candidates::question(const fuse::Tile& tile, std::vector<Source> sources) {
    Question question;
    question.problem = problem_of(tile, sources);
    question.text = to_string(*question.problem);
    question.problem = problems_.try_emplace(question.text, question.problem).first->second;
    question.sources = std::move(sources);
    return question;
}

bool Candidates::try_kernel(const Kernel& kernel, const fuse::Tile& tile, int index, const Question& question,
                            std::vector<Candidate>& found) {
    const Judged& judged = judge(kernel, *question.problem, question.text);
    if (!judged.refusal.empty()) return false;
    std::vector<Source> sources = question.sources;
    if (changes_state(tile, *graph_)) sources.erase(sources.begin());
    found.push_back({index, &kernel, question.problem, std::move(sources), tile.outputs, judged.estimate});
    return true;
}

std::vector<Candidate> Candidates::of_tile(const fuse::Tile& tile, int index) {
    std::vector<Candidate> found;
    std::vector<Source> seen;
    for (const NodeId input : tile.inputs) seen.push_back({input, Form::seen, {}});
    std::vector<Source> dense = seen;
    bool any = false;
    for (Source& source : dense)
        if (views_[source.node].base != source.node || is_state_version(graph_->node(source.node)))
            source.form = Form::dense, any = true;
    const Question as_seen = question(tile, seen);
    std::optional<Question> as_dense;
    const std::string definition = changes_state(tile, *graph_) ? "copy" : tile.definition;
    const auto [begin, end] = by_definition_.equal_range(definition);
    for (auto it = begin; it != end; ++it) {
        const Kernel& kernel = *it->second;
        std::vector<Source> packed = seen;
        bool packable = use_packed_ && !kernel.packed_inputs.empty();
        for (const PackedInput& wanted : kernel.packed_inputs) {
            const auto i = static_cast<std::size_t>(wanted.input);
            packable =
                packable && i < seen.size() && bound_[seen[i].node] && graph_->node(seen[i].node).shape.size() == 2;
            if (packable) packed[i] = {seen[i].node, Form::packed, wanted.layout};
        }
        if (packable) try_kernel(kernel, tile, index, question(tile, packed), found);
        if (try_kernel(kernel, tile, index, as_seen, found) || !any) continue;
        if (!as_dense) as_dense = question(tile, dense);
        try_kernel(kernel, tile, index, *as_dense, found);
    }
    return found;
}

std::vector<Candidate> Candidates::of_copy(NodeId node) {
    fuse::Tile tile;
    tile.definition = "copy";
    tile.inputs = {node};
    tile.outputs = {node};
    std::vector<Candidate> found;
    const auto [begin, end] = by_definition_.equal_range("copy");
    const Question as_seen = question(tile, {{node, Form::seen, {}}});
    for (auto it = begin; it != end; ++it) try_kernel(*it->second, tile, -1, as_seen, found);
    return found;
}

std::vector<Candidate> Candidates::of_packing(NodeId node, const std::string& name) {
    const Layout* row = layout(name);
    if (row == nullptr) throw Error(ErrorKind::unsupported, "select", fmt::format("no layout is called {}", name));
    const ir::Node& value = graph_->node(node);
    TensorDesc plain = describe({node, Form::seen, {}});
    if (name == row->transposed) {
        std::swap(plain.shape[0], plain.shape[1]);
        std::swap(plain.strides[0], plain.strides[1]);
    }
    auto problem = std::make_shared<Problem>();
    problem->definition = "pack";
    problem->inputs = {plain};
    TensorDesc packed = TensorDesc::dense(value.dtype, plain.shape);
    packed.layout = row->name;
    problem->outputs = {packed};
    std::vector<Candidate> found;
    const std::string text = to_string(*problem);
    const auto [begin, end] = by_definition_.equal_range("pack");
    for (auto it = begin; it != end; ++it) {
        const Judged& judged = judge(*it->second, *problem, text);
        if (judged.refusal.empty())
            found.push_back({-1, it->second, problem, {{node, Form::seen, {}}}, {}, judged.estimate});
    }
    return found;
}

std::vector<Verdict> Candidates::verdicts(const Problem& problem) {
    std::vector<Verdict> verdicts;
    const std::string text = to_string(problem);
    const auto [begin, end] = by_definition_.equal_range(problem.definition);
    for (auto it = begin; it != end; ++it) {
        const Judged& judged = judge(*it->second, problem, text);
        verdicts.push_back({it->second->id, judged.refusal, judged.estimate});
    }
    return verdicts;
}

}  // namespace cairn::inline v0::select
