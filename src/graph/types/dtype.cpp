#include <array>
#include <ostream>

#include "cairn/types.hpp"

namespace cairn::inline v0 {

namespace {

struct Row {
    std::string_view name;
    std::size_t bytes;
};

// In the order of the enumeration.
constexpr std::array<Row, 9> rows = {
    {{"f64", 8}, {"f32", 4}, {"f16", 2}, {"bf16", 2}, {"i64", 8}, {"i32", 4}, {"i8", 1}, {"u8", 1}, {"bool", 1}}};

const Row& row(DType dtype) noexcept { return rows[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::size_t size_of(DType dtype) noexcept { return row(dtype).bytes; }

bool is_float(DType dtype) noexcept { return dtype <= DType::bf16; }

bool is_widening(DType from, DType to) noexcept {
    return is_float(from) && is_float(to) && size_of(from) < size_of(to);
}

bool is_integer(DType dtype) noexcept { return dtype >= DType::i64 && dtype <= DType::u8; }

std::string_view to_string(DType dtype) noexcept { return row(dtype).name; }

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << to_string(dtype); }

std::optional<DType> parse_dtype(std::string_view name) noexcept {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].name == name) return static_cast<DType>(i);
    }
    return std::nullopt;
}

}  // namespace cairn::inline v0
