#include "runtime/kernel_binary_text.hpp"

#include "runtime/base64.hpp"
#include "runtime/digest_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace cairn::runtime {
namespace {

constexpr std::string_view code_headline = "# code ", next_code_headline = "\n# code ";

/// Text for one line.
std::string line_text(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return text;
}

/// Removes the first line of a text and returns it if it begins with `word`, without that.
std::optional<std::string> take_line(std::string_view& text, std::string_view word) {
    if (!text.starts_with(word)) return {};
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    std::string line(text.substr(word.size(), end - word.size()));
    text.remove_prefix(end + 1);
    return line;
}

std::shared_ptr<const device::KernelBinary> parse_binary(std::string_view text) {
    if (!has_valid_digest(text)) return nullptr;
    text = without_digest_line(text);
    device::KernelBinary binary;
    std::optional<std::string> line;
    if (!(line = take_line(text, code_headline))) return nullptr;
    binary.architecture = *std::move(line);
    if (!(line = take_line(text, "device "))) return nullptr;
    binary.device = *std::move(line);
    if (!(line = take_line(text, "compiler "))) return nullptr;
    binary.compiler = *std::move(line);
    while ((line = take_line(text, "key "))) binary.keys.push_back(*std::move(line));
    if (!take_line(text, "image")) return nullptr;
    std::optional<std::vector<std::byte>> image = from_base64(text);
    if (!image || image->empty()) return nullptr;
    binary.image = *std::move(image);
    return std::make_shared<const device::KernelBinary>(std::move(binary));
}

}  // namespace

std::string to_string(const device::KernelBinary& binary) {
    std::string text = fmt::format("{}{}\ndevice {}\ncompiler {}\n", code_headline, line_text(binary.architecture),
                                   line_text(binary.device), line_text(binary.compiler));
    for (const std::string& key : binary.keys) text += fmt::format("key {}\n", key);
    return with_digest_line(text + "image\n" + to_base64(binary.image));
}

ParsedBinaries parse_kernel_binaries(std::string_view text) {
    ParsedBinaries parsed;
    while (!text.empty()) {
        const std::size_t next = text.find(next_code_headline);
        const std::size_t size = next == std::string_view::npos ? text.size() : next + 1;
        if (std::shared_ptr<const device::KernelBinary> binary = parse_binary(text.substr(0, size)))
            parsed.binaries.push_back(std::move(binary));
        else
            parsed.is_damaged = true;
        text.remove_prefix(size);
    }
    return parsed;
}

}  // namespace cairn::runtime
