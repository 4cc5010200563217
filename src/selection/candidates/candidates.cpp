#include "selection/candidates/candidates.hpp"

#include "graph/ir/op_table.hpp"
#include "graph/types/dense_strides.hpp"
#include "graph/types/device_code.hpp"
#include "graph/types/knobs.hpp"
#include "selection/candidates/bound_value_digest.hpp"
#include "selection/candidates/result_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cairn::selection {
namespace {

using ir::NodeId;

/// The device that a copy_to is pinned to by the user; the CPU if that device is not in use.
std::optional<Device> pinned_to(const fusion::Match& match, const std::vector<Device>& devices) {
    if (match.definition != ir::info(ir::Op::copy_to).name) return std::nullopt;
    const Device device = *types::device_of_code(match.attributes.integer("device"));
    return std::find(devices.begin(), devices.end(), device) == devices.end() ? Device::cpu : device;
}

Device device_in(const PortDevices::ByName& devices, std::string_view name) {
    const auto found = devices.find(name);
    return found == devices.end() ? Device::cpu : found->second;
}

/// True if `a` dominates `b` at every tolerance, or equals it.
bool dominates(const Estimate& a, const Estimate& b) { return a.seconds <= b.seconds && a.error <= b.error; }

/// True if the kernel, at any setting, was already found with these operands.
bool has(const std::vector<Candidate>& found, const Kernel& kernel, const KernelOperands& operands) {
    return std::any_of(found.begin(), found.end(), [&](const Candidate& other) {
        return (other.kernel == &kernel || without_setting(other.kernel->id) == kernel.id) &&
               other.operands == operands;
    });
}

/// Replaces the first candidate that `fresh` beats and erases the others that it beats; appends if it beats none.
template <typename IsDominated>
void replace_dominated(std::vector<Candidate>& found, Candidate fresh, const IsDominated& is_dominated) {
    const auto dominated = std::find_if(found.begin(), found.end(), is_dominated);
    if (dominated == found.end()) {
        found.push_back(std::move(fresh));
        return;
    }
    found.erase(std::remove_if(dominated + 1, found.end(), is_dominated), found.end());
    *dominated = std::move(fresh);
}

std::vector<bool> bound_by(const std::vector<std::string>& digests) {
    std::vector<bool> bound;
    for (const std::string& bound_digest : digests) bound.push_back(!bound_digest.empty());
    return bound;
}

}  // namespace

Candidates::Candidates(const ir::GraphData& graph, const alternatives::EClasses& classes, const KernelSet& kernels,
                       FeatureSet features, const CostModel& costs, bool use_packed, const std::stop_token& stop)
    : graph_(&graph),
      classes_(classes),
      kernels_(&kernels),
      use_packed_(use_packed),
      query_cache_(kernels, features, costs, *graph.symbols()),
      views_(views_of(graph)),
      bound_digests_(bound_value_digests(graph, stop)),
      bound_(bound_by(bound_digests_)),
      signatures_(graph, classes_, views_, bound_, layouts_, query_cache_.desc_interner()),
      candidate_cache_(graph, classes_, signatures_),
      dense_descs_(graph.nodes().size(), nullptr) {}

Goal Candidates::storage_goal(NodeId node, Device device) const {
    const NodeId value = classes_.value_of(node);
    const bool in_state = is_state_version(graph_->node(value));
    return {value, {in_state, {}, in_state ? devices_.of_states : device}};
}

Goal Candidates::output_goal(const Candidate& candidate, std::size_t output) const {
    Goal goal = storage_goal(candidate.outputs[output], candidate.device);
    if (!candidate.output_layouts.empty()) goal.place.layout = candidate.output_layouts[output];
    return goal;
}

bool Candidates::is_output_goal(const Goal& goal, const Candidate& candidate) const {
    for (std::size_t i = 0; i < candidate.outputs.size(); ++i)
        if (output_goal(candidate, i) == goal) return true;
    return false;
}

bool Candidates::can_be_viewed(NodeId node, Device device) const {
    return device == devices_.of_states || !is_state_version(graph_->node(views_[node].base));
}

bool Candidates::is_available(NodeId node, Device device) const {
    const ir::Node& base = graph_->node(views_[node].base);
    if (!ir::is_given(base)) return false;
    if (is_state_version(base)) return true;
    return device == (base.op == ir::Op::input ? device_of_input(views_[node].base) : Device::cpu);
}

Device Candidates::device_of_input(NodeId input) const {
    return device_in(devices_.of_ports.inputs, graph_->node(input).name);
}

Device Candidates::device_of_output(const ir::Output& output) const {
    return device_in(devices_.of_ports.outputs, output.name);
}

bool Candidates::is_transfer_source(NodeId node, Device device) const {
    return is_available(node, device) || (is_bound_on_cpu(node) && device == Device::cpu);
}

bool Candidates::is_bound_on_cpu(NodeId node) const { return bound_[node] && graph_->node(node).op != ir::Op::copy_to; }

bool Candidates::can_prepare(const Candidate& candidate) {
    const bool can = candidate.kernel->prepare == nullptr ||
                     query_cache_.can_prepare(query_cache_.query(candidate.problem.kept().ref()), *candidate.kernel);
    if (!can) candidate_cache_.forget();
    return can;
}

std::optional<Candidates::OperandQuery> Candidates::make_query(const fusion::Match& match, KernelOperands operands) {
    KernelQuery* const query = query_of(match, operands);
    return query == nullptr ? std::nullopt : std::optional(OperandQuery{query, std::move(operands)});
}

NodeId Candidates::memory_of(NodeId output) const {
    const ValueView& view = views_[output];
    if (view.base == output) return classes_.value_of(output);
    const Shape &shape = graph_->node(output).shape, &base = graph_->node(view.base).shape;
    const bool same = view.offset == Dim(0) && types::are_dense_strides(shape, view.strides) &&
                      element_count(shape) == element_count(base);
    return classes_.value_of(same ? view.base : output);
}

bool Candidates::is_reshaped(NodeId node) const {
    return memory_of(node) != classes_.value_of(node) && !is_state_version(graph_->node(views_[node].base));
}

/// Tries a kernel with plain outputs, and with outputs in the layouts that it writes.
bool Candidates::try_outputs(const Kernel& row, const fusion::Match& match, int index, const OperandQuery& asked,
                             bool cheapest, std::vector<Candidate>& found) {
    bool accepted = try_kernel(row, match, index, asked, cheapest, found);
    const LayoutNames layouts = written_layouts(row, match, *asked.query);
    if (layouts.empty()) return accepted;
    KernelQuery* const query = query_of(match, asked.operands, layouts);
    if (query == nullptr) return accepted;
    queries_.push_back(query);
    accepted = try_kernel(row, match, index, {query, asked.operands}, cheapest, found, layouts) || accepted;
    KernelQueryCache::release_memory(*query);
    return accepted;
}

bool Candidates::try_kernel(const Kernel& row, const fusion::Match& match, int index, const OperandQuery& asked,
                            bool cheapest, std::vector<Candidate>& found, const LayoutNames& layouts) {
    const Kernel& kernel = query_cache_.best_setting(*asked.query, row);
    const QueryResult& query_result = query_cache_.query_result(*asked.query, kernel);
    if (!query_result.refusal.empty()) return false;
    const auto first = asked.operands.begin() + (changes_state(match) ? 1 : 0);
    // Among candidates with equal operand forms and layouts of outputs, keep those that no other dominates in time and
    // error.
    const auto competes = [&](const Candidate& other) {
        return cheapest && other.device == memory_for(kernel.device) && other.output_layouts == layouts &&
               std::equal(other.operands.begin(), other.operands.end(), first, asked.operands.end());
    };
    if (std::any_of(found.begin(), found.end(), [&](const Candidate& other) {
            return competes(other) && dominates(other.estimate, query_result.estimate);
        }))
        return true;
    replace_dominated(
        found,
        {index,
         &kernel,
         asked.query->problem(),
         {first, asked.operands.end()},
         match.outputs,
         query_result.estimate,
         memory_for(kernel.device),
         0,
         layouts},
        [&](const Candidate& other) { return competes(other) && dominates(query_result.estimate, other.estimate); });
    return true;
}

/// Queries each kernel with its packed operands, with those that it widens itself, and with `strided`, each also with
/// operands in computed layouts; if it refuses `strided`, with `dense`.
void Candidates::add_operand_forms(Device device, const fusion::Match& match, int index, const KernelOperands& strided,
                                   const std::optional<KernelOperands>& dense, bool cheapest,
                                   std::vector<Candidate>& found) {
    const bool is_viewable = std::all_of(strided.begin(), strided.end(), [&](const KernelOperand& operand) {
        return can_be_viewed(operand.node, operand.device);
    });
    const std::optional<OperandQuery> as_strided = make_query(match, strided);
    if (!as_strided) return;
    std::optional<OperandQuery> as_dense;
    std::vector<KernelQuery*> asked;
    const auto try_with = [&](const Kernel& kernel, const KernelOperands& operands) {
        const std::optional<OperandQuery> as = make_query(match, operands);
        if (!as) return;
        asked.push_back(as->query);
        try_outputs(kernel, match, index, *as, cheapest, found);
    };
    const auto try_layouts = [&](const Kernel& kernel, const KernelOperands& operands) {
        if (kernel.layout_inputs.empty() || layouts_.empty()) return;
        for (const KernelOperands& in_layouts : in_computed_layouts(kernel, operands))
            if (!has(found, kernel, in_layouts)) try_with(kernel, in_layouts);
    };
    for (const Kernel* row :
         query_cache_.kernels_of(std::string(as_strided->query->problem().kept().ref().definition))) {
        const Kernel& kernel = *row;
        if (kernel.device != device) continue;
        const auto try_in_layouts = [&](const KernelOperands& operands) {
            try_with(kernel, operands);
            try_layouts(kernel, operands);
        };
        if (is_viewable)
            for (const KernelOperands& panels : as_packed(kernel, strided)) try_in_layouts(panels);
        const auto try_narrow = [&](std::optional<DType> rounded) {
            const std::optional<KernelOperands> narrow = as_stored(kernel, match, strided, rounded);
            if (!narrow) return;
            const bool is_packed = !kernel.packed_inputs.empty();
            for (const KernelOperands& form : is_packed ? as_packed(kernel, *narrow) : std::vector{*narrow})
                if (!has(found, kernel, form)) try_in_layouts(form);
        };
        try_narrow(std::nullopt);
        for (const DType dtype : rounded_dtypes(kernel, match)) try_narrow(dtype);
        if (is_viewable) try_layouts(kernel, strided);
        if ((is_viewable && try_outputs(kernel, match, index, *as_strided, cheapest, found)) || !dense) continue;
        if (!as_dense) as_dense = make_query(match, *dense);
        if (as_dense) try_outputs(kernel, match, index, *as_dense, cheapest, found);
    }
    asked.insert(asked.begin(), as_strided->query);
    if (as_dense) asked.push_back(as_dense->query);
    for (KernelQuery* query : asked) {
        KernelQueryCache::release_memory(*query);
        queries_.push_back(query);
    }
}

/// Records the queries of the current match, each once.
void Candidates::note_queries(int match) {
    if (queries_by_match_.size() <= static_cast<std::size_t>(match))
        queries_by_match_.resize(static_cast<std::size_t>(match) + 1);
    auto& asked = queries_by_match_[static_cast<std::size_t>(match)];
    for (KernelQuery* query : queries_)
        if (std::find(asked.begin(), asked.end(), query) == asked.end()) asked.push_back(query);
}

std::span<KernelQuery* const> Candidates::queries_for(int match) const {
    if (queries_by_match_.size() <= static_cast<std::size_t>(match)) return {};
    const auto& asked = queries_by_match_[static_cast<std::size_t>(match)];
    return {asked.data(), asked.size()};
}

void Candidates::add_on_device(Device device, const fusion::Match& match, int index, bool cheapest,
                               std::vector<Candidate>& found) {
    const std::vector<KernelOperands> operand_choices = strided_alternatives(match, memory_for(device));
    // A value's dense copy is the same for all of its expressions.
    std::optional<KernelOperands> dense = with_copies(operand_choices.front());
    for (const KernelOperands& strided : operand_choices)
        add_operand_forms(device, match, index, strided, std::exchange(dense, std::nullopt), cheapest, found);
}

/// False for a bound value, which is computed once and not in each run, and for one that is already dense in place.
bool Candidates::is_worth_moving(const fusion::Match& match, std::size_t output) const {
    const NodeId id = match.outputs[output];
    const ir::Node& node = graph_->node(id);
    if (bound_[match.moved[output][0]]) return false;
    if (ir::is(node, ir::OpClass::effect)) return !may_read_overwritten_state(*graph_, classes_, views_, match);
    return views_[id].base == id || !types::are_dense_strides(node.shape, views_[id].strides);
}

std::vector<Candidate> Candidates::of_match(const fusion::Match& match, int index, bool cheapest) {
    std::vector<Candidate> found;
    if (const std::optional<Device> to = pinned_to(match, devices_.all)) {
        for (const Device from : devices_.all)
            for (Candidate& copy : of_copy(match.inputs[0], from, *to)) found.push_back(std::move(copy));
        for (Candidate& candidate : found) candidate.match = index, candidate.outputs = match.outputs;
        return found;
    }
    const bool is_moved = !match.moved.empty();
    for (std::size_t i = 0; i < match.moved.size(); ++i)
        if (match.is_moved(i) && !is_worth_moving(match, i)) return found;
    if (const CandidateCache::CachedCandidates* known = is_moved ? nullptr : candidate_cache_.find(match, cheapest))
        return rounded(from_cache(*known, match, index), match);
    queries_.clear();
    const auto may_run = [&](Device device) {
        if (bound_[match.outputs[0]]) return device == Device::cpu;
        const auto is_version = [&](NodeId output) { return ir::is(graph_->node(output), ir::OpClass::effect); };
        return memory_for(device) == devices_.of_states ||
               std::none_of(match.outputs.begin(), match.outputs.end(), is_version);
    };
    for (const Device device : devices_.all)
        if (may_run(device)) add_on_device(device, match, index, cheapest, found);
    for (Candidate& candidate : found)
        for (NodeId& output : candidate.outputs) output = memory_of(output);
    note_queries(index);
    if (!is_moved) candidate_cache_.add(match, cheapest, found, queries_);
    return rounded(std::move(found), match);
}

/// Gives the candidates the error of the match's roundings; drops all if it alone exceeds the tolerance.
std::vector<Candidate> Candidates::rounded(std::vector<Candidate> found, const fusion::Match& match) const {
    const double rounding = rounding_in(match);
    if (rounding > query_cache_.tolerance()) found.clear();
    for (Candidate& candidate : found) candidate.rounding = rounding;
    return found;
}

/// Cached candidates of an equal match, rewritten to the nodes of this match.
std::vector<Candidate> Candidates::from_cache(const CandidateCache::CachedCandidates& known, const fusion::Match& match,
                                              int index) {
    queries_ = known.asked;
    note_queries(index);
    std::vector<Candidate> found = known.found;
    auto reading = known.readings.begin();
    for (Candidate& candidate : found) {
        candidate.match = index;
        const NodeId* input = match.inputs.end() - candidate.operands.size();
        for (KernelOperand& operand : candidate.operands) {
            const NodeId node = candidate_cache_.node_of(*input++, *reading++);
            if (operand.form == OperandForm::packed)
                operand.node = node;
            else
                operand = operand_of(node, operand.form, operand.device);
        }
        candidate.outputs = match.outputs;
        for (NodeId& output : candidate.outputs) output = memory_of(output);
    }
    return found;
}

std::vector<Candidate> Candidates::of_copy(NodeId node, Device from, Device to) {
    std::vector<Candidate> found;
    if (!can_be_viewed(node, from)) return found;
    fusion::Match match;
    match.definition = "copy";
    match.inputs = {node};
    match.outputs = {classes_.value_of(node)};
    if (from != to) {
        match.definition = ir::info(ir::Op::copy_to).name;
        match.attributes = {{"device", std::vector<Dim>{Dim(types::device_code(to))}}};
    }
    const auto try_operand = [&](KernelOperand operand) {
        if (from != to) operand.transferred = false;  // the copied value is copied from where it was computed
        const OperandQuery asked = *make_query(match, {operand});
        for (const Kernel* kernel : query_cache_.kernels_of(match.definition))
            if (memory_for(kernel->device) == (to == Device::cpu ? from : to))
                try_kernel(*kernel, match, -1, asked, false, found);
        KernelQueryCache::release_memory(*asked.query);
    };
    try_operand(operand_of(node, OperandForm::strided, from));
    // Copies over a link may need dense memory.
    if (found.empty() && from != to && is_view(node))
        try_operand(operand_of(classes_.value_of(node), OperandForm::dense, from));
    for (Candidate& candidate : found) candidate.device = to;
    return found;
}

std::vector<Candidate> Candidates::of_layout_copy(NodeId value, std::string_view name, Device device) {
    fusion::Match match;
    match.definition = "copy";
    match.inputs = {value};
    match.outputs = {value};
    const OperandQuery asked = *make_query(match, {{value, OperandForm::packed, name, device}});
    std::vector<Candidate> found;
    for (const Kernel* kernel : query_cache_.kernels_of(match.definition))
        if (memory_for(kernel->device) == device && !kernel->layout_inputs.empty())
            try_kernel(*kernel, match, -1, asked, false, found);
    KernelQueryCache::release_memory(*asked.query);
    return found;
}

std::vector<Candidate> Candidates::of_packing(NodeId node, std::string_view name, Device device) {
    const Layout* row = layout(name);
    if (row == nullptr) throw Error(ErrorKind::unsupported, "select", fmt::format("no layout is called {}", name));
    const ir::Node& value = graph_->node(node);
    if (value.shape.size() != 2) return {};
    TensorDesc plain = *describe({node, OperandForm::strided, {}});
    if (name == row->transposed) {
        std::swap(plain.shape[0], plain.shape[1]);
        std::swap(plain.strides[0], plain.strides[1]);
    }
    Problem problem;
    problem.definition = "pack";
    problem.inputs = {plain};
    TensorDesc packed = TensorDesc::dense(value.dtype, plain.shape);
    packed.layout = row->name;
    problem.outputs = {packed};
    KernelQuery& query = query_cache_.query(problem);
    std::vector<Candidate> found;
    for (const Kernel* row : query_cache_.kernels_of("pack")) {
        if (memory_for(row->device) != device) continue;
        const Kernel* kernel = &query_cache_.best_setting(query, *row);
        const QueryResult& query_result = query_cache_.query_result(query, *kernel);
        if (query_result.refusal.empty())
            found.push_back({-1,
                             kernel,
                             query.problem(),
                             {{node, OperandForm::strided, {}, device}},
                             {},
                             query_result.estimate,
                             device});
    }
    return found;
}

std::vector<KernelAnswer> Candidates::answers(const Problem& problem) {
    std::vector<KernelAnswer> answers;
    KernelQuery& query = query_cache_.query(problem);
    for (const Kernel* kernel : query_cache_.kernels_of(problem.definition)) {
        const QueryResult& query_result = query_cache_.query_result(query, *kernel);
        answers.push_back({kernel->id, query_result.refusal, query_result.estimate});
    }
    return answers;
}

}  // namespace cairn::selection
