#include "graph/types/layouts.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace cairn::types {

bool is_layout(const Layout& layout, std::string_view name) noexcept {
    if (layout.has_parameter) return layout_parameter(name) > 0 && name.substr(0, name.rfind('.')) == layout.name;
    return name == layout.name || (!layout.transposed.empty() && name == layout.transposed);
}

const Layout* find_layout(std::span<const Layout> layouts, std::string_view name) noexcept {
    const auto found =
        std::find_if(layouts.begin(), layouts.end(), [&](const Layout& layout) { return is_layout(layout, name); });
    return found == layouts.end() ? nullptr : &*found;
}

TensorDesc stored_tensor(const Layout& layout, const TensorDesc& tensor) {
    TensorDesc stored = TensorDesc::dense(tensor.dtype, tensor.shape);
    if (layout.is_computed) {
        stored.layout = tensor.layout;
    } else if (tensor.layout != layout.name && stored.shape.size() == 2) {
        std::swap(stored.shape[0], stored.shape[1]);
        stored.strides = dense_strides(stored.shape);
    }
    return stored;
}

Dim bytes_in_layout(const Layout& layout, const TensorDesc& tensor) {
    return layout.bytes(stored_tensor(layout, tensor));
}

}  // namespace cairn::types

namespace cairn::inline v0 {

std::int64_t layout_parameter(std::string_view layout) noexcept {
    const std::size_t dot = layout.rfind('.');
    if (dot == layout.npos) return 0;
    const std::string_view digits = layout.substr(dot + 1);
    std::int64_t value = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool is_canonical = fault == std::errc() && end == digits.data() + digits.size() && digits[0] != '0';
    return is_canonical && value > 0 ? value : 0;
}

}  // namespace cairn::inline v0
