#include "apps/compare/nested_numbers.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace cairn::compare {
namespace {

using nlohmann::json;

/// Reads the lists of one input.
class Reader {
public:
    Reader(DType dtype, std::string_view name, TensorElements& out) : dtype_(dtype), name_(name), out_(out) {}

    /// Reads `value`, whose axes are those of the shape from `axis`.
    void read(const json& value, std::size_t axis) {
        const bool is_first = out_.bytes.empty();
        if (!value.is_array()) {
            if (axis != out_.shape.size()) refuse("its lists differ in depth");
            return append(value);
        }
        const auto count = static_cast<std::int64_t>(value.size());
        if (axis == out_.shape.size()) {
            if (!is_first) refuse("its lists differ in depth");
            out_.shape.push_back(count);
        } else if (out_.shape[axis] != count) {
            refuse(fmt::format("its lists differ in length: {} and {}", out_.shape[axis], count));
        }
        for (const json& each : value) read(each, axis + 1);
    }

private:
    [[noreturn]] void refuse(const std::string& what) const {
        throw Error(ErrorKind::argument, "data", fmt::format("input \"{}\": {}", name_, what));
    }

    template <typename T>
    void append_as(T value) {
        const auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
        out_.bytes.insert(out_.bytes.end(), bytes.begin(), bytes.end());
    }

    template <typename T>
    void append_integer(const json& value) {
        if (!value.is_number_integer() && !value.is_boolean()) refuse(value.dump() + " is no integer");
        const auto number = value.is_boolean() ? std::int64_t{value.get<bool>()} : value.get<std::int64_t>();
        const bool is_huge = value.is_number_unsigned() && number < 0;
        if (is_huge || number < std::int64_t{std::numeric_limits<T>::min()} ||
            number > std::int64_t{std::numeric_limits<T>::max()})
            refuse(fmt::format("{} is not in the range of {}", value.dump(), to_string(dtype_)));
        append_as(static_cast<T>(number));
    }

    void append(const json& value) {
        if (!value.is_number() && !value.is_boolean()) refuse(value.dump() + " is no number");
        switch (dtype_) {
            case DType::f64: return append_as(number_of(value));
            case DType::f32: return append_as(static_cast<float>(number_of(value)));
            case DType::i64: return append_integer<std::int64_t>(value);
            case DType::i32: return append_integer<std::int32_t>(value);
            case DType::i8: return append_integer<std::int8_t>(value);
            case DType::u8: return append_integer<std::uint8_t>(value);
            case DType::boolean: return append_as(static_cast<std::uint8_t>(number_of(value) != 0));
            case DType::f16:
            case DType::bf16: break;
        }
        refuse(fmt::format("lists of numbers cannot hold {}", to_string(dtype_)));
    }

    static double number_of(const json& value) {
        return value.is_boolean() ? double(value.get<bool>()) : value.get<double>();
    }

    DType dtype_;
    std::string_view name_;
    TensorElements& out_;
};

template <typename T>
std::vector<double> numbers_as(const OutputView& view) {
    const std::span<const T> elements = view.as<T>();
    return {elements.begin(), elements.end()};
}

}  // namespace

TensorElements tensor_elements(const json& lists, DType dtype, std::string_view name) {
    TensorElements elements;
    Reader(dtype, name, elements).read(lists, 0);
    return elements;
}

TensorElements stacked_elements(const std::vector<const json*>& rows, DType dtype, std::string_view name) {
    TensorElements all;
    for (const json* row : rows) {
        TensorElements one = tensor_elements(*row, dtype, name);
        one.shape.insert(one.shape.begin(), static_cast<std::int64_t>(rows.size()));
        if (!all.shape.empty() && one.shape != all.shape)
            throw Error(ErrorKind::argument, "data",
                        fmt::format("input \"{}\": rows of one request differ in shape", name));
        all.shape = one.shape;
        all.bytes.insert(all.bytes.end(), one.bytes.begin(), one.bytes.end());
    }
    return all;
}

std::vector<double> numbers_of(const OutputView& view) {
    switch (view.dtype) {
        case DType::f64: return numbers_as<double>(view);
        case DType::f32: return numbers_as<float>(view);
        case DType::i64: return numbers_as<std::int64_t>(view);
        case DType::i32: return numbers_as<std::int32_t>(view);
        case DType::i8: return numbers_as<std::int8_t>(view);
        case DType::u8: return numbers_as<std::uint8_t>(view);
        case DType::boolean: return numbers_as<bool>(view);
        case DType::f16:
        case DType::bf16: break;
    }
    throw Error(ErrorKind::unsupported, "graph",
                fmt::format("an output of {} cannot be compared", to_string(view.dtype)));
}

}  // namespace cairn::compare
