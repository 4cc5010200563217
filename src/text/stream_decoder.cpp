#include "cairn/text/stream_decoder.hpp"

#include "text/unicode.hpp"

#include <string_view>

namespace cairn::inline v0::text {

std::string StreamDecoder::push(std::int32_t id) {
    pending_ += tokenizer_->piece(id, first_);
    first_ = false;
    return take_complete(false);
}

std::string StreamDecoder::finish() {
    first_ = true;
    return take_complete(true);
}

std::string StreamDecoder::take_complete(bool at_end) {
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

}  // namespace cairn::inline v0::text
