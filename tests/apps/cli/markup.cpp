#include "tests/apps/cli/markup.hpp"

#include <sstream>
#include <stdexcept>

namespace cairn::test {
namespace {

class MarkupReader {
public:
    explicit MarkupReader(std::string_view markup) : rest_(markup) {}

    std::vector<Element> read() {
        if (rest_.starts_with("<!DOCTYPE html>\n")) rest_.remove_prefix(16);
        while (!rest_.empty()) {
            if (rest_[0] != '<') {
                read_text();
            } else if (rest_.starts_with("</")) {
                const std::string name(upto('>', 2));
                if (open_.empty() || elements_[open_.back()].name != name) fail("</" + name + "> closes nothing");
                open_.pop_back();
            } else {
                read_tag();
            }
        }
        if (!open_.empty()) fail("<" + elements_[open_.back()].name + "> is not closed");
        return elements_;
    }

private:
    [[noreturn]] static void fail(const std::string& fault) { throw std::invalid_argument(fault); }

    /// The text before the next `end`, which is consumed too.
    std::string_view upto(char end, std::size_t from) {
        const std::size_t at = rest_.find(end, from);
        if (at == std::string_view::npos) fail("the end is missing");
        const std::string_view found = rest_.substr(from, at - from);
        rest_.remove_prefix(at + 1);
        return found;
    }

    void read_text() {
        const std::string_view text = rest_.substr(0, rest_.find('<'));
        check_entities(text);
        if (open_.empty() && text.find_first_not_of("\n ") != std::string_view::npos) fail("text outside");
        if (!open_.empty()) elements_[open_.back()].text += text;
        rest_.remove_prefix(text.size());
    }

    static void check_entities(std::string_view text) {
        for (std::size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
            const std::string_view entity = text.substr(at, text.find(';', at) - at + 1);
            if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;")
                fail("a bare &: " + std::string(text));
        }
    }

    void read_tag() {
        Element element;
        element.depth = open_.size();
        const std::size_t end = rest_.find_first_of(" />", 1);
        element.name = rest_.substr(1, end - 1);
        rest_.remove_prefix(end);
        while (rest_.starts_with(" ") || rest_.starts_with("\n")) {
            rest_.remove_prefix(1);
            if (rest_.starts_with("/>") || rest_.starts_with(">")) break;
            const std::string name(upto('=', 0));
            if (!rest_.starts_with('"')) fail(name + " is not quoted");
            const std::string value(upto('"', 1));
            check_entities(value);
            if (value.find('<') != std::string::npos) fail(name + " holds a <");
            if (!element.attributes.emplace(name, value).second) fail(name + " comes twice");
        }
        const bool is_closed = rest_.starts_with("/>");
        if (!is_closed && !rest_.starts_with(">")) fail("<" + element.name + " does not end");
        rest_.remove_prefix(is_closed ? 2 : 1);
        elements_.push_back(element);
        if (!is_closed) open_.push_back(elements_.size() - 1);
    }

    std::string_view rest_;
    std::vector<Element> elements_;
    std::vector<std::size_t> open_;
};

}  // namespace

double Element::number(const std::string& attribute) const { return std::stod(attributes.at(attribute)); }

bool Element::has_class(std::string_view word) const {
    const auto found = attributes.find("class");
    if (found == attributes.end()) return false;
    std::istringstream words(found->second);
    for (std::string each; words >> each;)
        if (each == word) return true;
    return false;
}

std::vector<Element> elements_in(std::string_view markup) { return MarkupReader(markup).read(); }

}  // namespace cairn::test
