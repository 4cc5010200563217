#pragma once

#include "apps/jinja/value.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace cairn::jinja {

/// The largest text that a template may make, in bytes.
inline constexpr std::size_t most_bytes = std::size_t{1} << 26;

/// The result of an operator other than `and`, `or`. Throws Error (argument) for values that it does not take.
Value apply_binary(const std::string& sign, const Value& left, const Value& right);

/// container[key]; undefined if there is none.
Value item_of(const Value& container, const Value& key);

/// text[start:stop:step] or list[..], as Python counts.
Value slice_of(const Value& container, const Value& start, const Value& stop, const Value& step);

/// The values that a loop passes: items of a list, keys of a dictionary, characters of a text.
List items_of(const Value& container, const std::string& use);

/// The characters of a text, each ill-formed byte being one.
std::vector<MarkedText> characters(const MarkedText& text);

}  // namespace cairn::jinja
