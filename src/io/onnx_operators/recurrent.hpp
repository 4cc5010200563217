#pragma once

#include "io/onnx_node/node.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace cairn::inline v0::onnx {

void make_rnn(Node& node);
void make_gru(Node& node);
void make_lstm(Node& node);

using ActivationFunction = std::function<Tensor(const Tensor& x)>;

/// The attributes `activations`, `activation_alpha`, `activation_beta` and `clip`: `count` functions, applied to what
/// is clipped. `defaults`: names for one direction.
std::vector<ActivationFunction> recurrent_activations(const Node& node, std::size_t count,
                                                      const std::vector<std::string_view>& defaults);

/// One direction of a recurrent operator in the dtype of the computation.
struct RecurrentDirection {
    Tensor inputs;              ///< X W^T + Wb of all steps: [T,B,G*H], for G gates
    Tensor weights;             ///< R^T: [H,G*H]
    Tensor bias;                ///< Rb: [G*H]; empty if it is in `inputs`, or absent
    Tensor peepholes;           ///< [3*H]; may be empty
    std::vector<Tensor> state;  ///< before the first step, each [B,H]
    std::vector<ActivationFunction> activations;
    Dim size;  ///< H
    std::optional<double> clip;

    /// Activation `index` of the input of a gate, which is clipped.
    Tensor activated(std::size_t index, const Tensor& x) const {
        return activations[index](clip ? clamp(x, -*clip, *clip) : x);
    }
};

/// The next state from the state, of which the first part is the output, and a step's row of `inputs`: [B,G*H].
using RecurrentCell = std::function<std::vector<Tensor>(const RecurrentDirection&, const Tensor& input,
                                                        const std::vector<Tensor>& state)>;

/// What distinguishes RNN, GRU and LSTM.
struct RecurrentKind {
    int gates;
    std::vector<std::string_view> activations;  ///< defaults, for one direction
    std::vector<std::size_t> initial;           ///< the inputs that hold the first state
    bool keeps_bias;                            ///< the cell adds Rb itself
    std::optional<std::size_t> peepholes;       ///< the input that holds them
    RecurrentCell cell;
};

/// Unrolls the steps and sets all outputs: those of each step, and the last state.
void make_recurrent(Node& node, const RecurrentKind& kind);

/// Gate `index` of [.., G*H].
Tensor gate_of(const Tensor& gates, int index, const Dim& size);

}  // namespace cairn::inline v0::onnx
