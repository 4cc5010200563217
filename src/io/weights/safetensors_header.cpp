#include "io/weights/safetensors_header.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "io/json_reader/sax_parser.hpp"
#include "io/mapped_file/file_error.hpp"

namespace cairn::weights {

namespace {

constexpr std::uint64_t length_bytes = 8;

/// Parses the header: `{name: {"dtype": text, "shape": [n...], "data_offsets": [n, n]}, "__metadata__": {text: text}}`.
class HeaderReader final : public json_reader::SaxHandler {
public:
    explicit HeaderReader(std::string_view file) : file_(file) {}

    SafetensorsHeader take() { return std::move(header_); }

    void begin_object() override {
        if (depth_ == 1 && name_ != metadata_key) {
            header_.tensors.emplace_back().name = name_;
            fields_.clear();
        }
        if (depth_ >= 2) refuse_value();
        ++depth_;
    }

    void end_object() override {
        if (--depth_ == 1 && name_ != metadata_key) finish_tensor();
    }

    void begin_array() override {
        const bool expects_array = name_ != metadata_key && (field_ == "shape" || field_ == "data_offsets");
        if (depth_ != 2 || !expects_array) refuse_value();
        ++depth_;
    }

    void end_array() override { --depth_; }

    void key(std::string name) override {
        if (depth_ == 1) {
            field_.clear();
            name_ = std::move(name);
            if (!names_.insert(name_).second)
                throw files::file_error(safetensors_format, file_,
                                 "the name " + files::printable(name_) + " comes twice in the header");
            return;
        }
        field_ = std::move(name);
        if (name_ == metadata_key) {
            if (!header_.metadata.try_emplace(field_).second) fail("comes twice");
            return;
        }
        if (field_ != "dtype" && field_ != "shape" && field_ != "data_offsets") fail("is no field of a tensor");
        if (!fields_.insert(field_).second) fail("comes twice");
    }

    void value(json_reader::JsonValue value) override {
        const auto* natural = std::get_if<std::uint64_t>(&value);
        auto* text = std::get_if<std::string>(&value);
        if (depth_ == 3 && natural != nullptr) {
            add_number(*natural);
        } else if (depth_ == 2 && text != nullptr && name_ == metadata_key) {
            header_.metadata[field_] = std::move(*text);
        } else if (depth_ == 2 && text != nullptr && field_ == "dtype") {
            auto& tensor = header_.tensors.back();
            tensor.dtype = find_safetensors_dtype(*text);
            if (tensor.dtype == nullptr) fail("is the unknown dtype " + files::printable(*text));
        } else {
            refuse_value();
        }
    }

    [[noreturn]] void fault(const std::string& what) override {
        throw files::file_error(safetensors_format, file_, "the header " + what);
    }

private:
    static constexpr std::string_view metadata_key = "__metadata__";

    // Reports a value of another kind than expected here.
    [[noreturn]] void refuse_value() const {
        if (depth_ == 3) fail("should hold integers from 0 to 2^64 - 1 only");
        if (depth_ < 2) fail("should be an object");
        fail(name_ == metadata_key || field_ == "dtype" ? "should be a string" : "should be an array");
    }

    void add_number(std::uint64_t number) {
        auto& tensor = header_.tensors.back();
        if (field_ == "shape") {
            if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
                fail("holds " + std::to_string(number) + ", more than a size can be");
            }
            tensor.shape.push_back(static_cast<std::int64_t>(number));
            return;
        }
        if (++offsets_ > 2) fail("should hold two numbers; it holds more");
        (offsets_ == 1 ? tensor.begin : tensor.end) = number;
    }

    void finish_tensor() {
        field_.clear();
        for (const auto* wanted : {"dtype", "shape", "data_offsets"}) {
            if (!fields_.contains(wanted)) fail(std::string("has no ") + wanted);
        }
        if (offsets_ != 2) fail("should have two numbers in data_offsets; it has " + std::to_string(offsets_));
        offsets_ = 0;
    }

    [[noreturn]] void fail(const std::string& what) const {
        const std::string of = name_ == metadata_key ? files::printable(name_) : "tensor " + files::printable(name_);
        throw files::file_error(safetensors_format, file_,
                         field_.empty() ? of + " " + what : of + ": " + files::printable(field_) + " " + what);
    }

    std::string_view file_;
    SafetensorsHeader header_;
    int depth_ = 0;
    std::string name_, field_;
    std::unordered_set<std::string> names_;
    std::set<std::string, std::less<>> fields_;
    std::size_t offsets_ = 0;
};

std::uint64_t read_length(std::span<const std::byte> bytes, std::string_view file) {
    if (bytes.size() < length_bytes) {
        throw files::file_error(safetensors_format, file,
                         "a safetensors file begins with 8 length bytes; this one has " + std::to_string(bytes.size()) +
                             " bytes in all");
    }
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < length_bytes; ++i) length |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    if (length > max_header_bytes) {
        throw files::file_error(safetensors_format, file,
                         "the header's length is " + std::to_string(length) + " bytes; at most 100000000 are allowed");
    }
    if (length > bytes.size() - length_bytes) {
        throw files::file_error(safetensors_format, file,
                         "the header's length is " + std::to_string(length) + " bytes, but only " +
                             std::to_string(bytes.size() - length_bytes) + " follow in the file");
    }
    return length;
}

// shape x dtype in bytes.
std::uint64_t byte_count(const TensorInfo& tensor, std::string_view file) {
    std::uint64_t bits = 1;
    bool overflow = false;
    for (const auto size : tensor.shape) {
        overflow = overflow || __builtin_mul_overflow(bits, static_cast<std::uint64_t>(size), &bits);
    }
    overflow = overflow || __builtin_mul_overflow(bits, std::uint64_t{tensor.dtype->bits}, &bits);
    if (overflow)
        throw files::file_error(safetensors_format, file,
                         "tensor " + files::printable(tensor.name) + ": the size of its shape overflows");
    if (bits % 8 != 0) {
        throw files::file_error(safetensors_format, file,
                         "tensor " + files::printable(tensor.name) + ": its " + std::to_string(bits) +
                             " bits are no whole number of bytes");
    }
    return bits / 8;
}

void check_spans(std::vector<TensorInfo>& tensors, std::uint64_t available, std::string_view file) {
    std::sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
        return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
    });
    std::uint64_t reached = 0;
    for (const auto& tensor : tensors) {
        const std::string of = "tensor " + files::printable(tensor.name) + ": ";
        if (tensor.begin != reached) {
            throw files::file_error(safetensors_format, file,
                             of + "its data begins at " + std::to_string(tensor.begin) +
                                 "; without hole or overlap it would begin at " + std::to_string(reached));
        }
        if (tensor.end < tensor.begin) {
            throw files::file_error(safetensors_format, file,
                             of + "its data ends at " + std::to_string(tensor.end) + ", before it begins at " +
                                 std::to_string(tensor.begin));
        }
        const auto bytes = byte_count(tensor, file);
        if (tensor.end - tensor.begin != bytes) {
            throw files::file_error(safetensors_format, file,
                             of + "its shape needs " + std::to_string(bytes) + " bytes; its offsets span " +
                                 std::to_string(tensor.end - tensor.begin));
        }
        reached = tensor.end;
    }
    if (reached != available) {
        throw files::file_error(safetensors_format, file,
                         "the tensors take " + std::to_string(reached) + " bytes after the header, but the file has " +
                             std::to_string(available));
    }
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::span<const std::byte> bytes, std::string_view file) {
    const std::uint64_t length = read_length(bytes, file);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data() + length_bytes), length);
    if (!text.starts_with('{')) throw files::file_error(safetensors_format, file, "the header should begin with '{'");
    HeaderReader reader(file);
    parse_json_events(text, reader);
    SafetensorsHeader header = reader.take();
    const std::uint64_t start = length_bytes + length;
    check_spans(header.tensors, bytes.size() - start, file);
    for (auto& tensor : header.tensors) {
        tensor.begin += start;
        tensor.end += start;
    }
    return header;
}

}  // namespace cairn::weights
