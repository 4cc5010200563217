#include <algorithm>
#include <cmath>

#include "cairn/problem.hpp"
#include "graph/types/attribute_number.hpp"
#include "graph/types/text_cursor.hpp"

namespace cairn::inline v0 {

namespace {

const Attribute* find(const Attributes& attributes, std::string_view name) noexcept {
    const auto found = std::find_if(attributes.begin(), attributes.end(),
                                    [&](const Attribute& attribute) { return attribute.name == name; });
    return found == attributes.end() ? nullptr : &*found;
}

[[noreturn]] void refuse(std::string_view name, std::string_view wanted, std::string_view got) {
    throw Error(ErrorKind::argument, "attributes",
                "'" + std::string(name) + "' should be " + std::string(wanted) + "; " + std::string(got));
}

const Attribute& get(const Attributes& attributes, std::string_view name, std::string_view wanted) {
    const auto* attribute = find(attributes, name);
    if (attribute == nullptr) refuse(name, wanted, "there is no attribute of that name");
    return *attribute;
}

}  // namespace

double Attributes::number(std::string_view name) const {
    constexpr std::string_view wanted = "a number";
    const auto* value = std::get_if<double>(&get(*this, name, wanted).value);
    if (value == nullptr) refuse(name, wanted, "it is the list " + types::dims_text(dims(name), "(", ")"));
    return *value;
}

const std::vector<Dim>& Attributes::dims(std::string_view name) const {
    constexpr std::string_view wanted = "a list";
    const auto& attribute = get(*this, name, wanted);
    const auto* value = std::get_if<std::vector<Dim>>(&attribute.value);
    if (value == nullptr)
        refuse(name, wanted, "it is the number " + types::number_text(std::get<double>(attribute.value)));
    return *value;
}

std::int64_t Attributes::integer(std::string_view name) const {
    constexpr std::string_view wanted = "a list of one constant integer";
    const auto& attribute = get(*this, name, wanted);
    if (const auto* number = std::get_if<double>(&attribute.value)) {
        refuse(name, wanted, "it is the number " + types::number_text(*number));
    }
    const auto& list = std::get<std::vector<Dim>>(attribute.value);
    if (list.size() != 1 || !list[0].is_constant()) refuse(name, wanted, "it is " + types::dims_text(list, "(", ")"));
    return list[0].constant();
}

bool Attributes::has(std::string_view name) const noexcept { return find(*this, name) != nullptr; }

}  // namespace cairn::inline v0

namespace cairn::types {

double number_or(const Attributes& attributes, std::string_view name, double otherwise) {
    const Attribute* attribute = find(attributes, name);
    if (attribute == nullptr) return otherwise;
    if (const double* number = std::get_if<double>(&attribute->value)) return *number;
    return static_cast<double>(attributes.integer(name));
}

}  // namespace cairn::types
