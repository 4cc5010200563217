#include "io/onnx_operators/operators.hpp"

#include <array>

namespace cairn::inline v0::onnx {
namespace {

using Family = std::span<const Operator> (*)();
constexpr std::array<Family, 38> families{constant_operators,
                                          shape_operators,
                                          arithmetic_operators,
                                          gate_operators,
                                          softmax_operators,
                                          elementwise_operators,
                                          comparison_operators,
                                          where_operators,
                                          bit_operators,
                                          axis_reduction_operators,
                                          scan_operators,
                                          variadic_operators,
                                          layer_norm_operators,
                                          channel_norm_operators,
                                          plain_norm_operators,
                                          loss_operators,
                                          movement_operators,
                                          pad_operators,
                                          index_operators,
                                          product_operators,
                                          convolution_operators,
                                          pooling_operators,
                                          resize_operators,
                                          sampling_operators,
                                          attention_operators,
                                          recurrent_operators,
                                          signal_operators,
                                          quantization_operators,
                                          control_flow_operators,
                                          sequence_operators,
                                          contrib_quantized_operators,
                                          contrib_block_operators,
                                          contrib_norm_operators,
                                          contrib_attention_operators,
                                          contrib_function_operators,
                                          ml_feature_operators,
                                          ml_linear_operators,
                                          ml_tree_operators};

}  // namespace

const Operator* find_operator(std::string_view domain, std::string_view name, std::int64_t opset) {
    const Operator* found = nullptr;
    for (const Family family : families)
        for (const Operator& row : family())
            if (row.name == name && row.domain == domain && row.since <= opset &&
                (found == nullptr || found->since < row.since))
                found = &row;
    return found;
}

std::vector<Operator> all_operators() {
    std::vector<Operator> all;
    for (const Family family : families)
        for (const Operator& row : family()) all.push_back(row);
    return all;
}

}  // namespace cairn::inline v0::onnx
