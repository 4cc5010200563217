#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace cairn::json_reader {

/// One value that is neither an object nor an array: null, a boolean, an integer in 0 .. 2^64 - 1 written without sign,
/// fraction or exponent, a negative integer from -2^63, any other number, a string.
using JsonValue = std::variant<std::nullptr_t, bool, std::uint64_t, std::int64_t, double, std::string>;

/// Receiver of the events of a JSON text. It rejects a text by throwing.
class SaxHandler {
public:
    virtual ~SaxHandler() = default;
    virtual void begin_object() = 0;
    virtual void end_object() = 0;
    virtual void begin_array() = 0;
    virtual void end_array() = 0;
    virtual void key(std::string name) = 0;
    virtual void value(JsonValue value) = 0;
    /// Reports a syntax error; must throw. `what` is as in "is not valid JSON at byte 7". No event follows.
    [[noreturn]] virtual void fault(const std::string& what) = 0;
};

/// Parses a JSON text and passes its events to `handler`, building no tree. The text must be valid UTF-8 and one JSON
/// value with only white space around it (a byte order mark before it is skipped); objects and arrays nest at most 64
/// deep, and no number exceeds the range of a double. Keys may repeat: the visitor decides.
void parse_json_events(std::string_view text, SaxHandler& handler);

}  // namespace cairn::json_reader
