#include "apps/jinja/operators.hpp"

#include "apps/jinja/fault.hpp"

#include <algorithm>
#include <cmath>

namespace cairn::jinja {

namespace {

std::optional<double> number_of(const Value& value) {
    if (const auto* boolean = value.as<bool>()) return *boolean ? 1 : 0;
    if (const auto* integer = value.as<std::int64_t>()) return static_cast<double>(*integer);
    if (const auto* real = value.as<double>()) return *real;
    return std::nullopt;
}

std::string shown(const Value& value) {
    const auto* undefined = value.as<Undefined>();
    return undefined != nullptr && !undefined->name.empty() ? "'" + undefined->name + "', which is undefined,"
                                                            : value.kind();
}

[[noreturn]] void refuse(const std::string& sign, const Value& left, const Value& right) {
    fault("'" + sign + "' does not take " + shown(left) + " and " + shown(right));
}

Value joined(const MarkedText& left, const MarkedText& right) {
    if (left.size() + right.size() > most_bytes) fault("a text is too long");
    MarkedText both = left;
    return Value::Variant(std::move(both.append(right)));
}

bool is_in(const Value& item, const Value& container) {
    if (const auto* text = container.as<MarkedText>()) {
        const auto* part = item.as<MarkedText>();
        if (part == nullptr) refuse("in", item, container);
        return text->bytes().find(part->bytes()) != std::string::npos;
    }
    if (const Dict* dict = container.as_dict()) {
        const auto* key = item.as<MarkedText>();
        return key != nullptr && std::any_of(dict->entries.begin(), dict->entries.end(),
                                             [&](const auto& entry) { return entry.first == key->bytes(); });
    }
    if (const List* list = container.as_list()) return std::find(list->begin(), list->end(), item) != list->end();
    if (container.is_undefined()) return false;
    refuse("in", item, container);
}

Value compared(const std::string& sign, const Value& left, const Value& right) {
    const auto *a = left.as<MarkedText>(), *b = right.as<MarkedText>();
    double order = 0;
    if (a != nullptr && b != nullptr) {
        order = a->bytes().compare(b->bytes());
    } else {
        const auto x = number_of(left), y = number_of(right);
        if (!x || !y) refuse(sign, left, right);
        order = *x - *y;
    }
    return Value::Variant(sign == "<" ? order < 0 : sign == "<=" ? order <= 0 : sign == ">" ? order > 0 : order >= 0);
}

Value calculated(const std::string& sign, const Value& left, const Value& right) {
    const auto x = number_of(left), y = number_of(right);
    if (!x || !y) refuse(sign, left, right);
    const bool integers = left.as<double>() == nullptr && right.as<double>() == nullptr;
    double result = 0;
    if (sign == "+") result = *x + *y;
    if (sign == "-") result = *x - *y;
    if (sign == "*") result = *x * *y;
    if ((sign == "/" || sign == "//" || sign == "%") && *y == 0) fault("a division by zero");
    if (sign == "/") return Value::Variant(*x / *y);
    if (sign == "//") result = std::floor(*x / *y);
    if (sign == "%") result = *x - *y * std::floor(*x / *y);
    if (!integers) return Value::Variant(result);
    if (std::abs(result) > 9e15) fault("a number is too large");
    return Value::Variant(static_cast<std::int64_t>(result));
}

/// An index as Python counts: from the end if negative; -1 outside.
std::ptrdiff_t index_in(std::int64_t index, std::size_t size) {
    const auto count = static_cast<std::int64_t>(size);
    if (index < 0) index += count;
    return index < 0 || index >= count ? -1 : static_cast<std::ptrdiff_t>(index);
}

template <typename Item>
std::vector<Item> sliced(const std::vector<Item>& items, const Value& start, const Value& stop, const Value& step) {
    const auto integer = [](const Value& value, std::int64_t otherwise) {
        if (value.is_undefined() || value.as<None>() != nullptr) return otherwise;
        const auto* number = value.as<std::int64_t>();
        if (number == nullptr) fault("a slice does not take " + shown(value));
        return *number;
    };
    const auto count = static_cast<std::int64_t>(items.size());
    const std::int64_t by = integer(step, 1);
    if (by == 0) fault("the step of a slice is 0");
    const auto clamped = [&](std::int64_t index) {
        const std::int64_t low = by > 0 ? 0 : -1, high = by > 0 ? count : count - 1;
        return std::clamp(index < 0 ? index + count : index, low, high);
    };
    std::int64_t from = start.is_undefined() ? (by > 0 ? 0 : count - 1) : clamped(integer(start, 0));
    const std::int64_t to = stop.is_undefined() ? (by > 0 ? count : -1) : clamped(integer(stop, 0));
    std::vector<Item> part;
    for (; by > 0 ? from < to : from > to; from += by) part.push_back(items[static_cast<std::size_t>(from)]);
    return part;
}

}  // namespace

Value apply_binary(const std::string& sign, const Value& left, const Value& right) {
    if (sign == "==") return Value::Variant(left == right);
    if (sign == "!=") return Value::Variant(!(left == right));
    if (sign == "in") return Value::Variant(is_in(left, right));
    if (sign == "not in") return Value::Variant(!is_in(left, right));
    if (sign == "~") return joined(left.text(), right.text());
    if (sign[0] == '<' || sign[0] == '>') return compared(sign, left, right);
    if (sign == "+") {
        if (const auto* a = left.as<MarkedText>(), *b = right.as<MarkedText>(); a != nullptr && b != nullptr)
            return joined(*a, *b);
        if (const List* a = left.as_list(), *b = right.as_list(); a != nullptr && b != nullptr) {
            List both = *a;
            both.insert(both.end(), b->begin(), b->end());
            return Value::list(std::move(both));
        }
    }
    if (const auto* text = left.as<MarkedText>(); text != nullptr && sign == "*") {
        const auto* count = right.as<std::int64_t>();
        if (count == nullptr) refuse(sign, left, right);
        if (*count > 0 && text->size() > most_bytes / static_cast<std::size_t>(*count)) fault("a text is too long");
        MarkedText repeated;
        for (std::int64_t i = 0; text->size() > 0 && i < *count; ++i) repeated.append(*text);
        return Value::Variant(std::move(repeated));
    }
    return calculated(sign, left, right);
}

Value item_of(const Value& container, const Value& key) {
    if (const Dict* dict = container.as_dict()) {
        const auto* name = key.as<MarkedText>();
        for (const auto& [each, value] : dict->entries)
            if (name != nullptr && each == name->bytes()) return value;
        return Value::Variant(Undefined{name == nullptr ? "" : name->bytes()});
    }
    const auto* index = key.as<std::int64_t>();
    if (const List* list = container.as_list(); list != nullptr && index != nullptr) {
        const std::ptrdiff_t at = index_in(*index, list->size());
        return at < 0 ? Value() : (*list)[static_cast<std::size_t>(at)];
    }
    if (const auto* text = container.as<MarkedText>(); text != nullptr && index != nullptr) {
        const auto all = characters(*text);
        const std::ptrdiff_t at = index_in(*index, all.size());
        return at < 0 ? Value() : Value::Variant(all[static_cast<std::size_t>(at)]);
    }
    if (container.is_undefined()) fault(shown(container) + " has no items");
    const auto* name = key.as<MarkedText>();
    return Value::Variant(Undefined{name == nullptr ? "" : name->bytes()});
}

Value slice_of(const Value& container, const Value& start, const Value& stop, const Value& step) {
    if (const List* list = container.as_list()) return Value::list(sliced(*list, start, stop, step));
    const auto* text = container.as<MarkedText>();
    if (text == nullptr) fault("a slice of " + shown(container) + " was asked for");
    MarkedText part;
    for (const MarkedText& character : sliced(characters(*text), start, stop, step)) part.append(character);
    return Value::Variant(std::move(part));
}

List items_of(const Value& container, const std::string& use) {
    if (const List* list = container.as_list()) return *list;
    List items;
    if (const Dict* dict = container.as_dict()) {
        for (const auto& [key, value] : dict->entries) items.emplace_back(key);
        return items;
    }
    if (const auto* text = container.as<MarkedText>()) {
        for (MarkedText& character : characters(*text)) items.emplace_back(Value::Variant(std::move(character)));
        return items;
    }
    if (container.is_undefined()) return items;
    fault(use + " does not take " + shown(container));
}

std::vector<MarkedText> characters(const MarkedText& text) {
    std::vector<MarkedText> all;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at + 1;
        while (end < text.size() && (static_cast<unsigned char>(text.bytes()[end]) & 0xC0) == 0x80) ++end;
        all.push_back(text.substr(at, end - at));
        at = end;
    }
    return all;
}

}  // namespace cairn::jinja
