#include "select/candidates.hpp"

#include "ir/op_table.hpp"
#include "select/moved_results.hpp"
#include "select/origins.hpp"
#include "types/dense.hpp"
#include "types/knobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cairn::inline v0::select {
namespace {

using ir::NodeId;

/// Where the user says that a copy is; on the CPU as long as that is not among the devices.
std::optional<Device> pinned_to(const fuse::Tile& tile, const std::vector<Device>& devices) {
    if (tile.definition != ir::info(ir::Op::copy_to).name) return std::nullopt;
    const auto device = static_cast<Device>(tile.attributes.integer("device"));
    return std::find(devices.begin(), devices.end(), device) == devices.end() ? Device::cpu : device;
}

/// True where `a` is the better choice whatever the tolerance, or an equal one.
bool is_as_good(const Estimate& a, const Estimate& b) { return a.seconds <= b.seconds && a.error <= b.error; }

/// True where the kernel was found, at any setting, with these operands already.
bool has(const std::vector<Candidate>& found, const Kernel& kernel, const Sources& sources) {
    return std::any_of(found.begin(), found.end(), [&](const Candidate& other) {
        return (other.kernel == &kernel || kernel_of(other.kernel->id) == kernel.id) && other.sources == sources;
    });
}

/// Puts a candidate in the place of the first that it beats, or behind the others; the rest of those it beats go.
template <typename IsBeaten>
void put_in_place(std::vector<Candidate>& found, Candidate fresh, const IsBeaten& is_beaten) {
    const auto place = std::find_if(found.begin(), found.end(), is_beaten);
    if (place == found.end()) {
        found.push_back(std::move(fresh));
        return;
    }
    found.erase(std::remove_if(place + 1, found.end(), is_beaten), found.end());
    *place = std::move(fresh);
}

std::vector<bool> bound_by(const std::vector<std::string>& origins) {
    std::vector<bool> bound;
    for (const std::string& origin : origins) bound.push_back(!origin.empty());
    return bound;
}

}  // namespace

Candidates::Candidates(const ir::GraphData& graph, const expand::Classes& classes, const KernelSet& kernels,
                       FeatureSet features, const CostSource& costs, bool use_packed, const std::stop_token& stop)
    : graph_(&graph),
      classes_(classes),
      kernels_(&kernels),
      use_packed_(use_packed),
      judge_(kernels, features, costs, *graph.symbols()),
      views_(views_of(graph)),
      origins_(origins_of(graph, stop)),
      bound_(bound_by(origins_)),
      looks_(graph, classes_, views_, bound_, judge_.descs()),
      known_tiles_(graph, classes_, looks_),
      made_(graph.nodes().size(), nullptr) {}

Goal Candidates::home(NodeId node, Device device) const {
    const NodeId value = classes_.value_of(node);
    const bool in_state = is_state_version(graph_->node(value));
    return {value, {in_state, {}, in_state ? devices_.of_states : device}};
}

bool Candidates::can_be_seen(NodeId node, Device device) const {
    return device == devices_.of_states || !is_state_version(graph_->node(views_[node].base));
}

bool Candidates::is_there(NodeId node, Device device) const {
    const ir::Node& base = graph_->node(views_[node].base);
    return ir::is_given(base) && (is_state_version(base) || device == Device::cpu);
}

bool Candidates::is_sent(NodeId node, Device device) const {
    return is_there(node, device) || (bound_[node] && device == Device::cpu);
}

const Layout* Candidates::layout(std::string_view name) const noexcept {
    for (const Layout& layout : kernels_->layouts)
        if (layout.name == name || layout.transposed == name) return &layout;
    return nullptr;
}

Goal Candidates::packed(NodeId node, std::string_view name, Device device) const {
    const ValueView& view = views_[node];
    const Layout* row = layout(name);
    const Shape& shape = graph_->node(node).shape;
    if (view.base != node && shape.size() == 2 && row != nullptr && !row->transposed.empty() && view.offset == Dim(0)) {
        const ir::Node& base = graph_->node(view.base);
        const bool transposed = base.shape.size() == 2 && base.shape[0] == shape[1] && base.shape[1] == shape[0] &&
                                view.strides[0] == Dim(1) && view.strides[1] == shape[0];
        if (transposed) return {view.base, {false, name == row->name ? row->transposed : row->name, device}};
    }
    return {node, {false, name, device}};
}

bool Candidates::can_prepare(const Candidate& candidate) {
    const bool can = candidate.kernel->prepare == nullptr ||
                     judge_.can_prepare(judge_.question(candidate.problem.kept().words()), *candidate.kernel);
    if (!can) known_tiles_.forget();
    return can;
}

std::optional<Candidates::Asked> Candidates::ask(const fuse::Tile& tile, Sources sources) {
    Question* const question = question_of(tile, sources);
    return question == nullptr ? std::nullopt : std::optional(Asked{question, std::move(sources)});
}

NodeId Candidates::memory_of(NodeId output) const {
    const ValueView& view = views_[output];
    if (view.base == output) return classes_.value_of(output);
    const Shape &shape = graph_->node(output).shape, &base = graph_->node(view.base).shape;
    const bool same =
        view.offset == Dim(0) && types::are_dense(shape, view.strides) && element_count(shape) == element_count(base);
    return classes_.value_of(same ? view.base : output);
}

bool Candidates::try_kernel(const Kernel& row, const fuse::Tile& tile, int index, const Asked& asked, bool cheapest,
                            std::vector<Candidate>& found) {
    const Kernel& kernel = judge_.best_setting(*asked.question, row);
    const Judged& judged = judge_.judged(*asked.question, kernel);
    if (!judged.refusal.empty()) return false;
    const auto first = asked.sources.begin() + (changes_state(tile) ? 1 : 0);
    // Of those with equal forms those stay that none is faster than and at least as right.
    const auto is_rival = [&](const Candidate& other) {
        return cheapest && other.device == memory_for(kernel.device) &&
               std::equal(other.sources.begin(), other.sources.end(), first, asked.sources.end());
    };
    if (std::any_of(found.begin(), found.end(), [&](const Candidate& other) {
            return is_rival(other) && is_as_good(other.estimate, judged.estimate);
        }))
        return true;
    put_in_place(
        found,
        {index,
         &kernel,
         asked.question->problem(),
         {first, asked.sources.end()},
         tile.outputs,
         judged.estimate,
         memory_for(kernel.device)},
        [&](const Candidate& other) { return is_rival(other) && is_as_good(judged.estimate, other.estimate); });
    return true;
}

/// The operands with those packed that a kernel wants so; nothing where one cannot be.
std::optional<Sources> Candidates::as_packed(const Kernel& kernel, const Sources& seen) const {
    if (!use_packed_ || kernel.packed_inputs.empty()) return std::nullopt;
    Sources packed = seen;
    for (const PackedInput& wanted : kernel.packed_inputs) {
        const auto i = static_cast<std::size_t>(wanted.input);
        if (i >= seen.size() || !bound_[seen[i].node] || graph_->node(seen[i].node).shape.size() != 2)
            return std::nullopt;
        packed[i] = {seen[i].node, Form::packed, wanted.layout, seen[i].device};
    }
    return packed;
}

/// A kernel is asked for its packed operands, for those that it widens itself and for `seen`, and where it refuses
/// these, for `dense`.
void Candidates::add_forms(Device device, const fuse::Tile& tile, int index, const Sources& seen,
                           const std::optional<Sources>& dense, bool cheapest, std::vector<Candidate>& found) {
    const bool is_seen = std::all_of(seen.begin(), seen.end(),
                                     [&](const Source& source) { return can_be_seen(source.node, source.device); });
    const std::optional<Asked> as_seen = ask(tile, seen);
    if (!as_seen) return;
    std::optional<Asked> as_dense;
    std::vector<Question*> asked;
    const auto try_with = [&](const Kernel& kernel, const Sources& sources) {
        const std::optional<Asked> as = ask(tile, sources);
        if (!as) return;
        asked.push_back(as->question);
        try_kernel(kernel, tile, index, *as, cheapest, found);
    };
    for (const Kernel* row : judge_.kernels_of(std::string(as_seen->question->problem().kept().words().definition))) {
        const Kernel& kernel = *row;
        if (kernel.device != device) continue;
        if (const std::optional<Sources> panels = as_packed(kernel, seen); panels && is_seen) try_with(kernel, *panels);
        for (const bool rounded : {false, true}) {
            std::optional<Sources> narrow = as_stored(kernel, tile, seen, rounded);
            if (narrow && !kernel.packed_inputs.empty()) narrow = as_packed(kernel, *narrow);
            if (narrow && !has(found, kernel, *narrow)) try_with(kernel, *narrow);
        }
        if ((is_seen && try_kernel(kernel, tile, index, *as_seen, cheapest, found)) || !dense) continue;
        if (!as_dense) as_dense = ask(tile, *dense);
        if (as_dense) try_kernel(kernel, tile, index, *as_dense, cheapest, found);
    }
    asked.insert(asked.begin(), as_seen->question);
    if (as_dense) asked.push_back(as_dense->question);
    for (Question* question : asked) {
        Judge::put_away(*question);
        asked_.push_back(question);
    }
}

/// What was asked for the tile at hand, each question once.
void Candidates::note_asked(int tile) {
    if (asked_for_.size() <= static_cast<std::size_t>(tile)) asked_for_.resize(static_cast<std::size_t>(tile) + 1);
    auto& asked = asked_for_[static_cast<std::size_t>(tile)];
    for (Question* question : asked_)
        if (std::find(asked.begin(), asked.end(), question) == asked.end()) asked.push_back(question);
}

std::span<Question* const> Candidates::asked_for(int tile) const {
    if (asked_for_.size() <= static_cast<std::size_t>(tile)) return {};
    const auto& asked = asked_for_[static_cast<std::size_t>(tile)];
    return {asked.data(), asked.size()};
}

void Candidates::add_on(Device device, const fuse::Tile& tile, int index, bool cheapest,
                        std::vector<Candidate>& found) {
    const std::vector<Sources> ways = seen_ways(tile, memory_for(device));
    // The copy of a value is the same whichever of its spellings it is made of.
    std::optional<Sources> dense = with_copies(ways.front());
    for (const Sources& seen : ways)
        add_forms(device, tile, index, seen, std::exchange(dense, std::nullopt), cheapest, found);
}

/// What is bound is made once, not in each run; and what lies densely where it is seen needs no other place.
bool Candidates::is_worth_moving(const fuse::Tile& tile, std::size_t output) const {
    const NodeId id = tile.outputs[output];
    const ir::Node& node = graph_->node(id);
    if (bound_[tile.moved[output][0]]) return false;
    if (ir::is(node, ir::OpClass::effect)) return !may_read_late(*graph_, classes_, views_, tile);
    return views_[id].base == id || !types::are_dense(node.shape, views_[id].strides);
}

std::vector<Candidate> Candidates::of_tile(const fuse::Tile& tile, int index, bool cheapest) {
    std::vector<Candidate> found;
    if (const std::optional<Device> to = pinned_to(tile, devices_.all)) {
        for (const Device from : devices_.all)
            for (Candidate& copy : of_copy(tile.inputs[0], from, *to)) found.push_back(std::move(copy));
        for (Candidate& candidate : found) candidate.tile = index, candidate.outputs = tile.outputs;
        return found;
    }
    const bool is_moved = !tile.moved.empty();
    for (std::size_t i = 0; i < tile.moved.size(); ++i)
        if (tile.is_moved(i) && !is_worth_moving(tile, i)) return found;
    if (const KnownTiles::Known* known = is_moved ? nullptr : known_tiles_.find(tile, cheapest))
        return rounded(of_known(*known, tile, index), tile);
    asked_.clear();
    const auto may_run = [&](Device device) {
        if (bound_[tile.outputs[0]]) return device == Device::cpu;
        const auto is_version = [&](NodeId output) { return ir::is(graph_->node(output), ir::OpClass::effect); };
        return memory_for(device) == devices_.of_states ||
               std::none_of(tile.outputs.begin(), tile.outputs.end(), is_version);
    };
    for (const Device device : devices_.all)
        if (may_run(device)) add_on(device, tile, index, cheapest, found);
    for (Candidate& candidate : found)
        for (NodeId& output : candidate.outputs) output = memory_of(output);
    note_asked(index);
    if (!is_moved) known_tiles_.add(tile, cheapest, found, asked_);
    return rounded(std::move(found), tile);
}

/// With what the tile rounds among their errors.
std::vector<Candidate> Candidates::rounded(std::vector<Candidate> found, const fuse::Tile& tile) const {
    const double rounding = rounding_in(tile);
    if (rounding > judge_.tolerance()) found.clear();
    for (Candidate& candidate : found) candidate.rounding = rounding, candidate.estimate.error += rounding;
    return found;
}

/// What was found for a tile that looks like this one, of the nodes of this.
std::vector<Candidate> Candidates::of_known(const KnownTiles::Known& known, const fuse::Tile& tile, int index) {
    asked_ = known.asked;
    note_asked(index);
    std::vector<Candidate> found = known.found;
    auto reading = known.readings.begin();
    for (Candidate& candidate : found) {
        candidate.tile = index;
        const NodeId* input = tile.inputs.end() - candidate.sources.size();
        for (Source& source : candidate.sources) {
            const NodeId node = known_tiles_.node_of(*input++, *reading++);
            if (source.form == Form::packed)
                source.node = node;
            else
                source = source_of(node, source.form, source.device);
        }
        candidate.outputs = tile.outputs;
        for (NodeId& output : candidate.outputs) output = memory_of(output);
    }
    return found;
}

std::vector<Candidate> Candidates::of_copy(NodeId node, Device from, Device to) {
    std::vector<Candidate> found;
    if (!can_be_seen(node, from)) return found;
    fuse::Tile tile;
    tile.definition = "copy";
    tile.inputs = {node};
    tile.outputs = {classes_.value_of(node)};
    Source source = source_of(node, Form::seen, from);
    if (from != to) {
        tile.definition = ir::info(ir::Op::copy_to).name;
        tile.attributes = {{"device", std::vector<Dim>{Dim(static_cast<int>(to))}}};
        source.brought = false;  // what was copied there is copied from where it was made
    }
    const Asked asked = *ask(tile, {source});
    for (const Kernel* kernel : judge_.kernels_of(tile.definition))
        if (memory_for(kernel->device) == (to == Device::cpu ? from : to))
            try_kernel(*kernel, tile, -1, asked, false, found);
    for (Candidate& candidate : found) candidate.device = to;
    Judge::put_away(*asked.question);
    return found;
}

std::vector<Candidate> Candidates::of_packing(NodeId node, std::string_view name, Device device) {
    const Layout* row = layout(name);
    if (row == nullptr) throw Error(ErrorKind::unsupported, "select", fmt::format("no layout is called {}", name));
    const ir::Node& value = graph_->node(node);
    TensorDesc plain = *describe({node, Form::seen, {}});
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
    Question& question = judge_.question(problem);
    std::vector<Candidate> found;
    for (const Kernel* row : judge_.kernels_of("pack")) {
        if (memory_for(row->device) != device) continue;
        const Kernel* kernel = &judge_.best_setting(question, *row);
        const Judged& judged = judge_.judged(question, *kernel);
        if (judged.refusal.empty())
            found.push_back(
                {-1, kernel, question.problem(), {{node, Form::seen, {}, device}}, {}, judged.estimate, device});
    }
    return found;
}

std::vector<KernelAnswer> Candidates::answers(const Problem& problem) {
    std::vector<KernelAnswer> answers;
    Question& question = judge_.question(problem);
    for (const Kernel* kernel : judge_.kernels_of(problem.definition)) {
        const Judged& judged = judge_.judged(question, *kernel);
        answers.push_back({kernel->id, judged.refusal, judged.estimate});
    }
    return answers;
}

}  // namespace cairn::inline v0::select
