#pragma once

#include "apps/jinja/value.hpp"

#include <optional>
#include <string>

namespace cairn::jinja {

/// `value | name(arguments)`; nothing for an unknown filter.
std::optional<Value> apply_filter(const std::string& name, const Value& value, const Arguments& arguments);

/// `value is name(arguments)`; nothing for an unknown test.
std::optional<bool> apply_test(const std::string& name, const Value& value, const Arguments& arguments);

/// `value.name(arguments)`, for methods of texts, lists and dictionaries; nothing for an unknown one.
std::optional<Value> apply_method(const std::string& name, const Value& value, const Arguments& arguments);

}  // namespace cairn::jinja
