#include "apps/text/byte_piece.hpp"

namespace cairn::inline v0::text {

namespace {

constexpr std::string_view digits = "0123456789ABCDEF";

}  // namespace

std::string byte_piece(unsigned char byte) { return std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">"; }

std::optional<unsigned char> byte_of_piece(std::string_view piece) {
    if (piece.size() != 6 || !piece.starts_with("<0x")) return std::nullopt;
    const auto byte = static_cast<unsigned char>(digits.find(piece[3]) * 16 + digits.find(piece[4]));
    return piece == byte_piece(byte) ? std::optional(byte) : std::nullopt;
}

}  // namespace cairn::inline v0::text
