#include "apps/jinja/marked_text.hpp"

#include <algorithm>

namespace cairn::jinja {

namespace {

/// What Python's str.strip removes.
constexpr std::string_view white_space[] = {
    " ",      "\t",     "\n",     "\v",     "\f",     "\r",     "\x1C",   "\x1D",   "\x1E",   "\x1F",
    "\u0085", "\u00A0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
    "\u2007", "\u2008", "\u2009", "\u200A", "\u2028", "\u2029", "\u202F", "\u205F", "\u3000"};

}  // namespace

MarkedText MarkedText::substr(std::size_t from, std::size_t count) const {
    MarkedText part;
    part.bytes_ = bytes_.substr(from, count);
    part.marks_ = marks_.substr(from, count);
    return part;
}

MarkedText& MarkedText::append(const MarkedText& other) {
    bytes_ += other.bytes_;
    marks_ += other.marks_;
    return *this;
}

MarkedText& MarkedText::append(std::string_view bytes, bool marked) {
    bytes_ += bytes;
    marks_.resize(bytes_.size(), marked ? '\1' : '\0');
    return *this;
}

MarkedText MarkedText::stripped(bool left, bool right) const {
    std::string_view rest = bytes_;
    const auto space_at = [&](auto has) {
        const auto found = std::find_if(std::begin(white_space), std::end(white_space), has);
        return found == std::end(white_space) ? std::size_t{0} : found->size();
    };
    std::size_t size = 0, begin = 0;
    do {
        size = left ? space_at([&](std::string_view space) { return rest.starts_with(space); }) : 0;
        rest.remove_prefix(size);
        begin += size;
    } while (size > 0);
    do {
        size = right ? space_at([&](std::string_view space) { return rest.ends_with(space); }) : 0;
        rest.remove_suffix(size);
    } while (size > 0);
    return substr(begin, rest.size());
}

MarkedText MarkedText::stripped(std::string_view set, bool left, bool right) const {
    const std::size_t first = left ? bytes_.find_first_not_of(set) : 0;
    const std::size_t last = right ? bytes_.find_last_not_of(set) : bytes_.size() - 1;
    if (bytes_.empty() || first == bytes_.npos || last == bytes_.npos) return {};
    return substr(first, last + 1 - first);
}

MarkedText MarkedText::replaced(std::string_view from, const MarkedText& to) const {
    MarkedText result;
    std::size_t start = 0;
    for (std::size_t at = bytes_.find(from); at != bytes_.npos; at = bytes_.find(from, start)) {
        result.append(substr(start, at - start)).append(to);
        start = at + from.size();
    }
    return result.append(substr(start));
}

}  // namespace cairn::jinja
