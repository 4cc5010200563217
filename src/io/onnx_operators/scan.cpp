#include "io/onnx_operators/control_flow.hpp"
#include "io/onnx_operators/value_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::inline v0::onnx {
namespace {

/// A value that a Scan reads along an axis, one element in each step.
struct ScanInput {
    ValuePtr value;
    std::int64_t axis = 0;
    bool is_backward = false;
};

/// A value that a Scan joins of what its steps put out.
struct ScanOutput {
    std::int64_t axis = 0;
    bool is_backward = false;  ///< the last step comes first
};

/// The states after a Scan, and what it puts out; empty if its body cannot be imported.
using ScanResults = std::optional<std::vector<ValuePtr>>;

std::int64_t scan_length(Node& node, const std::vector<ScanInput>& scanned) {
    std::optional<std::int64_t> length;
    for (const ScanInput& one : scanned) {
        const Shape shape = one.value->shape();
        const Dim size = shape[static_cast<std::size_t>(node.axis(one.axis, static_cast<int>(shape.size())))];
        if (!size.is_constant())
            node.refuse(fmt::format("its length depends on the size {}; a Scan over a symbolic length is not supported",
                                    cairn::to_string(size)));
        if (length && *length != size.constant())
            node.refuse(fmt::format("it reads values of the lengths {} and {}", *length, size.constant()));
        length = size.constant();
    }
    if (!length) node.refuse("it reads no value step by step");
    if (const std::int64_t limit = node.importer().unroll_limit(); *length > limit)
        node.refuse(fmt::format("it has {} steps, more than the unroll_limit of {}", *length, limit));
    return *length;
}

ValuePtr joined_scan_steps(Node& node, const ValueProto& output, std::vector<ValuePtr> steps, const ScanOutput& how) {
    if (steps.empty()) {
        if (auto none = no_elements(output, how.axis)) return *none;
        node.refuse("it has no step, and its body does not state the shapes that a step puts out");
    }
    if (steps.front() == nullptr) node.refuse("an output of its body is missing");
    if (how.is_backward) std::ranges::reverse(steps);
    const int rank = static_cast<int>(steps.front()->shape().size()) + 1;
    return stacked(steps, node.graph(), node.axis(how.axis, rank));
}

ScanResults run_scan(Node& node, const GraphProto& body, std::vector<ValuePtr> states,
                     const std::vector<ScanInput>& scanned, const std::vector<ScanOutput>& put_out) {
    const std::int64_t length = scan_length(node, scanned);
    std::vector<std::vector<ValuePtr>> by_step(put_out.size());
    for (std::int64_t step = 0; step < length; ++step) {
        std::vector<ValuePtr> inputs = states;
        for (const ScanInput& one : scanned)
            inputs.push_back(item_of(*one.value, node.graph(),
                                     node.axis(one.axis, static_cast<int>(one.value->shape().size())),
                                     one.is_backward ? length - 1 - step : step));
        const std::vector<ValuePtr> outputs = node.importer().import_graph(body, inputs);
        if (any_refused(outputs)) return std::nullopt;
        for (std::size_t i = 0; i < states.size(); ++i) states[i] = outputs[i];
        for (std::size_t i = 0; i < by_step.size(); ++i) by_step[i].push_back(outputs[states.size() + i]);
    }
    std::vector<ValuePtr> results = states;
    for (std::size_t i = 0; i < by_step.size(); ++i)
        results.push_back(joined_scan_steps(node, body.outputs[states.size() + i], std::move(by_step[i]), put_out[i]));
    return results;
}

/// Entry `index` of an attribute that may be absent.
std::int64_t scan_entry(const Node& node, std::string_view attribute, std::size_t index) {
    const std::vector<std::int64_t> values = node.integers(attribute);
    if (values.empty()) return 0;
    if (index >= values.size()) node.refuse(fmt::format("its {} has {} entries", attribute, values.size()));
    return values[index];
}

/// What both forms of Scan have: `first` is the number of inputs before the states.
struct ScanNode {
    ScanNode(const Node& node, std::size_t first) : body(node.graph_attribute("body")) {
        const auto scans = static_cast<std::size_t>(std::max<std::int64_t>(node.integer("num_scan_inputs"), 0));
        if (scans > body.inputs.size() || body.inputs.size() + first != node.input_count())
            node.refuse(
                fmt::format("it has {} inputs where its body has {}", node.input_count() - first, body.inputs.size()));
        const std::size_t states_count = body.inputs.size() - scans;
        if (body.outputs.size() < states_count) node.refuse("its body has too few outputs");
        for (std::size_t i = 0; i < body.inputs.size(); ++i)
            (i < states_count ? states : scanned).push_back(node.value_ptr(first + i));
        put_out.resize(body.outputs.size() - states_count);
    }
    const GraphProto& body;
    std::vector<ValuePtr> states, scanned;
    std::vector<ScanOutput> put_out;
};

void set_scan_results(Node& node, const ScanResults& results) {
    if (!results) return set_refused(node);
    for (std::size_t i = 0; i < results->size(); ++i) node.set(i, (*results)[i]);
}

}  // namespace

void make_scan(Node& node) {
    ScanNode parts(node, 0);
    std::vector<ScanInput> scanned;
    for (std::size_t i = 0; i < parts.scanned.size(); ++i)
        scanned.push_back({parts.scanned[i], scan_entry(node, "scan_input_axes", i),
                           scan_entry(node, "scan_input_directions", i) != 0});
    for (std::size_t i = 0; i < parts.put_out.size(); ++i)
        parts.put_out[i] = {scan_entry(node, "scan_output_axes", i),
                            scan_entry(node, "scan_output_directions", i) != 0};
    set_scan_results(node, run_scan(node, parts.body, parts.states, scanned, parts.put_out));
}

/// Axis 0 of all values is the batch, whose samples are scanned one after another.
void make_batched_scan(Node& node) {
    if (node.has(0)) node.refuse("its sequence_lens are given, which is not supported");
    const ScanNode parts(node, 1);
    if (parts.scanned.empty()) node.refuse("it reads no value step by step");
    const Dim batch = parts.scanned.front()->shape().at(0);
    if (!batch.is_constant())
        node.refuse(
            fmt::format("its batch depends on the size {}; the Scan of operator set 8 over a symbolic batch is "
                        "not supported",
                        cairn::to_string(batch)));
    if (batch == Dim(0)) node.refuse("its batch is empty");
    std::vector<std::vector<ValuePtr>> by_sample;
    for (std::int64_t sample = 0; sample < batch.constant(); ++sample) {
        std::vector<ValuePtr> states;
        for (const ValuePtr& state : parts.states) states.push_back(item_of(*state, node.graph(), 0, sample));
        std::vector<ScanInput> scanned;
        for (std::size_t i = 0; i < parts.scanned.size(); ++i)
            scanned.push_back(
                {item_of(*parts.scanned[i], node.graph(), 0, sample), 0, scan_entry(node, "directions", i) != 0});
        const ScanResults results = run_scan(node, parts.body, states, scanned, parts.put_out);
        if (!results) return set_refused(node);
        by_sample.resize(results->size());
        for (std::size_t i = 0; i < results->size(); ++i) by_sample[i].push_back((*results)[i]);
    }
    for (std::size_t i = 0; i < by_sample.size(); ++i) node.set(i, stacked(by_sample[i], node.graph(), 0));
}

}  // namespace cairn::inline v0::onnx
