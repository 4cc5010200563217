#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn::inline v0::weights {

/// One value that is neither an object nor an array.
struct JsonValue {
    enum class Kind : std::uint8_t {
        natural,  ///< an integer in 0 .. 2^64 - 1, written without sign, fraction or exponent
        string,
        other,  ///< null, a boolean, any other number
    };
    Kind kind = Kind::other;
    std::uint64_t natural = 0;
    std::string text;  ///< of a string
};

/// What a JSON text tells as it is read. A fault is told by throwing.
class JsonVisitor {
public:
    virtual ~JsonVisitor() = default;
    virtual void begin_object() = 0;
    virtual void end_object() = 0;
    virtual void begin_array() = 0;
    virtual void end_array() = 0;
    virtual void key(std::string name) = 0;
    virtual void value(JsonValue value) = 0;
};

/// Reads a JSON text and tells `visitor` about it, building no tree. The text must be valid UTF-8 and one JSON value,
/// with nothing but white space around it; objects and arrays nest 64 deep at most. Keys may repeat: the visitor judges
/// that. Throws Error(file) with `file` and `part` ("the header") in its message.
void walk_json(std::string_view text, std::string_view file, std::string_view part, JsonVisitor& visitor);

}  // namespace cairn::inline v0::weights
