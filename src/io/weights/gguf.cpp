#include "cairn/gguf.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <iterator>
#include <utility>

#include "io/mapped_file/fault_list.hpp"
#include "io/mapped_file/file_error.hpp"
#include "io/weights/gguf_header.hpp"
#include "io/mapped_file/mapped_file.hpp"
#include "io/suggest_names/suggest_names.hpp"
#include "io/weights/tensor_table.hpp"

namespace cairn::inline v0 {

using files::file_error;
using weights::gguf_format;
using weights::GgufHeader;
using weights::GgufValue;
using files::MappedFile;
using files::printable;

namespace {

constexpr std::string_view split_count_key = "split.count", split_number_key = "split.no",
                           split_tensors_key = "split.tensors.count";

struct Part {
    std::unique_ptr<files::MappedFile> file;
    GgufHeader header;

    explicit Part(const std::filesystem::path& path)
        : file(std::make_unique<files::MappedFile>(path, gguf_format)),
          header(weights::parse_gguf_header(file->bytes(), file->name())) {}

    /// The integer of a key; 0 if there is none.
    std::int64_t integer(std::string_view key) const {
        const auto found = header.values.find(key);
        if (found == header.values.end()) return 0;
        const auto integers = weights::integers_of(found->second, file->bytes());
        if (!integers || found->second.is_array)
            throw files::file_error(gguf_format, file->name(),
                             files::printable(key) + " is " + weights::describe(found->second) + ", not an integer");
        return integers->front();
    }
};

/// The path of part `number`, from 0, of the model of which `path` is part `own` of `count`.
std::filesystem::path path_of_part(const std::filesystem::path& path, std::int64_t own, std::int64_t number,
                                   std::int64_t count) {
    const auto ending = [&](std::int64_t part) {
        char text[64];
        std::snprintf(text, sizeof text, "-%05lld-of-%05lld.gguf", static_cast<long long>(part + 1),
                      static_cast<long long>(count));
        return std::string(text);
    };
    std::string name = path.filename().string();
    const std::string own_ending = ending(own);
    if (!name.ends_with(own_ending))
        throw files::file_error(gguf_format, path.string(),
                         "is part " + std::to_string(own + 1) + " of " + std::to_string(count) +
                             " of a model, so its name should end in " + own_ending);
    name.replace(name.size() - own_ending.size(), own_ending.size(), ending(number));
    return path.parent_path() / name;
}

std::vector<Part> open_parts(const std::filesystem::path& path) {
    constexpr std::int64_t most_parts = 99'999;
    std::vector<Part> parts;
    parts.emplace_back(path);
    const std::int64_t count = parts[0].integer(split_count_key), own = parts[0].integer(split_number_key);
    if (count <= 1) return parts;
    const std::string file = parts[0].file->name();
    if (count > most_parts || own < 0 || own >= count)
        throw files::file_error(gguf_format, file,
                         "says that it is part " + std::to_string(own) + " (from 0) of " + std::to_string(count));
    files::FaultList missing;
    for (std::int64_t number = 0; number < count; ++number) {
        const std::filesystem::path other = path_of_part(path, own, number, count);
        std::error_code ignored;
        if (!std::filesystem::exists(other, ignored))
            missing.add("the file " + files::printable(other.filename().string()) + " is missing");
    }
    missing.throw_if_any(gguf_format, file);
    for (std::int64_t number = 0; number < count; ++number) {
        if (number == own) continue;
        Part part(path_of_part(path, own, number, count));
        if (part.integer(split_count_key) != count || part.integer(split_number_key) != number)
            throw files::file_error(gguf_format, part.file->name(),
                             "says that it is part " + std::to_string(part.integer(split_number_key)) +
                                 " (from 0) of " + std::to_string(part.integer(split_count_key)) +
                                 ", but its name says " + std::to_string(number) + " of " + std::to_string(count));
        parts.insert(number < own ? parts.end() - 1 : parts.end(), std::move(part));
    }
    return parts;
}

weights::StoredTensor stored_in_part(const weights::GgufTensor& tensor, std::size_t part) {
    weights::StoredTensor made{tensor.name, tensor.type->name, tensor.type->dtype, tensor.shape,
                               part,        tensor.begin,      tensor.end};
    if (tensor.type->elements > 1) {
        made.shape.back() /= tensor.type->elements;
        made.shape.push_back(tensor.type->bytes);
    }
    return made;
}

void check_names(const std::vector<Part>& parts, std::int64_t wanted) {
    std::map<std::string_view, std::size_t> found;
    for (std::size_t i = 0; i < parts.size(); ++i)
        for (const weights::GgufTensor& tensor : parts[i].header.tensors)
            if (const auto [other, is_new] = found.try_emplace(tensor.name, i); !is_new)
                throw files::file_error(gguf_format, parts[i].file->name(),
                                 "the tensor " + files::printable(tensor.name) + " is in " +
                                     files::printable(parts[other->second].file->name()) + " too");
    if (wanted > 0 && static_cast<std::int64_t>(found.size()) != wanted)
        throw files::file_error(gguf_format, parts[0].file->name(),
                         "the parts have " + std::to_string(found.size()) + " tensors; " +
                             std::string(split_tensors_key) + " is " + std::to_string(wanted));
}

}  // namespace

struct Gguf::State {
    std::shared_ptr<const weights::TensorTable> table;
    std::vector<Tensor> tensors;  // sorted by name
    std::map<std::string, GgufValue, std::less<>> values;
    std::span<const std::byte> bytes;  // of the file with the values
    std::string file;                  // its name

    const GgufValue& value(std::string_view key) const;
    [[noreturn]] void throw_type(std::string_view key, const GgufValue& value, std::string_view wanted) const {
        throw files::file_error(gguf_format, file,
                         files::printable(key) + " is " + weights::describe(value) + ", not " + std::string(wanted));
    }
    /// The single element of a value.
    template <typename T>
    T single(std::string_view key, std::optional<std::vector<T>> (*read)(const GgufValue&, std::span<const std::byte>),
             std::string_view wanted) const {
        const GgufValue& found = value(key);
        const auto elements = found.is_array ? std::nullopt : read(found, bytes);
        if (!elements) throw_type(key, found, wanted);
        return elements->front();
    }
    template <typename T>
    std::vector<T> array(std::string_view key,
                         std::optional<std::vector<T>> (*read)(const GgufValue&, std::span<const std::byte>),
                         std::string_view wanted) const {
        const GgufValue& found = value(key);
        auto elements = found.is_array ? read(found, bytes) : std::nullopt;
        if (!elements) throw_type(key, found, wanted);
        return std::move(*elements);
    }
};

const GgufValue& Gguf::State::value(std::string_view key) const {
    const auto found = values.find(key);
    if (found != values.end()) return found->second;
    std::vector<std::string_view> keys;
    for (const auto& [known, value] : values) keys.push_back(known);
    throw files::file_error(gguf_format, file,
                     "there is no key " + files::printable(key) + ", " + files::suggestion_text(key, keys, "keys"));
}

Gguf::Gguf(std::shared_ptr<const State> state) : state_(std::move(state)) {}
Gguf::Gguf(Gguf&&) noexcept = default;
Gguf& Gguf::operator=(Gguf&&) noexcept = default;
Gguf::~Gguf() = default;

Gguf Gguf::open(const std::filesystem::path& path) {
    std::vector<Part> parts = open_parts(path);
    check_names(parts, parts[0].integer(split_tensors_key));
    auto state = std::make_shared<State>();
    std::vector<weights::StoredTensor> listed;
    std::vector<std::unique_ptr<files::MappedFile>> files;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        for (const weights::GgufTensor& tensor : parts[i].header.tensors) {
            listed.push_back(stored_in_part(tensor, i));
            state->tensors.push_back({tensor.name, std::string(tensor.type->name), tensor.shape});
        }
        if (i == 0) {
            state->values = std::move(parts[0].header.values);
            state->bytes = parts[0].file->bytes();
            state->file = parts[0].file->name();
        }
        files.push_back(std::move(parts[i].file));
    }
    std::sort(state->tensors.begin(), state->tensors.end(),
              [](const Tensor& a, const Tensor& b) { return a.name < b.name; });
    state->table = std::make_shared<weights::TensorTable>(gguf_format, path, std::move(files), std::move(listed));
    return Gguf(std::move(state));
}

const Gguf::State& Gguf::state() const {
    if (state_ == nullptr) throw Error(ErrorKind::argument, gguf_format, "the object is moved-from");
    return *state_;
}

const std::filesystem::path& Gguf::path() const { return state().table->path(); }
const std::vector<Gguf::Tensor>& Gguf::tensors() const { return state().tensors; }
bool Gguf::contains(std::string_view name) const { return state().table->find(name) != nullptr; }
std::vector<std::string> Gguf::nearest(std::string_view name, std::size_t max_count) const {
    return state().table->nearest(name, max_count);
}
InputView Gguf::view(std::string_view name) const { return state().table->view(name); }
WeightSource Gguf::source() const { return weights::TensorTable::source(state().table); }
std::string Gguf::fingerprint() const { return state().table->fingerprint(); }

std::vector<std::string> Gguf::keys() const {
    std::vector<std::string> keys;
    for (const auto& [key, value] : state().values) keys.push_back(key);
    return keys;
}
bool Gguf::has(std::string_view key) const { return state().values.contains(key); }

std::int64_t Gguf::integer(std::string_view key) const {
    return state().single(key, weights::integers_of, "an integer of at most 64 bits with sign");
}
double Gguf::number(std::string_view key) const { return state().single(key, weights::numbers_of, "a number"); }
bool Gguf::flag(std::string_view key) const { return state().single(key, weights::booleans_of, "a bool"); }
std::string Gguf::text(std::string_view key) const { return state().single(key, weights::strings_of, "a string"); }
std::vector<std::int64_t> Gguf::integers(std::string_view key) const {
    return state().array(key, weights::integers_of, "an array of integers of at most 64 bits with sign");
}
std::vector<double> Gguf::numbers(std::string_view key) const {
    return state().array(key, weights::numbers_of, "an array of numbers");
}
std::vector<std::string> Gguf::texts(std::string_view key) const {
    return state().array(key, weights::strings_of, "an array of strings");
}

}  // namespace cairn::inline v0
