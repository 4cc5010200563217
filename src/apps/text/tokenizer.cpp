#include "cairn/text/tokenizer.hpp"

#include "apps/text/clean_up.hpp"

#include <utility>

namespace cairn::inline v0::text {

Tokenizer::~Tokenizer() = default;

std::string Tokenizer::decode(std::span<const std::int32_t> ids) const {
    std::string text;
    bool first = true;
    for (const std::int32_t id : ids) {
        text += piece(id, first);
        first = false;
    }
    return cleans_up() ? clean_up(std::move(text)) : text;
}

}  // namespace cairn::inline v0::text
