#include "apps/jinja/builtins.hpp"

#include "apps/jinja/fault.hpp"
#include "apps/jinja/letter_case.hpp"
#include "apps/jinja/operators.hpp"

#include <algorithm>
#include <charconv>

namespace cairn::jinja {

namespace {

/// upper, lower, title, capitalize.
MarkedText with_case(const std::string& name, const MarkedText& text) {
    if (name == "title")
        return titled(
            text, [](char byte) { return std::string_view("- \t\n\r\v\f({[<").find(byte) != std::string_view::npos; });
    if (name == "capitalize") return titled(text, [](char) { return false; });
    require_ascii(name, text);
    return text.mapped(name == "upper" ? to_upper : to_lower);
}

Value length_of(const Value& value) {
    std::size_t length = 0;
    if (const auto* text = value.as<MarkedText>())
        length = characters(*text).size();
    else if (const Dict* dict = value.as_dict())
        length = dict->entries.size();
    else
        length = items_of(value, "length").size();
    return Value::Variant(static_cast<std::int64_t>(length));
}

MarkedText joined(const Value& value, const Arguments& arguments) {
    const MarkedText separator = arguments.get(0, "d").text();
    const Value attribute = arguments.get(1, "attribute");
    MarkedText all;
    bool first = true;
    for (const Value& item : items_of(value, "join")) {
        if (!first) all.append(separator);
        first = false;
        all.append((attribute.is_undefined() ? item : item_of(item, attribute)).text());
        if (all.size() > most_bytes) fault("a text is too long");
    }
    return all;
}

Value integer_of(const Value& value) {
    if (const auto* real = value.as<double>()) return Value::Variant(static_cast<std::int64_t>(*real));
    if (const auto* boolean = value.as<bool>()) return Value::Variant(std::int64_t{*boolean});
    if (value.as<std::int64_t>() != nullptr) return value;
    std::int64_t number = 0;
    const std::string bytes = value.text().stripped(true, true).bytes();
    std::from_chars(bytes.data(), bytes.data() + bytes.size(), number);
    return Value::Variant(number);
}

/// selectattr, rejectattr, select and reject.
Value selected(const std::string& name, const Value& value, const Arguments& arguments) {
    const bool by_attribute = name.ends_with("attr"), keeps = name.starts_with("select");
    const std::size_t test_at = by_attribute ? 1 : 0;
    const Value test = arguments.get(test_at, "");
    Arguments rest;
    for (std::size_t i = test_at + 1; i < arguments.positional.size(); ++i)
        rest.positional.push_back(arguments.positional[i]);
    List kept;
    if (value.as<None>() != nullptr)
        return Value::list({});  // Jinja complains when a loop asks for the first item only
    for (const Value& item : items_of(value, name)) {
        const Value subject = by_attribute ? item_of(item, arguments.get(0, "")) : item;
        std::optional<bool> holds = subject.is_true();
        if (!test.is_undefined()) holds = apply_test(test.text().bytes(), subject, rest);
        if (!holds) fault("the test '" + test.text().bytes() + "' is not known");
        if (*holds == keeps) kept.push_back(item);
    }
    return Value::list(std::move(kept));
}

Value mapped(const Value& value, const Arguments& arguments) {
    const Value attribute = arguments.get(std::string::npos, "attribute");
    Arguments rest;
    for (std::size_t i = 1; i < arguments.positional.size(); ++i) rest.positional.push_back(arguments.positional[i]);
    List items;
    for (const Value& item : items_of(value, "map")) {
        if (!attribute.is_undefined()) {
            items.push_back(item_of(item, attribute));
            continue;
        }
        const std::string name = arguments.get(0, "").text().bytes();
        const auto result = apply_filter(name, item, rest);
        if (!result) fault("the filter '" + name + "' is not known");
        items.push_back(*result);
    }
    return Value::list(std::move(items));
}

Value sorted_entries(const Value& value) {
    const Dict* dict = value.as_dict();
    if (dict == nullptr) fault(std::string("dictsort does not take ") + value.kind());
    std::vector<std::pair<std::string, Value>> entries = dict->entries;
    const auto folded = [](std::string text) {
        std::transform(text.begin(), text.end(), text.begin(), to_lower);
        return text;
    };
    std::stable_sort(entries.begin(), entries.end(),
                     [&](const auto& a, const auto& b) { return folded(a.first) < folded(b.first); });
    List list;
    for (auto& [key, item] : entries) list.push_back(Value::list({Value(key), std::move(item)}));
    return Value::list(std::move(list));
}

MarkedText indented(const MarkedText& text, const Arguments& arguments) {
    const Value width = arguments.get(0, "width");
    const auto* count = width.as<std::int64_t>();
    const std::string spaces(count == nullptr ? 4 : static_cast<std::size_t>(std::clamp<std::int64_t>(*count, 0, 1000)),
                             ' ');
    MarkedText result;
    if (arguments.get(1, "first").is_true()) result.append(spaces, false);
    std::size_t start = 0;
    for (std::size_t at = text.bytes().find('\n'); at != std::string::npos; at = text.bytes().find('\n', start)) {
        result.append(text.substr(start, at + 1 - start));
        start = at + 1;
        const bool is_blank = start == text.size() || text.bytes()[start] == '\n';
        if (!is_blank) result.append(spaces, false);
    }
    return result.append(text.substr(start));
}

Value replaced(const Value& value, const Arguments& arguments) {
    const Value from = arguments.get(0, "old"), to = arguments.get(1, "new");
    if (from.as<MarkedText>() == nullptr || to.as<MarkedText>() == nullptr || from.text().size() == 0)
        fault("replace needs two strings, and the first one must not be empty");
    return Value::Variant(value.text().replaced(from.text().bytes(), to.text()));
}

std::optional<Value> list_filter(const std::string& name, const Value& value) {
    if (name != "list" && name != "first" && name != "last" && name != "reverse" && name != "unique")
        return std::nullopt;
    List items = items_of(value, name);
    if (name == "first") return items.empty() ? Value() : items.front();
    if (name == "last") return items.empty() ? Value() : items.back();
    if (name == "reverse") std::reverse(items.begin(), items.end());
    if (name == "unique") {
        List kept;
        for (const Value& item : items)
            if (std::find(kept.begin(), kept.end(), item) == kept.end()) kept.push_back(item);
        items = std::move(kept);
    }
    return Value::list(std::move(items));
}

}  // namespace

std::optional<Value> apply_filter(const std::string& name, const Value& value, const Arguments& arguments) {
    if (name == "trim") {
        Value text(Value::Variant(value.text()));
        return apply_method("strip", text, arguments);
    }
    if (name == "upper" || name == "lower" || name == "title" || name == "capitalize")
        return Value(Value::Variant(with_case(name, value.text())));
    if (name == "length" || name == "count") return length_of(value);
    if (name == "string") return Value(Value::Variant(value.text()));
    if (name == "safe") return value;
    if (name == "join") return Value(Value::Variant(joined(value, arguments)));
    if (name == "int") return integer_of(value);
    if (name == "default" || name == "d") {
        const bool replaces = value.is_undefined() || (arguments.get(1, "boolean").is_true() && !value.is_true());
        return replaces ? arguments.get(0, "default_value") : value;
    }
    if (name == "tojson") {
        const Value indent = arguments.get(0, "indent");
        const auto* count = indent.as<std::int64_t>();
        return Value(Value::Variant(
            json_text(value, count == nullptr ? -1 : static_cast<int>(std::clamp<std::int64_t>(*count, 0, 16)))));
    }
    if (name == "items") return value.is_undefined() ? Value::list({}) : apply_method("items", value, arguments);
    if (name == "dictsort") return sorted_entries(value);
    if (name == "replace") return replaced(value, arguments);
    if (name == "indent") return Value(Value::Variant(indented(value.text(), arguments)));
    if (name == "selectattr" || name == "rejectattr" || name == "select" || name == "reject")
        return selected(name, value, arguments);
    if (name == "map") return mapped(value, arguments);
    return list_filter(name, value);
}

std::optional<bool> apply_test(const std::string& name, const Value& value, const Arguments& arguments) {
    const auto* integer = value.as<std::int64_t>();
    const auto* boolean = value.as<bool>();
    const bool is_text = value.as<MarkedText>() != nullptr, is_list = value.as_list() != nullptr,
               is_dict = value.as_dict() != nullptr;
    if (name == "defined") return !value.is_undefined();
    if (name == "undefined") return value.is_undefined();
    if (name == "none") return value.as<None>() != nullptr;
    if (name == "string") return is_text;
    if (name == "mapping") return is_dict;
    if (name == "iterable" || name == "sequence")
        return is_text || is_list || is_dict || (name == "iterable" && value.is_undefined());
    if (name == "boolean") return boolean != nullptr;
    if (name == "true") return boolean != nullptr && *boolean;
    if (name == "false") return boolean != nullptr && !*boolean;
    if (name == "integer") return integer != nullptr;
    if (name == "float") return value.as<double>() != nullptr;
    if (name == "number") return integer != nullptr || value.as<double>() != nullptr || boolean != nullptr;
    if (name == "callable") return value.as<std::shared_ptr<Function>>() != nullptr;
    if (name == "odd" || name == "even") {
        if (integer == nullptr) fault(name + " needs an integer, got " + value.kind());
        return (*integer % 2 != 0) == (name == "odd");
    }
    if (name == "equalto" || name == "sameas") return value == arguments.get(0, "");
    if (name == "in") return apply_binary("in", value, arguments.get(0, "")).is_true();
    return std::nullopt;
}

}  // namespace cairn::jinja
