#include "cairn/text/stream_decoder.hpp"

#include "apps/text/clean_up.hpp"
#include "apps/text/unicode.hpp"

#include <string_view>
#include <utility>

namespace cairn::inline v0::text {

std::string StreamDecoder::push(std::int32_t id) {
    pending_ += tokenizer_->piece(id, first_);
    first_ = false;
    return flush_cleaned(flush_complete(false), false);
}

std::string StreamDecoder::finish() {
    first_ = true;
    return flush_cleaned(flush_complete(true), true);
}

std::string StreamDecoder::flush_complete(bool at_end) {
    std::string text;
    std::string_view rest = pending_;
    while (!rest.empty()) {
        const Utf8Step step = read_utf8(rest);
        if (step.status == Utf8Step::Status::truncated && !at_end) break;
        if (step.status == Utf8Step::Status::valid)
            text += rest.substr(0, step.length);
        else
            append_utf8(text, 0xFFFD);
        rest.remove_prefix(step.length);
    }
    pending_.erase(0, pending_.size() - rest.size());
    return text;
}

std::string StreamDecoder::flush_cleaned(std::string text, bool at_end) {
    if (!tokenizer_->cleans_up()) return text;
    not_cleaned_ += text;
    std::size_t end = not_cleaned_.size();
    // No pattern of clean_up extends across such a space: patterns contain a space after their first character only
    // after an apostrophe, and join the texts before and after a space only before an apostrophe.
    const auto parts = [&](std::size_t at) {
        return not_cleaned_[at] == ' ' && not_cleaned_[at - 1] != ' ' && not_cleaned_[at - 1] != '\'' &&
               not_cleaned_[at + 1] != '\'';
    };
    if (!at_end)
        for (end = not_cleaned_.size() < 2 ? 0 : not_cleaned_.size() - 2; end > 0 && !parts(end);) --end;
    std::string clean = clean_up(not_cleaned_.substr(0, end));
    not_cleaned_.erase(0, end);
    return clean;
}

}  // namespace cairn::inline v0::text
