#include "io/weights/gguf_header.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <type_traits>
#include <utility>

#include "io/mapped_file/file_error.hpp"

namespace cairn::weights {

namespace {

/// Bytes of an element; 0 for strings and arrays, whose sizes differ.
std::uint64_t size_of_type(GgufValueType type) {
    switch (type) {
        case GgufValueType::u8:
        case GgufValueType::i8:
        case GgufValueType::boolean: return 1;
        case GgufValueType::u16:
        case GgufValueType::i16: return 2;
        case GgufValueType::u32:
        case GgufValueType::i32:
        case GgufValueType::f32: return 4;
        case GgufValueType::u64:
        case GgufValueType::i64:
        case GgufValueType::f64: return 8;
        case GgufValueType::string:
        case GgufValueType::array: return 0;
    }
    return 0;
}

constexpr std::uint32_t last_type = static_cast<std::uint32_t>(GgufValueType::f64);

template <typename T>
T number_at(std::span<const std::byte> bytes, std::uint64_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

/// Reads the head of a file from front to back, and never past its end.
class HeadReader {
public:
    HeadReader(std::span<const std::byte> bytes, std::string_view file) : bytes_(bytes), file_(file) {}

    GgufHeader read() {
        read_magic();
        // The least bytes of an entry: a count that the file cannot hold is refused before memory is allocated for it.
        constexpr std::uint64_t least_tensor = 8 + 4 + 4 + 8, least_key = 8 + 4 + 1;
        const std::uint64_t tensors = number<std::uint64_t>("the number of tensors"),
                            keys = number<std::uint64_t>("the number of keys");
        if (tensors > left() / least_tensor) fail(std::to_string(tensors) + " tensors are more than the file can list");
        if (keys > left() / least_key) fail(std::to_string(keys) + " keys are more than the file can hold");
        for (std::uint64_t i = 0; i < keys; ++i) read_value();
        for (std::uint64_t i = 0; i < tensors; ++i) read_tensor();
        place_tensors();
        return std::move(header_);
    }

private:
    [[noreturn]] void fail(const std::string& what) const { throw files::file_error(gguf_format, file_, what); }

    std::uint64_t left() const { return bytes_.size() - at_; }

    void need(std::uint64_t bytes, const std::string& what) const {
        if (bytes > left())
            fail(what + " needs " + std::to_string(bytes) + " bytes at " + std::to_string(at_) + ", but only " +
                 std::to_string(left()) + " follow in the file");
    }

    template <typename T>
    T number(const std::string& what) {
        need(sizeof(T), what);
        const T value = number_at<T>(bytes_, at_);
        at_ += sizeof(T);
        return value;
    }

    std::string_view string(const std::string& what) {
        const auto length = number<std::uint64_t>("the length of " + what);
        need(length, what);
        const std::string_view text(reinterpret_cast<const char*>(bytes_.data() + at_), length);
        at_ += length;
        return text;
    }

    void read_magic() {
        constexpr std::string_view magic = "GGUF";
        if (bytes_.size() < magic.size() || std::memcmp(bytes_.data(), magic.data(), magic.size()) != 0)
            fail("does not begin with 'GGUF'");
        at_ = magic.size();
        const auto version = number<std::uint32_t>("the version");
        constexpr std::uint32_t oldest = 2, newest = 3;
        if (const std::uint32_t swapped = __builtin_bswap32(version); swapped >= 1 && swapped <= newest)
            fail("is big-endian, which is not supported");
        if (version < oldest || version > newest)
            fail("has version " + std::to_string(version) + "; supported are 2 and 3");
    }

    GgufValueType value_type(const std::string& what) {
        const auto type = number<std::uint32_t>("the type of " + what);
        if (type > last_type) fail(what + " has the unknown type " + std::to_string(type));
        return static_cast<GgufValueType>(type);
    }

    void read_value() {
        const std::string key(string("a key"));
        const std::string what = "the key " + files::printable(key);
        if (key.empty()) fail("a key is empty");
        GgufValue value{.type = value_type(what)};
        if (value.type == GgufValueType::array) {
            value.is_array = true;
            value.type = value_type("the array of " + what);
            if (value.type == GgufValueType::array) fail(what + " is an array of arrays, which is not supported");
            value.count = number<std::uint64_t>("the length of the array of " + what);
        }
        value.begin = at_;
        skip(value, what);
        if (!header_.values.emplace(key, value).second) fail(what + " comes twice");
    }

    void skip(const GgufValue& value, const std::string& what) {
        if (value.type == GgufValueType::string) {
            if (value.count > left() / sizeof(std::uint64_t))
                fail(what + " has " + std::to_string(value.count) + " strings, more than the file can hold");
            for (std::uint64_t i = 0; i < value.count; ++i) string("a string of " + what);
            return;
        }
        std::uint64_t size = 0;
        if (__builtin_mul_overflow(value.count, size_of_type(value.type), &size))
            fail(what + ": the size of its " + std::to_string(value.count) + " elements overflows");
        need(size, what);
        if (value.type == GgufValueType::boolean)
            for (std::uint64_t i = 0; i < size; ++i)
                if (std::to_integer<unsigned>(bytes_[at_ + i]) > 1) fail(what + " has a bool that is neither 0 nor 1");
        at_ += size;
    }

    void read_tensor() {
        GgufTensor tensor;
        tensor.name = string("the name of a tensor");
        const std::string what = "tensor " + files::printable(tensor.name);
        if (tensor.name.empty()) fail("a tensor has no name");
        if (!names_.insert(tensor.name).second) fail(what + " comes twice");
        constexpr std::uint32_t most_axes = 4;
        const auto axes = number<std::uint32_t>("the number of axes of " + what);
        if (axes > most_axes) fail(what + " has " + std::to_string(axes) + " axes; at most 4 are allowed");
        std::uint64_t elements = 1;
        for (std::uint32_t axis = 0; axis < axes; ++axis) {
            const auto size = number<std::uint64_t>("a size of " + what);
            if (size > std::uint64_t{std::numeric_limits<std::int64_t>::max()} ||
                __builtin_mul_overflow(elements, size, &elements))
                fail(what + ": the size of its shape overflows");
            tensor.shape.insert(tensor.shape.begin(), static_cast<std::int64_t>(size));
        }
        const auto type = number<std::uint32_t>("the type of " + what);
        tensor.type = find_gguf_type(type);
        if (tensor.type == nullptr) fail(what + " has the unknown type " + std::to_string(type));
        const std::uint64_t row = tensor.shape.empty() ? 1 : static_cast<std::uint64_t>(tensor.shape.back());
        if (row % tensor.type->elements != 0)
            fail(what + ": its rows of " + std::to_string(row) + " elements are no whole blocks of " +
                 std::string(tensor.type->name) + ", which have " + std::to_string(tensor.type->elements));
        tensor.begin = number<std::uint64_t>("the offset of " + what);
        std::uint64_t size = 0;
        if (__builtin_mul_overflow(elements / tensor.type->elements, std::uint64_t{tensor.type->bytes}, &size) ||
            __builtin_add_overflow(tensor.begin, size, &tensor.end))
            fail(what + ": the end of its data overflows");
        header_.tensors.push_back(std::move(tensor));
    }

    std::uint64_t alignment() const {
        constexpr std::uint64_t usual = 32, least = 8;
        const auto found = header_.values.find("general.alignment");
        if (found == header_.values.end()) return usual;
        const GgufValue& value = found->second;
        if (value.type != GgufValueType::u32 || value.is_array)
            fail("'general.alignment' is " + describe(value) + ", not u32");
        const auto alignment = number_at<std::uint32_t>(bytes_, value.begin);
        if (alignment == 0 || alignment % least != 0)
            fail("'general.alignment' is " + std::to_string(alignment) + ", which is no multiple of 8");
        return alignment;
    }

    /// Makes offsets those from the start of the file, and checks what they span.
    void place_tensors() {
        const std::uint64_t unit = alignment(), padded = (at_ + unit - 1) / unit * unit,
                            start = std::min<std::uint64_t>(padded, bytes_.size()), size = bytes_.size() - start;
        for (GgufTensor& tensor : header_.tensors) {
            const std::string what = "tensor " + files::printable(tensor.name);
            if (tensor.begin % unit != 0)
                fail(what + ": its data begins at " + std::to_string(tensor.begin) + ", no multiple of the alignment " +
                     std::to_string(unit));
            if (tensor.end > size)
                fail(what + ": its data ends " + std::to_string(tensor.end) + " bytes after the list of tensors, but " +
                     std::to_string(size) + " follow");
            tensor.begin += start;
            tensor.end += start;
        }
        std::vector<const GgufTensor*> sorted;
        for (const GgufTensor& tensor : header_.tensors)
            if (tensor.begin != tensor.end) sorted.push_back(&tensor);
        std::sort(sorted.begin(), sorted.end(),
                  [](const GgufTensor* a, const GgufTensor* b) { return a->begin < b->begin; });
        for (std::size_t i = 1; i < sorted.size(); ++i)
            if (sorted[i]->begin < sorted[i - 1]->end)
                fail("the data of the tensors " + files::printable(sorted[i - 1]->name) + " and " +
                     files::printable(sorted[i]->name) + " overlaps");
    }

    std::span<const std::byte> bytes_;
    std::string_view file_;
    std::uint64_t at_ = 0;
    GgufHeader header_;
    std::set<std::string, std::less<>> names_;
};

std::string_view name_of(GgufValueType type) {
    switch (type) {
        case GgufValueType::u8: return "u8";
        case GgufValueType::i8: return "i8";
        case GgufValueType::u16: return "u16";
        case GgufValueType::i16: return "i16";
        case GgufValueType::u32: return "u32";
        case GgufValueType::i32: return "i32";
        case GgufValueType::f32: return "f32";
        case GgufValueType::boolean: return "bool";
        case GgufValueType::string: return "string";
        case GgufValueType::array: return "array";
        case GgufValueType::u64: return "u64";
        case GgufValueType::i64: return "i64";
        case GgufValueType::f64: return "f64";
    }
    return "";
}

/// Calls use(number) for each element of a value, with its C++ type; false for strings and booleans.
template <typename Use>
bool each_number(const GgufValue& value, std::span<const std::byte> bytes, const Use& use) {
    const auto each = [&]<typename T>(T) {
        for (std::uint64_t i = 0; i < value.count; ++i) use(number_at<T>(bytes, value.begin + i * sizeof(T)));
        return true;
    };
    switch (value.type) {
        case GgufValueType::u8: return each(std::uint8_t());
        case GgufValueType::i8: return each(std::int8_t());
        case GgufValueType::u16: return each(std::uint16_t());
        case GgufValueType::i16: return each(std::int16_t());
        case GgufValueType::u32: return each(std::uint32_t());
        case GgufValueType::i32: return each(std::int32_t());
        case GgufValueType::u64: return each(std::uint64_t());
        case GgufValueType::i64: return each(std::int64_t());
        case GgufValueType::f32: return each(float());
        case GgufValueType::f64: return each(double());
        case GgufValueType::boolean:
        case GgufValueType::string:
        case GgufValueType::array: return false;
    }
    return false;
}

}  // namespace

GgufHeader parse_gguf_header(std::span<const std::byte> bytes, std::string_view file) {
    return HeadReader(bytes, file).read();
}

std::string describe(const GgufValue& value) {
    const std::string name(name_of(value.type));
    return value.is_array ? "an array of " + name : name;
}

std::optional<std::vector<std::int64_t>> integers_of(const GgufValue& value, std::span<const std::byte> bytes) {
    std::vector<std::int64_t> found;
    if (value.type == GgufValueType::f32 || value.type == GgufValueType::f64) return {};
    bool fits = true;
    const bool are_numbers = each_number(value, bytes, [&](auto number) {
        if constexpr (std::is_integral_v<decltype(number)>) fits = fits && std::in_range<std::int64_t>(number);
        found.push_back(static_cast<std::int64_t>(number));
    });
    return are_numbers && fits ? std::optional(std::move(found)) : std::nullopt;
}

std::optional<std::vector<double>> numbers_of(const GgufValue& value, std::span<const std::byte> bytes) {
    std::vector<double> found;
    const bool are_numbers =
        each_number(value, bytes, [&](auto number) { found.push_back(static_cast<double>(number)); });
    return are_numbers ? std::optional(std::move(found)) : std::nullopt;
}

std::optional<std::vector<bool>> booleans_of(const GgufValue& value, std::span<const std::byte> bytes) {
    if (value.type != GgufValueType::boolean) return {};
    std::vector<bool> found;
    for (std::uint64_t i = 0; i < value.count; ++i)
        found.push_back(std::to_integer<unsigned>(bytes[value.begin + i]) != 0);
    return found;
}

std::optional<std::vector<std::string>> strings_of(const GgufValue& value, std::span<const std::byte> bytes) {
    if (value.type != GgufValueType::string) return {};
    std::vector<std::string> found;
    std::uint64_t at = value.begin;
    for (std::uint64_t i = 0; i < value.count; ++i) {
        const auto length = number_at<std::uint64_t>(bytes, at);
        found.emplace_back(reinterpret_cast<const char*>(bytes.data() + at + sizeof length), length);
        at += sizeof length + length;
    }
    return found;
}

}  // namespace cairn::weights
