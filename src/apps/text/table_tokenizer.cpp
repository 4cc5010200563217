#include "apps/text/table_tokenizer.hpp"

namespace cairn::inline v0::text {

TableTokenizer::TableTokenizer(const TokenizerParts& parts)
    : table_(parts),
      template_processor_(parts.template_tokens, table_.vocabulary(), parts.source),
      model_max_length_(parts.model_max_length) {}

std::vector<std::int32_t> TableTokenizer::encode(std::string_view text, const EncodeOptions& options) const {
    const SpecialPlaces special = table_.parses_special(options) ? SpecialPlaces(options.plain) : false;
    return template_processor_.apply(ids_of(text, special), options);
}

std::vector<std::int32_t> TableTokenizer::encode_pair(std::string_view first, std::string_view second,
                                                      const EncodeOptions& options) const {
    if (!options.plain.empty())
        throw Error(ErrorKind::argument, "tokenizer", "plain ranges of a pair of texts are not supported");
    const bool parse_special = table_.parses_special(options);
    return template_processor_.apply(ids_of(first, parse_special), ids_of(second, parse_special), options);
}

}  // namespace cairn::inline v0::text
