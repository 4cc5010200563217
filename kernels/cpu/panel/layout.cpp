#include "kernels/cpu/panel/layout.hpp"

namespace cairn::kernels::cpu {
namespace {

Dim bytes_of(const TensorDesc& plain, const Dim& depth, const Dim& columns) {
    return ceildiv(columns, panel_width) * panel_width * depth * Dim(size_of(plain.dtype));
}

}  // namespace

void add_panel_layouts(std::vector<Layout>& layouts) {
    layouts.push_back({std::string(panel_layout),
                       [](const TensorDesc& plain) { return bytes_of(plain, plain.shape.at(0), plain.shape.at(1)); },
                       std::string(panel_layout_transposed)});
    layouts.push_back({std::string(panel_layout_transposed),
                       [](const TensorDesc& plain) { return bytes_of(plain, plain.shape.at(1), plain.shape.at(0)); },
                       std::string(panel_layout)});
}

}  // namespace cairn::kernels::cpu
