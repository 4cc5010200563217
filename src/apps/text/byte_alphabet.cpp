#include "apps/text/byte_alphabet.hpp"

#include "apps/text/unicode.hpp"

namespace cairn::inline v0::text {

ByteAlphabet::ByteAlphabet() {
    bytes_.fill(-1);
    char32_t next = 256;
    for (unsigned byte = 0; byte < 256; ++byte) {
        const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
        const char32_t code = printable ? byte : next++;
        bytes_[code] = static_cast<int>(byte);
        append_utf8(characters_[byte], code);
    }
}

std::optional<std::string> ByteAlphabet::bytes_of(std::string_view token) const {
    std::string bytes;
    while (!token.empty()) {
        const Utf8Step step = read_utf8(token);
        if (step.code >= codes || bytes_[step.code] < 0) return std::nullopt;
        bytes += static_cast<char>(bytes_[step.code]);
        token.remove_prefix(step.length);
    }
    return bytes;
}

}  // namespace cairn::inline v0::text
