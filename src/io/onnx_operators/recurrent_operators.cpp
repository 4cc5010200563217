#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/recurrent.hpp"

#include <array>

namespace cairn::inline v0::onnx {
namespace {

constexpr std::array<Operator, 3> recurrent_rows{{{"RNN", 7, make_rnn}, {"GRU", 7, make_gru}, {"LSTM", 7, make_lstm}}};

using RecurrentState = std::vector<Tensor>;

RecurrentState rnn_cell(const RecurrentDirection& d, const Tensor& input, const RecurrentState& state) {
    return {d.activated(0, input + matmul(state[0], d.weights))};
}

/// Gates z, r, h.
RecurrentState gru_cell(const RecurrentDirection& d, const Tensor& input, const RecurrentState& state,
                        bool is_linear_before_reset) {
    const Tensor& h = state[0];
    // Of the state `x`, for the gates from .. to - 1.
    const auto products = [&](const Tensor& x, int from, int to) {
        const Tensor product = matmul(x, slice(d.weights, 1, d.size * from, d.size * to));
        return d.bias.empty() ? product : product + slice(d.bias, 0, d.size * from, d.size * to);
    };
    const Tensor all = is_linear_before_reset ? products(h, 0, 3) : products(h, 0, 2);
    const Tensor zr = d.activated(0, slice(input, 1, 0, d.size * 2) + slice(all, 1, 0, d.size * 2));
    const Tensor z = gate_of(zr, 0, d.size), r = gate_of(zr, 1, d.size);
    const Tensor from_state = is_linear_before_reset ? r * gate_of(all, 2, d.size) : products(r * h, 2, 3);
    const Tensor candidate = d.activated(1, gate_of(input, 2, d.size) + from_state);
    return {(1 - z) * candidate + z * h};
}

/// Gates i, o, f, c; peepholes i, o, f. The state is h and c. What activates the cell is not clipped, as in ONNX
/// Runtime and OpenVINO.
RecurrentState lstm_cell(const RecurrentDirection& d, const Tensor& input, const RecurrentState& state,
                         bool couples_forget) {
    const Tensor gates = input + matmul(state[0], d.weights);
    const Tensor& c = state[1];
    const auto gate = [&](int index, const Tensor& cell) {
        const Tensor x = gate_of(gates, index, d.size);
        return d.activated(0, d.peepholes.empty() ? x : x + gate_of(d.peepholes, index, d.size) * cell);
    };
    const Tensor i = gate(0, c), f = couples_forget ? 1 - i : gate(2, c);
    const Tensor next = f * c + i * d.activated(1, gate_of(gates, 3, d.size));
    return {gate(1, next) * d.activations[2](next), next};
}

}  // namespace

Tensor gate_of(const Tensor& gates, int index, const Dim& size) {
    return slice(gates, -1, size * index, size * (index + 1));
}

void make_rnn(Node& node) { make_recurrent(node, {1, {"tanh"}, {5}, false, {}, rnn_cell}); }

void make_gru(Node& node) {
    const bool is_linear = node.integer("linear_before_reset", 0) != 0;
    const auto cell = [=](const auto& direction, const auto& input, const auto& state) {
        return gru_cell(direction, input, state, is_linear);
    };
    make_recurrent(node, {3, {"sigmoid", "tanh"}, {5}, true, {}, cell});
}

void make_lstm(Node& node) {
    const bool couples = node.integer("input_forget", 0) != 0;
    const auto cell = [=](const auto& direction, const auto& input, const auto& state) {
        return lstm_cell(direction, input, state, couples);
    };
    make_recurrent(node, {4, {"sigmoid", "tanh", "tanh"}, {5, 6}, false, 7, cell});
}

std::span<const Operator> recurrent_operators() { return recurrent_rows; }

}  // namespace cairn::inline v0::onnx
