#pragma once

#include "apps/text/template_processor.hpp"
#include "apps/text/tokenizer_parts.hpp"
#include "cairn/text/tokenizer.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0::text {

/// Base class of the tokenizers: everything that depends on the vocabulary and the template alone.
class TableTokenizer : public Tokenizer {
public:
    std::vector<std::int32_t> encode(std::string_view text, const EncodeOptions& options) const final;
    std::vector<std::int32_t> encode_pair(std::string_view first, std::string_view second,
                                          const EncodeOptions& options) const final;
    std::size_t vocabulary_size() const noexcept final { return table_.vocabulary().size(); }
    std::optional<std::int32_t> id_of(std::string_view token) const final { return table_.vocabulary().find(token); }
    const std::string& token(std::int32_t id) const final { return table_.vocabulary().token(id); }
    const SpecialIds& special() const noexcept final { return table_.special(); }
    std::optional<std::size_t> model_max_length() const noexcept final { return model_max_length_; }

protected:
    /// Throws Error (file) if the parts contradict each other, or a token of the template is not in the vocabulary.
    explicit TableTokenizer(const TokenizerParts& parts);

    const Vocabulary& vocabulary() const noexcept { return table_.vocabulary(); }
    const std::vector<AddedToken>& added() const noexcept { return table_.added(); }

private:
    /// The ids of a text without the template's tokens. `special`: where special tokens are recognised.
    virtual std::vector<std::int32_t> ids_of(std::string_view text, const SpecialPlaces& special) const = 0;

    TokenTable table_;
    TemplateProcessor template_processor_;
    std::optional<std::size_t> model_max_length_;
};

}  // namespace cairn::inline v0::text
