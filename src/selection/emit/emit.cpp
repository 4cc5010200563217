#include "selection/emit/emit.hpp"

#include "graph/ir/op_table.hpp"
#include "graph/types/half.hpp"
#include "graph/types/layouts.hpp"
#include "graph/types/workspace_bytes.hpp"
#include "selection/emit/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace cairn::selection {
namespace {

using ir::NodeId;
using ir::Op;
using program::Buffer;
using program::BufferKind;
using program::Instruction;
using program::View;

template <typename T>
void store(std::vector<std::byte>& bytes, std::size_t i, T value) {
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
}

class Emitter {
public:
    Emitter(const ir::GraphData& graph, const Selection& selection, Candidates& candidates, int threads,
            const std::stop_token& stop, std::span<const fusion::Match> matches)
        : graph_(graph), selection_(selection), candidates_(candidates), stop_(stop), matches_(matches) {
        program_.name = graph.name();
        program_.threads = threads;
        program_.symbols = graph.symbols();
        for (const Choice& choice : selection.chosen)
            if (choice.goal.transferred) transferred_.insert(choice.goal);
    }

    program::Program emit() {
        add_states();
        for (NodeId id = 0; id < graph_.nodes().size(); ++id)
            if (graph_.node(id).op == Op::input) add_input(id);
        Dependences dependences = dependences_of(graph_, selection_.chosen, candidates_, stop_);
        for (const LateRead& read : dependences.late_reads) late_reads_[read.writer].push_back(read);
        for (const int i : schedule(dependences)) {
            check_stop();
            add_choice(i);
        }
        for (const ir::Output& output : graph_.outputs()) add_output(output);
        order_bind_section();
        return std::move(program_);
    }

private:
    void check_stop() const {
        if (stop_.stop_requested()) throw Cancelled("emit");
    }

    int add_buffer(Buffer buffer) {
        program_.buffers.push_back(std::move(buffer));
        return static_cast<int>(program_.buffers.size()) - 1;
    }

    static Dim plain_bytes(const TensorDesc& desc) { return element_count(desc.shape) * Dim(size_of(desc.dtype)); }

    void add_input(NodeId id) {
        const ir::Node& node = graph_.node(id);
        const TensorDesc desc = TensorDesc::dense(node.dtype, node.shape);
        const Device device = candidates_.device_of_input(id);
        const int buffer = add_buffer({BufferKind::input, node.name, desc, plain_bytes(desc), {}, -1, device});
        buffers_[candidates_.storage_goal(id, device)] = buffer;
        program_.inputs.push_back({node.name, {buffer, 0}, desc});
    }

    /// The bytes of a node's values; empty if it has none.
    static std::vector<std::byte> contents_of(const ir::Node& node) {
        if (node.values == nullptr) return {};
        const std::int64_t count = element_count(node.shape).constant();
        return node.exact_integers ? encode(*node.exact_integers, count) : encode(node.dtype, *node.values, count);
    }

    void add_states() {
        for (const ir::StateInfo& state : graph_.states()) {
            const TensorDesc desc = TensorDesc::dense(state.dtype, capacity_shape(state));
            const int buffer = add_buffer({BufferKind::state, state.name, desc, plain_bytes(desc),
                                           contents_of(graph_.node(state.read)), -1, candidates_.devices().of_states});
            states_[state.name] = buffer;
            program::StatePort port;
            port.name = state.name;
            port.buffer = buffer;
            port.axis = state.grows() ? static_cast<int>(state.growing_axis()) : -1;
            if (state.grows()) {
                port.before = state.shape[state.growing_axis()];
                port.after = graph_.node(state.latest).shape[state.growing_axis()];
            }
            port.live = TensorDesc::dense(state.public_dtype.value_or(state.dtype), state.shape);
            port.overwritten = is_overwritten(state);
            program_.states.push_back(std::move(port));
        }
    }

    /// True if a run overwrites what was live before it. Overwriting rows that the run itself appended does not count.
    bool is_overwritten(const ir::StateInfo& state) const {
        for (NodeId version = state.latest; version != state.read; version = graph_.node(version).operands[0]) {
            const ir::Node& node = graph_.node(version);
            if (node.op != Op::state_write) continue;
            const bool behind = state.grows() && provably_le(state.shape[state.growing_axis()],
                                                             node.attributes.dims("start")[state.growing_axis()]);
            if (!behind) return true;
        }
        return false;
    }

    /// The buffer of a goal, or of an available value; created on the first call.
    int buffer_of(Goal goal) {
        if (goal.transferred && !transferred_.contains(goal)) goal = produced(goal);
        if (const auto it = buffers_.find(goal); it != buffers_.end()) return it->second;
        if (goal.place.in_state) return states_.at(state_of(graph_, goal.value).name);
        const ir::Node& node = graph_.node(goal.value);
        const bool is_plain = goal.place.layout.empty() && goal.place.device == Device::cpu;
        Buffer buffer;
        buffer.device = goal.place.device;
        buffer.desc = TensorDesc::dense(node.dtype, node.shape);
        buffer.bytes = plain_bytes(buffer.desc);
        if (!goal.place.layout.empty()) {
            buffer.desc = candidates_.tensor_in_layout(goal);
            buffer.bytes = types::bytes_in_layout(*candidates_.layout(goal.place.layout), buffer.desc);
        }
        if (is_plain && node.op == Op::weight) {
            buffer.kind = BufferKind::weight;
            buffer.name = node.name;
            buffer.desc.bound = true;
        } else if (is_plain && node.op == Op::constant) {
            buffer.kind = BufferKind::constant;
            buffer.desc.bound = true;
            buffer.data = contents_of(node);
        } else if (candidates_.bound()[goal.value]) {
            buffer.kind = BufferKind::bound;
            buffer.desc.bound = true;
        }
        return buffers_[goal] = add_buffer(std::move(buffer));
    }

    View view_of(const KernelOperand& operand) {
        if (operand.form != OperandForm::strided) return {buffer_of(*goal_of(operand, candidates_)), 0};
        const ValueView& view = candidates_.views()[operand.node];
        const Goal storage_goal = candidates_.storage_goal(view.base, operand.device);
        return {buffer_of(goal_of(operand, candidates_).value_or(storage_goal)), view.offset};
    }

    View output_view(const Choice& choice, std::size_t i) {
        const NodeId id = choice.candidate.outputs[i];
        const ir::Node& node = graph_.node(id);
        if (!candidates_.is_output_goal(choice.goal, choice.candidate)) return {buffer_of(choice.goal), 0};
        if (!ir::is(node, ir::OpClass::effect)) return {buffer_of(candidates_.output_goal(choice.candidate, i)), 0};
        const ir::StateInfo& state = state_of(graph_, id);
        std::vector<Dim> start(node.shape.size(), Dim(0));
        if (node.op == Op::state_write)
            start = node.attributes.dims("start");
        else
            start[state.growing_axis()] = graph_.node(node.operands[0]).shape[state.growing_axis()];
        Dim offset = 0;
        for (std::size_t axis = 0; axis < start.size(); ++axis)
            offset = offset + start[axis] * candidates_.views()[id].strides[axis];
        return {states_.at(state.name), offset};
    }

    void add_choice(int i) {
        const Choice& choice = selection_.chosen[static_cast<std::size_t>(i)];
        if (const auto it = late_reads_.find(i); it != late_reads_.end())
            for (const LateRead& read : it->second) add_snapshot(read);
        const Candidate& candidate = choice.candidate;
        Instruction instruction;
        instruction.kernel = candidate.kernel->id;
        instruction.problem = candidate.problem.shared();
        instruction.seconds = candidate.estimate.time();
        instruction.error = candidate.estimate.error;
        instruction.choice = choice.number;
        if (candidate.match >= 0 && static_cast<std::size_t>(candidate.match) < matches_.size())
            instruction.names =
                user_names_of(graph_, candidates_.classes(), matches_[static_cast<std::size_t>(candidate.match)]);
        for (std::size_t s = 0; s < candidate.operands.size(); ++s) {
            const auto copied = snapshot_of_.find({i, static_cast<int>(s)});
            instruction.inputs.push_back(copied == snapshot_of_.end() ? view_of(candidate.operands[s])
                                                                      : View{copied->second, 0});
            if (copied == snapshot_of_.end()) continue;
            instruction.chosen_for = candidate.problem.shared();
            instruction.problem = with_dense_operand(instruction.problem, s,
                                                     graph_.node(candidate.operands[s].node).shape, *candidate.kernel);
        }
        if (candidate.outputs.empty()) {
            instruction.outputs = {{buffer_of(choice.goal), 0}};
        } else {
            for (std::size_t o = 0; o < candidate.outputs.size(); ++o)
                instruction.outputs.push_back(output_view(choice, o));
        }
        add_instruction(std::move(instruction), *candidate.kernel, candidates_.bound()[choice.goal.value]);
    }

    void add_instruction(Instruction instruction, const Kernel& kernel, bool bound) {
        const Dim bytes = types::workspace_bytes(kernel, *instruction.problem, program_.threads);
        if (!(bytes == Dim(0)))
            instruction.workspace = add_buffer(
                {BufferKind::workspace, "", TensorDesc::dense(DType::u8, {bytes}), bytes, {}, -1, kernel.device});
        (bound ? program_.bind : program_.run).push_back(std::move(instruction));
    }

    /// Copies the contents of a state for a late read. Readers of one value share the copy.
    void add_snapshot(const LateRead& read) {
        const NodeId node = selection_.chosen[static_cast<std::size_t>(read.reader)]
                                .candidate.operands[static_cast<std::size_t>(read.operand)]
                                .node;
        const auto [it, fresh] = copies_.try_emplace(node, -1);
        if (fresh) it->second = copy_of(node);
        snapshot_of_[{read.reader, read.operand}] = it->second;
    }

    int copy_of(NodeId node) {
        const Device device = candidates_.devices().of_states;
        const std::vector<Candidate> copies = candidates_.of_copy(node, device, device);
        if (copies.empty())
            throw Error(ErrorKind::unsupported, "emit",
                        "no kernel can copy the old contents of state " +
                            state_of(graph_, candidates_.views()[node].base).name);
        const Candidate& cheapest = *std::min_element(
            copies.begin(), copies.end(),
            [](const Candidate& a, const Candidate& b) { return a.estimate.seconds < b.estimate.seconds; });
        Instruction copy;
        copy.kernel = cheapest.kernel->id;
        copy.problem = cheapest.problem.shared();
        copy.seconds = cheapest.estimate.time();
        copy.inputs = {view_of({node, OperandForm::strided, {}, device})};
        const TensorDesc desc = TensorDesc::dense(graph_.node(node).dtype, graph_.node(node).shape);
        const int buffer = add_buffer({BufferKind::transient, "", desc, plain_bytes(desc), {}, -1, device});
        copy.outputs = {{buffer, 0}};
        add_instruction(std::move(copy), *cheapest.kernel, false);
        return buffer;
    }

    /// The problem with the strided operand of a state replaced by a dense copy of `shape`, broadcast where the operand
    /// was.
    static std::shared_ptr<const Problem> with_dense_operand(const std::shared_ptr<const Problem>& problem,
                                                             std::size_t operand, const Shape& shape,
                                                             const Kernel& kernel) {
        auto result = std::make_shared<Problem>(*problem);
        TensorDesc& desc = result->inputs[operand];
        desc.strides = broadcast_strides(shape, dense_strides(shape), desc.shape);
        if (const Refusal refusal = kernel.accepts(*result); !refusal.empty())
            throw Error(ErrorKind::unsupported, "emit", kernel.id + " refuses a copied state: " + refusal);
        return result;
    }

    void add_output(const ir::Output& output) {
        const ir::Node& node = graph_.node(output.node);
        const TensorDesc desc = TensorDesc::dense(node.dtype, node.shape);
        const View place = view_of(operand_of_output(output, graph_, candidates_));
        Buffer& buffer = program_.buffers[static_cast<std::size_t>(place.buffer)];
        if (buffer.kind == BufferKind::transient) {
            buffer.kind = BufferKind::output;
            buffer.name = output.name;
        }
        program_.outputs.push_back({output.name, place, desc});
    }

    /// Removes bound values that neither the run nor an output needs, and orders the others with their dependences
    /// right before their first user, so that sources and intermediate values can be freed early.
    void order_bind_section() {
        std::map<int, std::size_t> producer;
        for (std::size_t i = 0; i < program_.bind.size(); ++i)
            for (const View& view : program_.bind[i].outputs) producer[view.buffer] = i;
        std::vector<Instruction> ordered;
        std::set<std::size_t> done;
        // Depth-first with an explicit stack: the instruction, and the index of its next input.
        std::vector<std::pair<std::size_t, std::size_t>> open;
        const auto enter = [&](int buffer) {
            const auto it = producer.find(buffer);
            if (it != producer.end() && done.insert(it->second).second) open.emplace_back(it->second, 0);
        };
        const auto visit = [&](int buffer) {
            enter(buffer);
            while (!open.empty()) {
                check_stop();
                const Instruction& instruction = program_.bind[open.back().first];
                if (open.back().second < instruction.inputs.size()) {
                    enter(instruction.inputs[open.back().second++].buffer);
                    continue;
                }
                ordered.push_back(instruction);
                open.pop_back();
            }
        };
        for (const Instruction& instruction : program_.run)
            for (const View& view : instruction.inputs) visit(view.buffer);
        for (const program::Port& port : program_.outputs) visit(port.view.buffer);
        program_.bind = std::move(ordered);
        name_bound_values();
    }

    /// Names a bound value by a digest of its computation, so that programs of several buckets find shared values. The
    /// digest includes inexact kernels.
    void name_bound_values() {
        std::set<std::string_view> inexact;
        for (const Choice& choice : selection_.chosen)
            if (choice.candidate.estimate.error > 0) inexact.insert(choice.candidate.kernel->id);
        std::map<int, std::string> bound_digest;
        const auto digest_of = [&](int buffer) -> std::string {
            const Buffer& b = program_.buffers[static_cast<std::size_t>(buffer)];
            if (b.kind == BufferKind::weight) return "weight " + b.name;
            if (b.kind == BufferKind::constant)
                return cairn::to_string(b.desc) +
                       cairn::to_string(digest({reinterpret_cast<const char*>(b.data.data()), b.data.size()}));
            return bound_digest[buffer];
        };
        for (const Instruction& instruction : program_.bind) {
            check_stop();
            std::string text = cairn::to_string(*instruction.problem);
            if (inexact.contains(instruction.kernel)) text += " by " + instruction.kernel;
            for (const View& view : instruction.inputs)
                text += fmt::format(" ({} + {})", digest_of(view.buffer), cairn::to_string(view.offset));
            for (std::size_t o = 0; o < instruction.outputs.size(); ++o) {
                const int buffer = instruction.outputs[o].buffer;
                program_.buffers[static_cast<std::size_t>(buffer)].name = bound_digest[buffer] =
                    cairn::to_string(digest(fmt::format("{} #{}", text, o)));
            }
        }
    }

    const ir::GraphData& graph_;
    const Selection& selection_;
    Candidates& candidates_;
    const std::stop_token& stop_;
    const std::span<const fusion::Match> matches_;
    program::Program program_;
    std::map<Goal, int> buffers_;
    std::set<Goal> transferred_;  // by a copy
    std::map<std::string, int> states_;
    std::map<int, std::vector<LateRead>> late_reads_;  // by writer
    std::map<NodeId, int> copies_;                     // buffers of late reads
    std::map<std::pair<int, int>, int> snapshot_of_;   // (reader, operand) -> buffer of the copy
};

}  // namespace

std::vector<std::byte> encode(DType dtype, const std::vector<double>& values, std::int64_t count) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(count) * size_of(dtype));
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        const double value = values.size() == 1 ? values[0] : values[i];
        switch (dtype) {
            case DType::f64: store(bytes, i, value); break;
            case DType::f32: store(bytes, i, static_cast<float>(value)); break;
            case DType::f16: store(bytes, i, types::f64_to_f16(value)); break;
            case DType::bf16: store(bytes, i, types::f64_to_bf16(value)); break;
            case DType::i64: store(bytes, i, static_cast<std::int64_t>(value)); break;
            case DType::i32: store(bytes, i, static_cast<std::int32_t>(value)); break;
            case DType::i8: store(bytes, i, static_cast<std::int8_t>(value)); break;
            case DType::u8: store(bytes, i, static_cast<std::uint8_t>(value)); break;
            case DType::boolean: store(bytes, i, static_cast<std::uint8_t>(value != 0)); break;
        }
    }
    return bytes;
}

std::vector<std::byte> encode(const std::vector<std::int64_t>& values, std::int64_t count) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(count) * sizeof(std::int64_t));
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
        store(bytes, i, values.size() == 1 ? values[0] : values[i]);
    return bytes;
}

program::Program emit(const ir::GraphData& graph, const Selection& selection, Candidates& candidates, int threads,
                      const std::stop_token& stop, std::span<const fusion::Match> matches) {
    return Emitter(graph, selection, candidates, threads, stop, matches).emit();
}

std::vector<std::string> user_names_of(const ir::GraphData& graph, const alternatives::EClasses& classes,
                                       const fusion::Match& match) {
    std::vector<std::string> names;
    for (const fusion::Nodes* nodes : {&match.outputs, &match.interior})
        for (const NodeId node : *nodes) {
            const std::string& label = graph.node(classes.value_of(node)).label;
            if (!label.empty() && std::find(names.begin(), names.end(), label) == names.end()) names.push_back(label);
        }
    return names;
}

}  // namespace cairn::selection
