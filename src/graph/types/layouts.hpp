#pragma once

#include "cairn/kernel.hpp"

#include <span>
#include <string_view>

namespace cairn::types {

/// True if `name`, as text forms write it, is this layout: by its name, by that of its transposed form, or by its name
/// and a parameter.
bool is_layout(const Layout& layout, std::string_view name) noexcept;

/// The layout of that name; null if there is none.
const Layout* find_layout(std::span<const Layout> layouts, std::string_view name) noexcept;

/// The tensor that the layout's bytes hold: `tensor` itself, plain if the layout is packed; transposed if `tensor`
/// names the transposed form.
TensorDesc stored_tensor(const Layout& layout, const TensorDesc& tensor);

/// Size in bytes of a tensor that is in this layout.
Dim bytes_in_layout(const Layout& layout, const TensorDesc& tensor);

}  // namespace cairn::types
