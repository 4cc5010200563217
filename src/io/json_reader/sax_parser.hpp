#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace cairn::json_reader {

/// One value that is neither an object nor an array: null, a boolean, an integer in 0 .. 2^64 - 1 written without sign,
/// fraction or exponent, a negative integer from -2^63, any other number, a string.
using JsonValue = std::variant<std::nullptr_t, bool, std::uint64_t, std::int64_t, double, std::string>;

/// What a JSON text tells as it is read. A fault is told by throwing.
class SaxHandler {
public:
    virtual ~SaxHandler() = default;
    virtual void begin_object() = 0;
    virtual void end_object() = 0;
    virtual void begin_array() = 0;
    virtual void end_array() = 0;
    virtual void key(std::string name) = 0;
    virtual void value(JsonValue value) = 0;
    /// Throws: the text `what`, as in "is not valid JSON at byte 7". Nothing is told after it.
    [[noreturn]] virtual void fault(const std::string& what) = 0;
};

/// Reads a JSON text and tells `visitor` about it, building no tree. The text must be valid UTF-8 and one JSON value,
/// with nothing but white space around it (a byte order mark before it is passed over); objects and arrays nest 64 deep
/// at most, and no number is beyond the range of a double. Keys may repeat: the visitor judges that.
void parse_json_events(std::string_view text, SaxHandler& visitor);

}  // namespace cairn::json_reader
