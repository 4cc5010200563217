#include "tests/house/tree.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace cairn::house {
namespace fs = std::filesystem;

namespace {

constexpr std::array roots = {"include",         "src",      "kernels", "tests", "bench",
                              "shipped_timings", "examples", "cmake",   "docs",  "scripts"};

bool has_suffix(std::string_view path, std::string_view suffix) { return path.ends_with(suffix); }

// Data files of tests and examples are excluded.
bool is_wanted(std::string_view path) {
    if (is_under(path, "tests/data") || is_under(path, "tests/golden/data") || is_under(path, "examples/models"))
        return false;
    if (is_under(path, "scripts")) return true;
    return is_source(path) || has_suffix(path, ".cmake") || has_suffix(path, ".md") ||
           name_of(path) == "CMakeLists.txt";
}

std::string read(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

}  // namespace

bool is_under(std::string_view path, std::string_view folder) {
    return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

std::string folder_of(std::string_view path) {
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

std::string name_of(std::string_view path) {
    const auto slash = path.rfind('/');
    return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

bool is_source(std::string_view path) {
    constexpr std::array<std::string_view, 6> suffixes = {".hpp", ".cpp", ".h", ".inl", ".cu", ".cuh"};
    return std::any_of(suffixes.begin(), suffixes.end(), [&](auto suffix) { return has_suffix(path, suffix); });
}

Tree read_tree(const std::string& root) {
    Tree tree;
    for (const auto& entry : fs::directory_iterator(root)) {
        const std::string path = entry.path().filename().string();
        if (entry.is_regular_file() && is_wanted(path)) tree.push_back({path, read(entry.path())});
    }
    for (const char* folder : roots) {
        if (!fs::exists(fs::path(root) / folder)) continue;
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / folder)) {
            const std::string path = fs::relative(entry.path(), root).generic_string();
            if (entry.is_regular_file() && is_wanted(path)) tree.push_back({path, read(entry.path())});
        }
    }
    std::sort(tree.begin(), tree.end(), [](const File& a, const File& b) { return a.path < b.path; });
    return tree;
}

}  // namespace cairn::house
