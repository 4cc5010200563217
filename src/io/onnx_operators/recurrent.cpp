#include "io/onnx_operators/recurrent.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::inline v0::onnx {
namespace {

/// A recurrent operator with time as the first axis, whatever the layout of its node.
class UnrolledRecurrence {
public:
    UnrolledRecurrence(Node& node, const RecurrentKind& kind);
    void run();

private:
    RecurrentDirection direction(std::int64_t index) const;
    Tensor part(std::size_t input, std::int64_t direction) const;
    /// Appends the outputs of all steps, and the last state.
    void run_direction(const RecurrentDirection& direction, bool is_backward);
    Tensor is_active(std::int64_t step) const;

    Node& node_;
    const RecurrentKind& kind_;
    DType dtype_;
    bool is_batch_first_;
    Tensor x_;        ///< [T,B,I]
    Tensor lengths_;  ///< [B,1]; empty: all steps
    std::int64_t steps_ = 0, directions_ = 1;
    Dim batch_, size_;
    std::vector<ActivationFunction> activations_;
    std::vector<Tensor> y_;                   ///< of each direction, [T,B,H]
    std::vector<std::vector<Tensor>> state_;  ///< of each part and direction, [B,H]
};

UnrolledRecurrence::UnrolledRecurrence(Node& node, const RecurrentKind& kind)
    : node_(node), kind_(kind), dtype_(float_dtype(node.dtype(0))), is_batch_first_(node.integer("layout", 0) != 0) {
    const std::string direction = node.text("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
        node.refuse(fmt::format("its direction is '{}'", direction));
    directions_ = direction == "bidirectional" ? 2 : 1;
    if (node.rank(0) != 3 || node.rank(1) != 3 || node.rank(2) != 3) node.refuse("X, W or R does not have three axes");
    if (!(node.shape(1)[0] == Dim(directions_)) || !(node.shape(2)[0] == Dim(directions_)))
        node.refuse(fmt::format("its weights are not those of {} directions", directions_));
    const Dim steps = node.shape(0)[is_batch_first_ ? 1 : 0];
    if (!steps.is_constant())
        node.refuse(
            fmt::format("its sequence length depends on the size {}; recurrent operators over a symbolic "
                        "length are not supported",
                        cairn::to_string(steps)));
    steps_ = steps.constant();
    if (const std::int64_t limit = node.importer().unroll_limit(); steps_ > limit)
        node.refuse(fmt::format("its sequence length is {}, more than the unroll_limit of {}", steps_, limit));
    batch_ = node.shape(0)[is_batch_first_ ? 0 : 1];
    size_ = node.shape(2)[2];
    x_ = cast(node.tensor(0), dtype_);
    if (is_batch_first_) x_ = swap_axes(x_, 0, 1);
    const Known* const lengths = node.known(4);
    const auto is_whole = [&](const Dim& length) { return length == steps; };
    if (node.has(4) && (lengths == nullptr || !std::ranges::all_of(lengths->integers, is_whole)))
        lengths_ = reshape(node.tensor(4), {batch_, 1});
    activations_ =
        recurrent_activations(node, kind.activations.size() * static_cast<std::size_t>(directions_), kind.activations);
    state_.resize(kind.initial.size());
}

/// What an input has for a direction, its first axis.
Tensor UnrolledRecurrence::part(std::size_t input, std::int64_t direction) const {
    const Tensor all = cast(node_.tensor(input), dtype_);
    return squeeze(slice(all, 0, direction, direction + 1), 0);
}

RecurrentDirection UnrolledRecurrence::direction(std::int64_t index) const {
    RecurrentDirection result;
    result.size = size_;
    if (node_.has_attribute("clip")) result.clip = node_.real("clip");
    if (result.clip && !(*result.clip > 0)) node_.refuse("its clip is not positive");
    result.inputs = matmul(x_, transpose(part(1, index), {1, 0}));
    result.weights = transpose(part(2, index), {1, 0});
    if (node_.has(3)) {
        const Tensor both = part(3, index);
        const Dim width = size_ * kind_.gates;
        const Tensor input_bias = slice(both, 0, 0, width), state_bias = slice(both, 0, width, width * 2);
        result.inputs = result.inputs + (kind_.keeps_bias ? input_bias : input_bias + state_bias);
        if (kind_.keeps_bias) result.bias = state_bias;
    }
    if (kind_.peepholes && node_.has(*kind_.peepholes)) result.peepholes = part(*kind_.peepholes, index);
    for (const std::size_t input : kind_.initial) {
        if (!node_.has(input)) {
            result.state.push_back(broadcast(node_.graph().constant(dtype_, 0), {batch_, size_}));
            continue;
        }
        const Tensor all = cast(node_.tensor(input), dtype_);
        result.state.push_back(squeeze(slice(all, is_batch_first_ ? 1 : 0, index, index + 1), is_batch_first_ ? 1 : 0));
    }
    const auto count = static_cast<std::ptrdiff_t>(kind_.activations.size());
    const auto first = activations_.begin() + index * count;
    result.activations.assign(first, first + count);
    return result;
}

Tensor UnrolledRecurrence::is_active(std::int64_t step) const { return lengths_ > step; }

void UnrolledRecurrence::run_direction(const RecurrentDirection& direction, bool is_backward) {
    std::vector<Tensor> state = direction.state, outputs;
    for (std::int64_t i = 0; i < steps_; ++i) {
        // Backward, a short sequence begins with its own last step: until then it keeps the first state.
        const std::int64_t step = is_backward ? steps_ - 1 - i : i;
        const Tensor input = squeeze(slice(direction.inputs, 0, step, step + 1), 0);
        std::vector<Tensor> next = kind_.cell(direction, input, state);
        Tensor output = next[0];
        if (!lengths_.empty()) {
            const Tensor active = is_active(step);
            output = where(active, output, 0);
            for (std::size_t part = 0; part < next.size(); ++part) next[part] = where(active, next[part], state[part]);
        }
        outputs.push_back(output);
        state = std::move(next);
    }
    if (is_backward) std::ranges::reverse(outputs);
    y_.push_back(steps_ == 0 ? broadcast(node_.graph().constant(dtype_, 0), {0, batch_, size_}) : stack(outputs, 0));
    for (std::size_t part = 0; part < state.size(); ++part) state_[part].push_back(state[part]);
}

void UnrolledRecurrence::run() {
    const bool is_reverse = node_.text("direction", "forward") == "reverse";
    for (std::int64_t index = 0; index < directions_; ++index)
        run_direction(direction(index), is_reverse || index == 1);
    const auto set = [&](std::size_t output, const Tensor& x) {
        if (node_.wants(output)) node_.set(output, cast(x, node_.dtype(0)));
    };
    const Tensor y = stack(y_, 1);  // [T,directions,B,H]
    set(0, is_batch_first_ ? transpose(y, {2, 0, 1, 3}) : y);
    for (std::size_t part = 0; part < state_.size(); ++part)
        set(1 + part, stack(state_[part], is_batch_first_ ? 1 : 0));
}

}  // namespace

void make_recurrent(Node& node, const RecurrentKind& kind) { UnrolledRecurrence(node, kind).run(); }

}  // namespace cairn::inline v0::onnx
