#pragma once

#include "io/onnx_node/node.hpp"

namespace cairn::inline v0::onnx {

void make_dft(Node& node);
void make_stft(Node& node);
void make_hann_window(Node& node);
void make_hamming_window(Node& node);
void make_blackman_window(Node& node);
void make_mel_weight_matrix(Node& node);

/// Elements computed at import as the output 0, in the type of the attribute output_datatype.
void set_table(Node& node, std::vector<std::int64_t> dims, std::vector<double> elements);

}  // namespace cairn::inline v0::onnx
