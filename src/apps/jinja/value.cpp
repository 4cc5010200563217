#include "apps/jinja/value.hpp"

#include "apps/jinja/fault.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace cairn::jinja {

namespace {

std::string number_text(double number) {
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
    std::string text(buffer, end);
    return text.find_first_of(".en") == text.npos ? text + ".0" : text;
}

/// A text as Python's repr writes it, near enough: in single quotes.
MarkedText quoted(const MarkedText& text) {
    const bool has_single = text.bytes().find('\'') != std::string::npos;
    const char* quote = has_single && text.bytes().find('"') == std::string::npos ? "\"" : "'";
    MarkedText shown = text.replaced("\\", MarkedText("\\\\")).replaced("\n", MarkedText("\\n"));
    if (*quote == '\'') shown = shown.replaced("'", MarkedText("\\'"));
    return MarkedText(quote).append(shown).append(quote, false);
}

MarkedText shown_item(const Value& value) {
    const auto* text = value.as<MarkedText>();
    return text != nullptr ? quoted(*text) : value.text();
}

MarkedText json_string(const MarkedText& text) {
    constexpr std::string_view digits = "0123456789abcdef";
    MarkedText result("\"");
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char byte = text.bytes()[i];
        const auto code = static_cast<unsigned char>(byte);
        const bool marked = text.is_marked(i);
        if (byte == '"' || byte == '\\')
            result.append(std::string{'\\', byte}, marked);
        else if (byte == '\n')
            result.append("\\n", marked);
        else if (byte == '\r')
            result.append("\\r", marked);
        else if (byte == '\t')
            result.append("\\t", marked);
        else if (code < 0x20)
            result.append(std::string("\\u00") + digits[code / 16] + digits[code % 16], marked);
        else
            result.append(std::string(1, byte), marked);
    }
    return result.append("\"", false);
}

}  // namespace

Value* Dict::find(const std::string& key) {
    const auto found =
        std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.first == key; });
    return found == entries.end() ? nullptr : &found->second;
}

void Dict::set(const std::string& key, Value value) {
    if (Value* known = find(key))
        *known = std::move(value);
    else
        entries.emplace_back(key, std::move(value));
}

Value Arguments::get(std::size_t position, const std::string& name) const {
    if (position < positional.size()) return positional[position];
    for (const auto& [key, value] : named)
        if (key == name) return value;
    return {};
}

List* Value::as_list() const {
    const auto* list = as<std::shared_ptr<List>>();
    return list == nullptr ? nullptr : list->get();
}

Dict* Value::as_dict() const {
    const auto* dict = as<std::shared_ptr<Dict>>();
    return dict == nullptr ? nullptr : dict->get();
}

bool Value::is_true() const {
    if (const auto* value = as<bool>()) return *value;
    if (const auto* value = as<std::int64_t>()) return *value != 0;
    if (const auto* value = as<double>()) return *value != 0;
    if (const auto* value = as<MarkedText>()) return value->size() > 0;
    if (const List* list = as_list()) return !list->empty();
    if (const Dict* dict = as_dict()) return !dict->entries.empty();
    return as<std::shared_ptr<Function>>() != nullptr;
}

const char* Value::kind() const {
    constexpr const char* names[] = {"undefined", "none",   "a boolean",    "an integer", "a number",
                                     "a string",  "a list", "a dictionary", "a function"};
    return names[variant_.index()];
}

bool Value::operator==(const Value& other) const {
    const auto number = [](const Value& value) -> std::optional<double> {
        if (const auto* boolean = value.as<bool>()) return *boolean ? 1 : 0;
        if (const auto* integer = value.as<std::int64_t>()) return static_cast<double>(*integer);
        if (const auto* real = value.as<double>()) return *real;
        return std::nullopt;
    };
    if (const auto left = number(*this), right = number(other); left && right) return *left == *right;
    if (variant_.index() != other.variant_.index()) return false;
    if (const auto* text = as<MarkedText>()) return text->bytes() == other.as<MarkedText>()->bytes();
    if (const List* list = as_list()) return list == other.as_list() || *list == *other.as_list();
    if (const Dict* dict = as_dict()) return dict == other.as_dict() || dict->entries == other.as_dict()->entries;
    return as<None>() != nullptr || is_undefined();
}

MarkedText Value::text() const {
    if (is_undefined()) return {};
    if (as<None>() != nullptr) return MarkedText("None");
    if (const auto* value = as<bool>()) return MarkedText(*value ? "True" : "False");
    if (const auto* value = as<std::int64_t>()) return MarkedText(std::to_string(*value));
    if (const auto* value = as<double>()) return MarkedText(number_text(*value));
    if (const auto* value = as<MarkedText>()) return *value;
    MarkedText shown;
    if (const List* list = as_list()) {
        for (const Value& item : *list) shown.append(shown.size() == 0 ? "" : ", ", false).append(shown_item(item));
        return MarkedText("[").append(shown).append("]", false);
    }
    if (const Dict* dict = as_dict()) {
        for (const auto& [key, value] : dict->entries)
            shown.append(shown.size() == 0 ? "'" : ", '", false)
                .append(key, false)
                .append("': ", false)
                .append(shown_item(value));
        return MarkedText("{").append(shown).append("}", false);
    }
    fault("a function cannot be printed");
}

MarkedText json_text(const Value& value, int indent, int depth) {
    if (depth > 64) fault("a value is nested too deep for tojson");
    const auto new_line = [&](int level) {
        return indent < 0 ? std::string() : "\n" + std::string(static_cast<std::size_t>(indent * level), ' ');
    };
    if (value.is_undefined()) fault("an undefined value has no JSON");
    if (value.as<None>() != nullptr) return MarkedText("null");
    if (const auto* boolean = value.as<bool>()) return MarkedText(*boolean ? "true" : "false");
    if (const auto* text = value.as<MarkedText>()) return json_string(*text);
    const std::string comma = indent < 0 ? ", " : ",";
    MarkedText shown;
    if (const List* list = value.as_list()) {
        if (list->empty()) return MarkedText("[]");
        for (const Value& item : *list)
            shown.append(shown.size() == 0 ? "" : comma, false)
                .append(new_line(depth + 1), false)
                .append(json_text(item, indent, depth + 1));
        return MarkedText("[").append(shown).append(new_line(depth) + "]", false);
    }
    if (const Dict* dict = value.as_dict()) {
        if (dict->entries.empty()) return MarkedText("{}");
        for (const auto& [key, item] : dict->entries)
            shown.append(shown.size() == 0 ? "" : comma, false)
                .append(new_line(depth + 1), false)
                .append(json_string(MarkedText(key)))
                .append(": ", false)
                .append(json_text(item, indent, depth + 1));
        return MarkedText("{").append(shown).append(new_line(depth) + "}", false);
    }
    return value.text();
}

}  // namespace cairn::jinja
