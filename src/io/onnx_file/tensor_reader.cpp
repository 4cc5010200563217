#include "io/onnx_file/tensor_reader.hpp"

#include "io/mapped_file/file_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace cairn::inline v0::onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as the file has them");

constexpr std::int64_t most_elements = std::int64_t{1} << 48;

/// The elements of a tensor as typed fields have them.
struct TypedFields {
    std::vector<float> floats;
    std::vector<double> doubles;
    std::vector<std::int64_t> i32, i64, u64;

    int count() const {
        return int{!floats.empty()} + int{!doubles.empty()} + int{!i32.empty()} + int{!i64.empty()} + int{!u64.empty()};
    }
};

/// The typed field that holds the elements of a type.
struct Storage {
    std::string_view field;  ///< empty: the type has no typed field
    int bytes = 0;           ///< of each number that are stored
};

Storage storage_of(ElementType type) {
    switch (type) {
        case ElementType::f32:
        case ElementType::complex64: return {"float_data", 4};
        case ElementType::f64:
        case ElementType::complex128: return {"double_data", 8};
        case ElementType::i64: return {"int64_data", 8};
        case ElementType::u32: return {"uint64_data", 4};
        case ElementType::u64: return {"uint64_data", 8};
        case ElementType::i32: return {"int32_data", 4};
        case ElementType::u16:
        case ElementType::i16:
        case ElementType::f16:
        case ElementType::bf16: return {"int32_data", 2};
        case ElementType::undefined:
        case ElementType::string:
        case ElementType::f6_e2m3:
        case ElementType::f6_e3m2: return {};
        // Bytes, and those of several elements of 4 or 2 bits.
        case ElementType::u8:
        case ElementType::i8:
        case ElementType::boolean:
        case ElementType::f8_e4m3fn:
        case ElementType::f8_e4m3fnuz:
        case ElementType::f8_e5m2:
        case ElementType::f8_e5m2fnuz:
        case ElementType::f8_e8m0:
        case ElementType::u4:
        case ElementType::i4:
        case ElementType::f4_e2m1:
        case ElementType::u2:
        case ElementType::i2: return {"int32_data", 1};
    }
    return {};
}

/// Appends the low bytes of integers. Each must be one of that many bytes, with or without sign.
void append_integers(const std::vector<std::int64_t>& numbers, const Storage& storage, const Place& place,
                     std::vector<std::byte>& to) {
    for (const std::int64_t number : numbers) {
        if (storage.bytes < 8) {
            const std::int64_t end = std::int64_t{1} << (8 * storage.bytes);
            if (number < -end / 2 || number >= end)
                place.fail(
                    fmt::format("{} holds {}, which is no number of {} bytes", storage.field, number, storage.bytes));
        }
        const auto* const bytes = reinterpret_cast<const std::byte*>(&number);
        to.insert(to.end(), bytes, bytes + storage.bytes);
    }
}

template <typename T>
void append_floats(const std::vector<T>& numbers, std::vector<std::byte>& to) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(numbers.data());
    to.insert(to.end(), bytes, bytes + numbers.size() * sizeof(T));
}

class TensorReader {
public:
    explicit TensorReader(const Place& place) : place_(place) {}

    TensorProto read(std::span<const std::byte> bytes) {
        MessageReader reader(bytes, place_);
        while (reader.next()) read_field(reader);
        finish();
        return std::move(tensor_);
    }

private:
    void read_field(MessageReader& reader) {
        switch (reader.field()) {
            case 1: return reader.integers("dims", tensor_.dims);
            case 2: tensor_.type = element_type_of(reader.integer("data_type"), place_); return;
            case 3: place_.fail("it is a segment of a tensor");
            case 4: return reader.floats("float_data", typed_.floats);
            case 5: return reader.integers("int32_data", typed_.i32);
            case 6: tensor_.strings.push_back(reader.text("string_data")); return;
            case 7: return reader.integers("int64_data", typed_.i64);
            case 8: tensor_.name = reader.text("name"); return;
            case 9:
                has_raw_ = true;
                tensor_.data = reader.bytes("raw_data");
                return;
            case 10: return reader.doubles("double_data", typed_.doubles);
            case 11: return reader.integers("uint64_data", typed_.u64);
            case 13: return read_entry(reader.bytes("external_data"), place_, tensor_.external);
            case 14: tensor_.is_external = is_external(reader.integer("data_location")); return;
            default: return reader.skip();
        }
    }

    bool is_external(std::int64_t location) const {
        if (location != 0 && location != 1) place_.fail(fmt::format("its data_location is {}", location));
        return location == 1;
    }

    void finish() {
        if (tensor_.type == ElementType::undefined) fail("has no data type");
        std::int64_t count = 1;
        bool is_empty = false;
        for (const std::int64_t size : tensor_.dims) {
            if (size < 0) fail(fmt::format("has a size of {}", size));
            is_empty = is_empty || size == 0;
        }
        for (const std::int64_t size : tensor_.dims) {
            if (!is_empty && size > most_elements / count) fail("has more elements than memory can hold");
            if (!is_empty) count *= size;
        }
        if (is_empty) count = 0;
        const int forms = int{has_raw_} + typed_.count() + int{!tensor_.strings.empty()} + int{tensor_.is_external};
        if (forms > 1) fail("has its elements in several forms");
        if (!tensor_.is_external && !tensor_.external.empty()) fail("has a place of external data and is not external");
        if (tensor_.is_external) return;
        if (tensor_.type == ElementType::string) return finish_strings(count);
        if (!tensor_.strings.empty()) fail(fmt::format("of {} holds strings", to_string(tensor_.type)));
        if (typed_.count() == 1) store_typed_fields();
        check_bytes(count);
    }

    void finish_strings(std::int64_t count) const {
        if (has_raw_ || typed_.count() > 0) fail("of STRING holds numbers");
        if (static_cast<std::int64_t>(tensor_.strings.size()) != count)
            fail(fmt::format("has {} strings for {} elements", tensor_.strings.size(), count));
    }

    void store_typed_fields() {
        const Storage storage = storage_of(tensor_.type);
        auto elements = std::make_shared<std::vector<std::byte>>();
        if (storage.field == "float_data" && !typed_.floats.empty())
            append_floats(typed_.floats, *elements);
        else if (storage.field == "double_data" && !typed_.doubles.empty())
            append_floats(typed_.doubles, *elements);
        else if (const std::vector<std::int64_t>* const numbers = integers_of(storage.field);
                 numbers != nullptr && !numbers->empty())
            append_integers(*numbers, storage, place_, *elements);
        else
            fail(fmt::format("of {} has its elements in a field of another type", to_string(tensor_.type)));
        tensor_.data = *elements;
        tensor_.owned = std::move(elements);
    }

    const std::vector<std::int64_t>* integers_of(std::string_view field) const {
        if (field == "int32_data") return &typed_.i32;
        if (field == "int64_data") return &typed_.i64;
        return field == "uint64_data" ? &typed_.u64 : nullptr;
    }

    void check_bytes(std::int64_t count) const {
        if (bits_of(tensor_.type) == 0) return;  // kept as it is: nothing here reads such elements
        if (tensor_.data.size() != tensor_.raw_bytes())
            fail(
                fmt::format("has {} bytes for {} elements of {}", tensor_.data.size(), count, to_string(tensor_.type)));
    }

    [[noreturn]] void fail(const std::string& what) const {
        place_.fail(fmt::format("tensor {} {}", files::printable(tensor_.name), what));
    }

    const Place& place_;
    TensorProto tensor_;
    TypedFields typed_;
    bool has_raw_ = false;
};

}  // namespace

std::int64_t TensorProto::elements() const noexcept {
    // Without elements the other sizes may be any, and their product overflow.
    if (std::ranges::find(dims, 0) != dims.end()) return 0;
    std::int64_t count = 1;
    for (const std::int64_t size : dims) count *= size;
    return count;
}

std::uint64_t TensorProto::raw_bytes() const noexcept {
    return static_cast<std::uint64_t>((elements() * bits_of(type) + 7) / 8);
}

TensorProto read_tensor(std::span<const std::byte> bytes, const Place& place) {
    return TensorReader(place).read(bytes);
}

std::string read_sparse_name(std::span<const std::byte> bytes, const Place& place) {
    MessageReader reader(bytes, place);
    std::string name;
    while (reader.next())
        if (reader.field() == 1)
            name = read_tensor(reader.bytes("values"), Place{{}, &place, "values"}).name;
        else
            reader.skip();
    return name;
}

ElementType element_type_of(std::int64_t number, const Place& place) {
    const std::optional<ElementType> type = element_type_of(number);
    if (!type.has_value()) place.fail(fmt::format("there is no data type {}", number));
    return *type;
}

void read_entry(std::span<const std::byte> bytes, const Place& place, std::map<std::string, std::string>& to) {
    MessageReader reader(bytes, place);
    std::string key, value;
    while (reader.next()) switch (reader.field()) {
            case 1: key = reader.text("key"); break;
            case 2: value = reader.text("value"); break;
            default: reader.skip();
        }
    if (!to.emplace(key, std::move(value)).second) place.fail("has two values for " + files::printable(key));
}

TensorProto parse_tensor(std::span<const std::byte> bytes, std::string_view file) {
    const Place whole{file};
    return read_tensor(bytes, whole);
}

}  // namespace cairn::inline v0::onnx
