#include "io/json_reader/sax_parser.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace cairn::json_reader {

namespace {

using Json = nlohmann::json;

// Length of the UTF-8 character at the start of `text`; 0 if it is not well-formed: no overlong form, no surrogate,
// nothing above U+10FFFF.
std::size_t character_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
    }
    const unsigned second = byte(1);
    const bool wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                       (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
    return wrong ? 0 : length;
}

class SaxAdapter final : public nlohmann::json_sax<Json> {
public:
    explicit SaxAdapter(SaxHandler& handler) : visitor_(handler) {}

    bool null() override { return forward(nullptr); }
    bool boolean(bool value) override { return forward(value); }
    bool number_integer(number_integer_t number) override { return forward(std::int64_t{number}); }
    bool number_unsigned(number_unsigned_t number) override { return forward(std::uint64_t{number}); }
    bool number_float(number_float_t number, const string_t&) override { return forward(number); }
    bool string(string_t& text) override { return forward(std::move(text)); }
    bool binary(binary_t&) override { return false; }  // JSON texts have none
    bool start_object(std::size_t) override {
        deeper();
        visitor_.begin_object();
        return true;
    }
    bool end_object() override {
        --depth_;
        visitor_.end_object();
        return true;
    }
    bool start_array(std::size_t) override {
        deeper();
        visitor_.begin_array();
        return true;
    }
    bool end_array() override {
        --depth_;
        visitor_.end_array();
        return true;
    }
    bool key(string_t& name) override {
        visitor_.key(std::move(name));
        return true;
    }
    bool parse_error(std::size_t position, const std::string&, const Json::exception& error) override {
        // The parser reports a number that overflows as a syntax error.
        const bool overflow = dynamic_cast<const Json::out_of_range*>(&error) != nullptr;
        visitor_.fault(
            (overflow ? "holds a number beyond the range of a double at byte " : "is not valid JSON at byte ") +
            std::to_string(position));
        return false;
    }

private:
    bool forward(JsonValue value) {
        visitor_.value(std::move(value));
        return true;
    }
    void deeper() {
        constexpr int max_depth = 64;
        if (++depth_ > max_depth) visitor_.fault("is nested more than 64 deep");
    }

    SaxHandler& visitor_;
    int depth_ = 0;
};

}  // namespace

void parse_json_events(std::string_view text, SaxHandler& handler) {
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = character_length(text.substr(i));
        if (length == 0) handler.fault("is not valid UTF-8 at byte " + std::to_string(i + 1));
        // The parser would take a zero byte for the end and ignore what follows it.
        if (text[i] == '\0') handler.fault("is not valid JSON at byte " + std::to_string(i + 1));
        i += length;
    }
    SaxAdapter events(handler);
    Json::sax_parse(text.begin(), text.end(), &events);
}

}  // namespace cairn::json_reader
