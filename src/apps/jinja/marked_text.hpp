#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cairn::jinja {

/// A string whose bytes are marked if they stem from the values that a template is rendered with, and not from the
/// template itself. The marks follow the bytes through all operations.
class MarkedText {
public:
    MarkedText() = default;
    explicit MarkedText(std::string bytes, bool marked = false)
        : bytes_(std::move(bytes)), marks_(bytes_.size(), marked ? '\1' : '\0') {}

    const std::string& bytes() const { return bytes_; }
    bool is_marked(std::size_t at) const { return marks_[at] != 0; }
    std::size_t size() const { return bytes_.size(); }

    MarkedText substr(std::size_t from, std::size_t count = std::string::npos) const;
    MarkedText& append(const MarkedText& other);
    MarkedText& append(std::string_view bytes, bool marked);

    /// The text without white space, or without the ASCII characters of `set`, at its sides.
    MarkedText stripped(bool left, bool right) const;
    MarkedText stripped(std::string_view set, bool left, bool right) const;
    /// Each occurrence of `from`, which is not empty, replaced by `to`.
    MarkedText replaced(std::string_view from, const MarkedText& to) const;
    /// With each byte mapped by `map`.
    template <typename Map>
    MarkedText mapped(const Map& map) const {
        MarkedText result = *this;
        for (char& byte : result.bytes_) byte = map(byte);
        return result;
    }

private:
    std::string bytes_, marks_;
};

}  // namespace cairn::jinja
