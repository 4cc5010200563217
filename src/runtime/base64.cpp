#include "runtime/base64.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace cairn::runtime {
namespace {

constexpr std::string_view base64_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t bytes_of_line = 90;  // 120 characters
constexpr std::uint8_t no_letter = 64;

constexpr std::array<std::uint8_t, 256> base64_values = [] {
    std::array<std::uint8_t, 256> table{};
    table.fill(no_letter);
    for (std::size_t i = 0; i < base64_letters.size(); ++i)
        table[static_cast<unsigned char>(base64_letters[i])] = static_cast<std::uint8_t>(i);
    return table;
}();

}  // namespace

std::string to_base64(std::span<const std::byte> bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4 + bytes.size() / bytes_of_line + 1);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i)
            group = group << 8 | (i < count ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0);
        for (std::size_t i = 0; i < 4; ++i) text += i <= count ? base64_letters[group >> (18 - 6 * i) & 63] : '=';
        if ((at + 3) % bytes_of_line == 0 || at + 3 >= bytes.size()) text += '\n';
    }
    return text;
}

std::optional<std::vector<std::byte>> from_base64(std::string_view text) {
    std::vector<std::byte> bytes;
    bytes.reserve(text.size() / 4 * 3);
    std::uint32_t group = 0;
    std::size_t count = 0, padding = 0;
    bool is_finished = false;
    for (const char c : text) {
        if (c == '\n') continue;
        const bool is_padding = c == '=';
        const std::uint8_t value = base64_values[static_cast<unsigned char>(c)];
        if (is_finished || (is_padding ? count < 2 : value == no_letter || padding > 0)) return {};
        if (is_padding) ++padding;
        group = group << 6 | (is_padding ? 0U : value);
        if (++count < 4) continue;
        // The bits that padding leaves out must be zero: no two texts stand for the same bytes.
        if ((group & ((1U << 8 * padding) - 1)) != 0) return {};
        for (std::size_t i = 0; i < 3 - padding; ++i)
            bytes.push_back(static_cast<std::byte>(group >> (16 - 8 * i) & 0xFF));
        is_finished = padding > 0;
        count = group = 0;
    }
    if (count != 0) return {};
    return bytes;
}

}  // namespace cairn::runtime
