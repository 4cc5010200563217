#include "weights/json_walk.hpp"

#include <nlohmann/json.hpp>

#include <utility>

#include "weights/weight_file_error.hpp"

namespace cairn::inline v0::weights {

namespace {

using Json = nlohmann::json;

// The length of the UTF-8 character at the start of `text`, 0 for what is none: no overlong form, no surrogate, nothing
// above U+10FFFF.
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

class Events final : public nlohmann::json_sax<Json> {
public:
    Events(std::string_view file, std::string_view part, JsonVisitor& visitor)
        : file_(file), part_(part), visitor_(visitor) {}

    bool null() override { return other(); }
    bool boolean(bool) override { return other(); }
    bool number_integer(number_integer_t) override { return other(); }
    bool number_float(number_float_t, const string_t&) override { return other(); }
    bool binary(binary_t&) override { return other(); }
    bool number_unsigned(number_unsigned_t number) override {
        visitor_.value({JsonValue::Kind::natural, number, {}});
        return true;
    }
    bool string(string_t& text) override {
        visitor_.value({JsonValue::Kind::string, 0, std::move(text)});
        return true;
    }
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
    bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
        throw bad_file(file_, std::string(part_) + " is not valid JSON at byte " + std::to_string(position));
    }

private:
    bool other() {
        visitor_.value({});
        return true;
    }
    void deeper() {
        constexpr int deepest = 64;
        if (++depth_ > deepest) throw bad_file(file_, std::string(part_) + " is nested more than 64 deep");
    }

    std::string_view file_, part_;
    JsonVisitor& visitor_;
    int depth_ = 0;
};

}  // namespace

void walk_json(std::string_view text, std::string_view file, std::string_view part, JsonVisitor& visitor) {
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = character_length(text.substr(i));
        if (length == 0)
            throw bad_file(file, std::string(part) + " is not valid UTF-8 at byte " + std::to_string(i + 1));
        // The parser would take a zero byte for the end and leave unseen what follows it.
        if (text[i] == '\0')
            throw bad_file(file, std::string(part) + " is not valid JSON at byte " + std::to_string(i + 1));
        i += length;
    }
    Events events(file, part, visitor);
    Json::sax_parse(text.begin(), text.end(), &events);
}

}  // namespace cairn::inline v0::weights
