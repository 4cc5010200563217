#pragma once

#include "cairn/version.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cairn::inline v0::text {

/// The piece that stands for a byte in SentencePiece vocabularies: 10 -> "<0x0A>".
std::string byte_piece(unsigned char byte);

/// The byte that a piece stands for; nothing for other pieces.
std::optional<unsigned char> byte_of_piece(std::string_view piece);

}  // namespace cairn::inline v0::text
