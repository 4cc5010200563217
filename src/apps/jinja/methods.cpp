#include "apps/jinja/builtins.hpp"
#include "apps/jinja/fault.hpp"
#include "apps/jinja/letter_case.hpp"
#include "apps/jinja/operators.hpp"

#include <algorithm>

namespace cairn::jinja {

namespace {

/// The bytes of a text argument.
std::string text_of(const Arguments& arguments, std::size_t position, const char* name, const std::string& method) {
    const Value value = arguments.get(position, name);
    const auto* text = value.as<MarkedText>();
    if (text == nullptr) fault(method + " needs a string, got " + value.kind());
    return text->bytes();
}

Value stripped(const MarkedText& text, const Arguments& arguments, bool left, bool right) {
    const Value set = arguments.get(0, "chars");
    if (set.is_undefined() || set.as<None>() != nullptr) return Value::Variant(text.stripped(left, right));
    const std::string bytes = text_of(arguments, 0, "chars", "strip");
    if (std::any_of(bytes.begin(), bytes.end(), [](char byte) { return static_cast<unsigned char>(byte) > 127; }))
        fault("strip takes ASCII characters only");
    return Value::Variant(text.stripped(bytes, left, right));
}

Value split(const MarkedText& text, const Arguments& arguments) {
    List parts;
    const Value limit = arguments.get(1, "maxsplit");
    const auto* most = limit.as<std::int64_t>();
    const auto may_split = [&] {
        return most == nullptr || *most < 0 || static_cast<std::int64_t>(parts.size()) < *most;
    };
    const Value given = arguments.get(0, "sep");
    if (given.is_undefined() || given.as<None>() != nullptr) {
        MarkedText rest = text.stripped(true, false);
        while (rest.size() > 0 && may_split()) {
            const auto all = characters(rest);
            MarkedText word;
            for (const MarkedText& character : all) {
                if (character.stripped(true, false).size() == 0) break;
                word.append(character);
            }
            rest = rest.substr(word.size()).stripped(true, false);
            parts.emplace_back(Value::Variant(std::move(word)));
        }
        if (rest.size() > 0) parts.emplace_back(Value::Variant(std::move(rest)));
        return Value::list(std::move(parts));
    }
    const std::string separator = text_of(arguments, 0, "sep", "split");
    if (separator.empty()) fault("split needs a separator that is not empty");
    std::size_t start = 0;
    for (std::size_t at = text.bytes().find(separator); at != std::string::npos && may_split();
         at = text.bytes().find(separator, start)) {
        parts.emplace_back(Value::Variant(text.substr(start, at - start)));
        start = at + separator.size();
    }
    parts.emplace_back(Value::Variant(text.substr(start)));
    return Value::list(std::move(parts));
}

/// startswith and endswith, which also take a list of texts.
bool has_end(const MarkedText& text, const Arguments& arguments, bool at_start) {
    const Value given = arguments.get(0, "prefix");
    const List choices = given.as_list() != nullptr ? *given.as_list() : List{given};
    return std::any_of(choices.begin(), choices.end(), [&](const Value& choice) {
        const auto* part = choice.as<MarkedText>();
        if (part == nullptr) fault(std::string("startswith and endswith need a string, got ") + choice.kind());
        return at_start ? text.bytes().starts_with(part->bytes()) : text.bytes().ends_with(part->bytes());
    });
}

/// "a{}b{}".format(x, y), with empty braces only.
MarkedText formatted(const MarkedText& text, const Arguments& arguments) {
    MarkedText result;
    std::size_t start = 0, next = 0;
    for (std::size_t at = text.bytes().find_first_of("{}"); at != std::string::npos;
         at = text.bytes().find_first_of("{}", start)) {
        if (!std::string_view(text.bytes()).substr(at).starts_with("{}") || next >= arguments.positional.size())
            fault("format takes empty braces, and a value for each");
        result.append(text.substr(start, at - start)).append(arguments.positional[next++].text());
        start = at + 2;
    }
    return result.append(text.substr(start));
}

std::optional<Value> text_method(const std::string& name, const MarkedText& text, const Arguments& arguments) {
    if (name == "strip") return stripped(text, arguments, true, true);
    if (name == "lstrip") return stripped(text, arguments, true, false);
    if (name == "rstrip") return stripped(text, arguments, false, true);
    if (name == "split") return split(text, arguments);
    if (name == "startswith") return Value(Value::Variant(has_end(text, arguments, true)));
    if (name == "endswith") return Value(Value::Variant(has_end(text, arguments, false)));
    if (name == "replace") return apply_filter("replace", Value(Value::Variant(text)), arguments);
    if (name == "title") return Value(Value::Variant(titled(text, [](char byte) { return !is_ascii_letter(byte); })));
    if (name == "upper" || name == "lower" || name == "capitalize")
        return apply_filter(name, Value(Value::Variant(text)), arguments);
    if (name == "format") return Value(Value::Variant(formatted(text, arguments)));
    if (name == "join") {
        Arguments separator;
        separator.positional.emplace_back(Value::Variant(text));
        return apply_filter("join", arguments.get(0, "iterable"), separator);
    }
    return std::nullopt;
}

std::optional<Value> dict_method(const std::string& name, Dict& dict, const Arguments& arguments) {
    if (name == "get") {
        const Value* found = dict.find(text_of(arguments, 0, "key", "get"));
        if (found != nullptr) return *found;
        const Value otherwise = arguments.get(1, "default");
        return otherwise.is_undefined() ? Value(Value::Variant(None{})) : otherwise;
    }
    if (name != "items" && name != "keys" && name != "values") return std::nullopt;
    List list;
    for (const auto& [key, value] : dict.entries) {
        if (name == "items")
            list.push_back(Value::list({Value(key), value}));
        else
            list.push_back(name == "keys" ? Value(key) : value);
    }
    return Value::list(std::move(list));
}

}  // namespace

std::optional<Value> apply_method(const std::string& name, const Value& value, const Arguments& arguments) {
    if (const auto* text = value.as<MarkedText>()) return text_method(name, *text, arguments);
    if (Dict* dict = value.as_dict()) return dict_method(name, *dict, arguments);
    return std::nullopt;
}

}  // namespace cairn::jinja
