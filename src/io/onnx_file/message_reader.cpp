#include "io/onnx_file/message_reader.hpp"

#include "io/mapped_file/file_error.hpp"

#include <fmt/format.h>

#include <utility>

namespace cairn::inline v0::onnx {
namespace {

using protozero::pbf_wire_type;

/// Calls `read`; protozero's exceptions become faults of the place.
template <typename F>
decltype(auto) checked(const Place& place, F read) {
    std::string what;
    try {
        return read();
    } catch (const protozero::exception& fault) { what = fault.what(); }
    place.fail("no such message: " + what);
}

std::string_view name_of(pbf_wire_type type) {
    switch (type) {
        case pbf_wire_type::varint: return "an integer";
        case pbf_wire_type::fixed64: return "8 bytes";
        case pbf_wire_type::fixed32: return "4 bytes";
        case pbf_wire_type::length_delimited: return "a string or message";
        case pbf_wire_type::unknown: break;
    }
    return "of an unknown type";
}

}  // namespace

std::string Place::text() const {
    if (outer == nullptr) return {};
    std::string text = outer->text();
    if (!text.empty()) text += '.';
    text += field;
    if (index >= 0) text += fmt::format("[{}]", index);
    return text;
}

void Place::fail(std::string_view what) const {
    const std::string where = text();
    std::string_view name = file;
    for (const Place* place = this; place != nullptr; place = place->outer) name = place->file;
    throw files::file_error("onnx", name, where.empty() ? std::string(what) : where + ": " + std::string(what));
}

MessageReader::MessageReader(std::span<const std::byte> bytes, const Place& place)
    : place_(place), reader_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}

bool MessageReader::next() {
    return checked(place_, [&] { return reader_.next(); });
}

void MessageReader::require(std::string_view name, pbf_wire_type type) const {
    if (reader_.wire_type() == type) return;
    place_.fail(fmt::format("{} is {}, not {}", name, name_of(reader_.wire_type()), name_of(type)));
}

std::int64_t MessageReader::integer(std::string_view name) {
    require(name, pbf_wire_type::varint);
    return checked(place_, [&] { return reader_.get_int64(); });
}

float MessageReader::float32(std::string_view name) {
    require(name, pbf_wire_type::fixed32);
    return checked(place_, [&] { return reader_.get_float(); });
}

std::span<const std::byte> MessageReader::bytes(std::string_view name) {
    require(name, pbf_wire_type::length_delimited);
    const protozero::data_view view = checked(place_, [&] { return reader_.get_view(); });
    return {reinterpret_cast<const std::byte*>(view.data()), view.size()};
}

std::string MessageReader::text(std::string_view name) {
    const std::span<const std::byte> text = bytes(name);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
}

template <typename T, typename Single, typename Packed>
void MessageReader::numbers(std::string_view name, pbf_wire_type type, std::vector<T>& to, Single single,
                            Packed packed) {
    if (reader_.wire_type() != pbf_wire_type::length_delimited) {
        require(name, type);
        to.push_back(checked(place_, single));
        return;
    }
    checked(place_, [&] {
        const auto range = packed();
        to.insert(to.end(), range.begin(), range.end());
    });
}

void MessageReader::integers(std::string_view name, std::vector<std::int64_t>& to) {
    numbers(
        name, pbf_wire_type::varint, to, [&] { return reader_.get_int64(); },
        [&] { return reader_.get_packed_int64(); });
}

void MessageReader::floats(std::string_view name, std::vector<float>& to) {
    numbers(
        name, pbf_wire_type::fixed32, to, [&] { return reader_.get_float(); },
        [&] { return reader_.get_packed_float(); });
}

void MessageReader::doubles(std::string_view name, std::vector<double>& to) {
    numbers(
        name, pbf_wire_type::fixed64, to, [&] { return reader_.get_double(); },
        [&] { return reader_.get_packed_double(); });
}

void MessageReader::skip() {
    checked(place_, [&] { reader_.skip(); });
}

}  // namespace cairn::inline v0::onnx
