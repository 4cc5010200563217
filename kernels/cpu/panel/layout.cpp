#include "kernels/cpu/panel/layout.hpp"

#include <utility>

namespace cairn::kernels::cpu {
namespace {

Dim panel_bytes(const Dim& depth, const Dim& columns, std::int64_t bytes_of_k) {
    return ceildiv(columns, panel_width) * depth * Dim(bytes_of_k);
}

Dim bytes_of_panels(const TensorDesc& plain) {
    return panel_bytes(plain.shape.at(0), plain.shape.at(1),
                       panel_width * static_cast<std::int64_t>(size_of(plain.dtype)));
}

template <std::size_t layout>
Dim bytes_of_codes(const TensorDesc& plain) {
    return panel_bytes(plain.shape.at(0), plain.shape.at(1), code_layouts[layout].format.row_bytes());
}

template <Dim (*bytes)(const TensorDesc& plain)>
Dim transposed_bytes(const TensorDesc& plain) {
    return bytes(TensorDesc::dense(plain.dtype, {plain.shape.at(1), plain.shape.at(0)}));
}

template <Dim (*bytes)(const TensorDesc& plain)>
void add_layout(std::vector<Layout>& layouts, std::string_view name, std::string_view transposed) {
    layouts.push_back({std::string(name), bytes, std::string(transposed)});
    layouts.push_back({std::string(transposed), transposed_bytes<bytes>, std::string(name)});
}

template <std::size_t... i>
void add_code_layouts(std::vector<Layout>& layouts, std::index_sequence<i...>) {
    (add_layout<bytes_of_codes<i>>(layouts, code_layouts[i].name, code_layouts[i].transposed), ...);
}

}  // namespace

void add_panel_layouts(std::vector<Layout>& layouts) {
    add_layout<bytes_of_panels>(layouts, panel_layout, panel_layout_transposed);
    add_code_layouts(layouts, std::make_index_sequence<code_layouts.size()>());
}

}  // namespace cairn::kernels::cpu
