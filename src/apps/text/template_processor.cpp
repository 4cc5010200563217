#include "apps/text/template_processor.hpp"

#include "apps/text/file_errors.hpp"
#include "apps/text/truncate.hpp"

#include <limits>

namespace cairn::inline v0::text {

namespace {

/// Number of ids of the texts that fit besides the template's tokens.
std::size_t capacity(const EncodeOptions& options, std::size_t special_count) {
    if (options.max_length == 0) return std::numeric_limits<std::size_t>::max();
    if (options.max_length < special_count)
        throw Error(ErrorKind::argument, "tokenizer",
                    "expected a max_length of at least " + std::to_string(special_count) +
                        ", the number of special tokens added, got " + std::to_string(options.max_length));
    return options.max_length - special_count;
}

void append(std::vector<std::int32_t>& ids, const std::vector<std::int32_t>& more) {
    ids.insert(ids.end(), more.begin(), more.end());
}

}  // namespace

TemplateTokens bert_template(const std::string& cls, const std::string& sep) {
    return {.before = {cls}, .after = {sep}, .pair_before = {cls}, .between = {sep}, .pair_after = {sep}};
}

TemplateTokens roberta_template(const std::string& cls, const std::string& sep) {
    return {.before = {cls}, .after = {sep}, .pair_before = {cls}, .between = {sep, sep}, .pair_after = {sep}};
}

TemplateProcessor::TemplateProcessor(const TemplateTokens& tokens, const Vocabulary& vocabulary,
                                     const std::string& source)
    : truncate_start_(tokens.truncate_start) {
    const auto ids_of = [&](const std::vector<std::string>& names) {
        std::vector<std::int32_t> ids;
        for (const std::string& name : names) {
            const auto id = vocabulary.find(name);
            if (!id)
                throw_bad_file(source,
                               "the token " + quoted_name(name) + " that encoding adds is not in the vocabulary");
            ids.push_back(*id);
        }
        return ids;
    };
    before_ = ids_of(tokens.before);
    after_ = ids_of(tokens.after);
    pair_before_ = ids_of(tokens.pair_before);
    between_ = ids_of(tokens.between);
    pair_after_ = ids_of(tokens.pair_after);
}

std::vector<std::int32_t> TemplateProcessor::apply(std::vector<std::int32_t> ids, const EncodeOptions& options) const {
    const std::size_t room_left = capacity(options, options.add_special ? before_.size() + after_.size() : 0);
    truncate(ids, room_left, truncate_start_);
    if (!options.add_special) return ids;
    ids.insert(ids.begin(), before_.begin(), before_.end());
    append(ids, after_);
    return ids;
}

std::vector<std::int32_t> TemplateProcessor::apply(std::vector<std::int32_t> first, std::vector<std::int32_t> second,
                                                   const EncodeOptions& options) const {
    const std::size_t special_count = pair_before_.size() + between_.size() + pair_after_.size();
    truncate_pair(first, second, capacity(options, options.add_special ? special_count : 0), truncate_start_);
    std::vector<std::int32_t> ids;
    if (options.add_special) append(ids, pair_before_);
    append(ids, first);
    if (options.add_special) append(ids, between_);
    append(ids, second);
    if (options.add_special) append(ids, pair_after_);
    return ids;
}

}  // namespace cairn::inline v0::text
