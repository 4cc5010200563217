#include "apps/cli/import_options.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace cairn::cli {
namespace {

std::optional<std::int64_t> integer_of(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    return fault == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<double> number_of(std::string_view text) {
    double value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    return fault == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// Splits `name=value` at the last `=`, since names may contain one.
std::pair<std::string, std::string> assignment_of(const std::string& text) {
    const std::size_t at = text.rfind('=');
    if (at == std::string::npos || at == 0)
        throw Error(ErrorKind::argument, "import", fmt::format("expected NAME=VALUE, got {}", text));
    return {text.substr(0, at), text.substr(at + 1)};
}

/// The bounds in `224`, `1..512` or `32..1280/32`.
std::optional<onnx::SizeBounds> bounds_of(const std::string& given) {
    const std::string_view all = given;
    const std::size_t slash = std::min(all.find('/'), all.size());
    const std::string_view range = all.substr(0, slash);
    const std::size_t dots = range.find("..");
    const auto low = integer_of(range.substr(0, dots));
    const auto high = dots == std::string_view::npos ? low : integer_of(range.substr(dots + 2));
    const auto multiple = slash == all.size() ? std::optional<std::int64_t>(1) : integer_of(all.substr(slash + 1));
    if (!low.has_value() || !high.has_value() || !multiple.has_value()) return std::nullopt;
    return onnx::SizeBounds{*low, *high, *multiple};
}

void add_size(const std::string& text, onnx::ImportOptions& options) {
    const auto [name, given] = assignment_of(text);
    const std::optional<onnx::SizeBounds> bounds = bounds_of(given);
    const bool starts_as_number = given.empty() || (given[0] >= '0' && given[0] <= '9') || given[0] == '-';
    if (!bounds.has_value() && starts_as_number)
        throw Error(ErrorKind::argument, "import",
                    fmt::format("expected a size, its bounds, multiples or the name of an equal size, as N=1, N=1..64, "
                                "H=32..1280/32 or M=N, got {}",
                                text));
    const bool is_new = bounds.has_value() ? options.sizes.emplace(name, *bounds).second
                                           : options.equal_sizes.emplace(name, given).second;
    if (!is_new) throw Error(ErrorKind::argument, "import", fmt::format("{} is given twice", text));
}

std::vector<std::string_view> parts_of(std::string_view list) {
    std::vector<std::string_view> parts;
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        parts.push_back(list.substr(0, comma));
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return parts;
}

template <typename T>
void append(std::vector<std::byte>& to, T value) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    to.insert(to.end(), bytes, bytes + sizeof(T));
}

/// Appends an element; false if the dtype cannot hold it.
bool append_element(std::vector<std::byte>& to, DType dtype, std::string_view text) {
    if (dtype == DType::f32 || dtype == DType::f64) {
        const auto value = number_of(text);
        if (!value.has_value()) return false;
        dtype == DType::f32 ? append(to, static_cast<float>(*value)) : append(to, *value);
        return true;
    }
    const auto value = text == "true" ? 1 : text == "false" ? 0 : integer_of(text);
    if (!value.has_value()) return false;
    const auto within = [&](std::int64_t low, std::int64_t high) { return *value >= low && *value <= high; };
    switch (dtype) {
        case DType::i64: append(to, *value); return true;
        case DType::i32: append(to, static_cast<std::int32_t>(*value)); return within(INT32_MIN, INT32_MAX);
        case DType::i8: append(to, static_cast<std::int8_t>(*value)); return within(-128, 127);
        case DType::u8: append(to, static_cast<std::uint8_t>(*value)); return within(0, 255);
        case DType::boolean: append(to, static_cast<std::uint8_t>(*value)); return within(0, 1);
        default: return false;
    }
}

}  // namespace

void add_import_options(CLI::App& app, ImportTexts& texts) {
    app.add_option("--size", texts.sizes,
                   "a named size of the inputs, its bounds, multiples, or an equal size; 1..4096 when not given")
        ->option_text("H=32..1280/32")
        ->allow_extra_args(false);
    app.add_option("--value", texts.values, "an input that is the same in every run: a number, or a list")
        ->option_text("sr=16000")
        ->allow_extra_args(false);
}

ImportValues::ImportValues(const ImportTexts& texts, const onnx::Model& model) {
    for (const std::string& text : texts.sizes) add_size(text, options_);
    for (const std::string& text : texts.values) add_value(text, model);
}

void ImportValues::add_value(const std::string& text, const onnx::Model& model) {
    const auto [name, list] = assignment_of(text);
    const auto port = std::ranges::find(model.inputs(), name, &onnx::Port::name);
    if (port == model.inputs().end())
        throw Error(ErrorKind::argument, "import", fmt::format("the model has no input {}", name));
    if (!port->dtype.has_value() || port->shape.size() > 1)
        throw Error(ErrorKind::argument, "import",
                    fmt::format("the value of {} cannot be given here: it is neither a number nor a list", name));
    const std::vector<std::string_view> parts = parts_of(list);
    std::vector<std::byte>& elements = elements_.emplace_back();
    for (const std::string_view part : parts)
        if (!append_element(elements, *port->dtype, part))
            throw Error(ErrorKind::argument, "import",
                        fmt::format("{} is no element of {} for the input {}", part, to_string(*port->dtype), name));
    InputView view{.data = elements.data(), .dtype = *port->dtype};
    if (port->has_shape && port->shape.empty()) {
        if (parts.size() != 1)
            throw Error(ErrorKind::argument, "import", fmt::format("the input {} is a single number", name));
    } else {
        view.shape = {static_cast<std::int64_t>(parts.size())};
    }
    if (!options_.values.emplace(name, view).second)
        throw Error(ErrorKind::argument, "import", fmt::format("{} is given twice", name));
}

}  // namespace cairn::cli
