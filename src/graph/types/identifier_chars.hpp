#pragma once

#include <string_view>

/// Characters of names in text forms.
namespace cairn::types {

constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

}  // namespace cairn::types
