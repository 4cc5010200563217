#include "io/onnx_operators/control_flow.hpp"
#include "io/onnx_operators/value_parts.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::onnx {
namespace {

/// A Loop that is imported step by step. Its body takes a step's number, the condition and the states, and gives a
/// condition, the next states and what the step puts out.
class UnrolledLoop {
public:
    explicit UnrolledLoop(Node& node);
    void run();

private:
    bool goes_on() const;
    /// False if the body cannot be imported.
    bool step();
    void set_outputs();
    ValuePtr without_steps(std::size_t output);

    Node& node_;
    const GraphProto& body_;
    std::vector<ValuePtr> states_;
    std::vector<std::vector<ValuePtr>> put_out_;  ///< of each scan output, by step
    std::optional<std::int64_t> trips_;           ///< empty: until the condition is false
    std::optional<bool> condition_ = true;        ///< of the next step; empty: not known
    std::int64_t steps_ = 0;
};

UnrolledLoop::UnrolledLoop(Node& node) : node_(node), body_(node.graph_attribute("body")) {
    if (body_.inputs.size() < 2 || body_.outputs.size() + 1 < body_.inputs.size())
        node.refuse(fmt::format("its body has {} inputs and {} outputs", body_.inputs.size(), body_.outputs.size()));
    for (std::size_t i = 2; i < body_.inputs.size(); ++i) states_.push_back(node.has(i) ? node.value_ptr(i) : nullptr);
    put_out_.resize(body_.outputs.size() - 1 - states_.size());
    if (node.has(0)) trips_ = node.integer(0, "the trip count");
    if (node.has(1)) {
        condition_ = known_condition(node.value_ptr(1));
        if (!condition_) node.require_known(1, "the condition");
        if (!condition_) node.refuse("its condition is not one boolean");
    }
    // A given condition may end it before.
    if (const std::int64_t limit = node.importer().unroll_limit(); !node.has(1) && trips_ && *trips_ > limit)
        node.refuse(fmt::format("it has {} steps, more than the unroll_limit of {}", *trips_, limit));
}

bool UnrolledLoop::goes_on() const {
    if (trips_ && steps_ >= *trips_) return false;
    if (!condition_) node_.refuse(fmt::format("its condition after {} steps is not known at import", steps_));
    return *condition_;
}

bool UnrolledLoop::step() {
    std::vector<ValuePtr> inputs{Value::of(Known::scalar(ElementType::i64, steps_)),
                                 Value::of(Known::scalar(ElementType::boolean, 1))};
    inputs.insert(inputs.end(), states_.begin(), states_.end());
    const std::vector<ValuePtr> outputs = node_.importer().import_graph(body_, inputs);
    if (any_refused(outputs)) return false;
    if (node_.has(1)) condition_ = known_condition(outputs[0]);
    for (std::size_t i = 0; i < states_.size(); ++i) states_[i] = outputs[1 + i];
    for (std::size_t i = 0; i < put_out_.size(); ++i) {
        if (outputs[1 + states_.size() + i] == nullptr) node_.refuse("an output of its body is missing");
        put_out_[i].push_back(outputs[1 + states_.size() + i]);
    }
    ++steps_;
    return true;
}

void UnrolledLoop::run() {
    const std::int64_t limit = node_.importer().unroll_limit();
    while (goes_on()) {
        if (steps_ >= limit) node_.refuse(fmt::format("it has more steps than the unroll_limit of {}", limit));
        if (!step()) return set_refused(node_);
    }
    set_outputs();
}

/// A scan output of a loop without a step.
ValuePtr UnrolledLoop::without_steps(std::size_t output) {
    const ValueProto& stated = body_.outputs[1 + states_.size() + output];
    if (const auto none = no_elements(stated, 0)) return *none;
    if (put_out_[output].empty() && !step()) return Value::refused();  // for the shape
    const Tensor one = put_out_[output].front()->tensor(node_.graph());
    return part_of(*Value::of(unsqueeze(one, 0)), node_.graph(), 0, 0, 0);
}

void UnrolledLoop::set_outputs() {
    const std::vector<ValuePtr> states = states_;
    for (std::size_t i = 0; i < states.size(); ++i) node_.set(i, states[i]);
    const bool is_empty = steps_ == 0;
    for (std::size_t i = 0; i < put_out_.size(); ++i)
        if (node_.wants(states.size() + i))
            node_.set(states.size() + i, is_empty ? without_steps(i) : stacked(put_out_[i], node_.graph(), 0));
}

}  // namespace

void make_loop(Node& node) { UnrolledLoop(node).run(); }

}  // namespace cairn::inline v0::onnx
