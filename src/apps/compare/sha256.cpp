#include "apps/compare/sha256.hpp"

#include "cairn/error.hpp"

#include <sha2.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <vector>

namespace cairn::compare {
namespace {

namespace fs = std::filesystem;

using Digits = std::array<char, SHA256_DIGEST_STRING_LENGTH>;

std::string sha256_of_file(const fs::path& path) {
    Digits digits{};
    if (SHA256File(path.c_str(), digits.data()) == nullptr)
        throw Error(ErrorKind::file, "read", path.string() + ": " + std::generic_category().message(errno));
    return digits.data();
}

std::string sha256_of_folder(const fs::path& path) {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path))
        if (entry.is_regular_file()) files.push_back(entry.path().lexically_relative(path));
    std::ranges::sort(files);
    std::string lines;
    for (const fs::path& file : files) lines += sha256_of_file(path / file) + "  " + file.generic_string() + '\n';
    return sha256_of_text(lines);
}

}  // namespace

std::string sha256_of_text(std::string_view text) {
    Digits digits{};
    SHA256Data(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), digits.data());
    return digits.data();
}

std::string sha256_of_path(const fs::path& path) {
    try {
        return fs::is_directory(path) ? sha256_of_folder(path) : sha256_of_file(path);
    } catch (const fs::filesystem_error& error) {
        throw Error(ErrorKind::file, "read", path.string() + ": " + error.code().message());
    }
}

}  // namespace cairn::compare
