#include "tests/house/arrows.hpp"

#include "tests/house/source.hpp"

#include <algorithm>
#include <array>

namespace cairn::house {
namespace {

/// `error` is a part of `face`, so who may see the face may see it.
bool may_see(const std::string& from, const std::string& to) {
    if (from == to) return true;
    const auto found = allowed_arrows().find(from);
    if (found == allowed_arrows().end()) return false;
    const auto& seen = found->second;
    return seen.contains(to) || seen.contains("all") || (to == "error" && seen.contains("face"));
}

bool exists(const Tree& tree, const std::string& path) {
    const auto at = std::lower_bound(tree.begin(), tree.end(), path,
                                     [](const File& file, const std::string& wanted) { return file.path < wanted; });
    return at != tree.end() && at->path == path;
}

}  // namespace

const Arrows& allowed_arrows() {
    static const Arrows arrows = {
        {"error", {}},
        {"face", {"error"}},
        {"face/text", {"error"}},
        {"face/models", {"face", "face/text"}},
        {"json_text", {}},
        {"types", {"face"}},
        {"ir", {"face", "types"}},
        {"composites", {"face"}},
        {"meaning", {"face", "types", "ir"}},
        {"check", {"face", "types", "ir", "meaning", "device"}},
        {"simplify", {"face", "types", "ir", "meaning"}},
        {"canon", {"face", "types", "ir"}},
        {"expand", {"face", "types", "ir", "canon"}},
        {"fuse", {"face", "types", "ir", "canon", "simplify", "expand"}},
        {"select", {"face", "types", "search", "ir", "simplify", "expand", "fuse", "timing", "program", "device"}},
        {"program", {"face", "types", "plan"}},
        {"plan", {}},
        {"search", {}},
        {"device", {"face", "types"}},
        {"timing", {"face", "types", "ir", "device", "json_text"}},
        {"tune", {"face", "types", "check", "select", "timing", "runtime", "program", "ir", "device"}},
        {"runtime", {"face", "types", "program", "plan", "device"}},
        {"weights", {"face", "types", "ir", "json_text"}},
        {"kernels", {"face", "types"}},
        {"pipeline", {"face",   "types",  "ir",   "composites", "meaning", "check",   "simplify",
                      "canon",  "expand", "fuse", "search",     "select",  "program", "plan",
                      "device", "timing", "tune", "runtime",    "weights", "kernels"}},
        {"text", {"error", "face/text", "json_text"}},
        {"models", {"face", "face/text", "face/models", "json_text"}},
        {"cli", {"face", "types"}},
        {"examples", {"face", "face/text", "face/models"}},
        {"tests", {"all"}},
        {"bench", {"all"}},
        {"seeds", {"face", "face/models"}},
    };
    return arrows;
}

std::string room_of(std::string_view path) {
    if (path == "include/cairn/error.hpp" || path == "include/cairn/version.hpp") return "error";
    constexpr std::array<std::pair<std::string_view, std::string_view>, 8> places = {{
        {"include/cairn/text", "face/text"},
        {"include/cairn/models", "face/models"},
        {"include/cairn", "face"},
        {"kernels", "kernels"},
        {"tests", "tests"},
        {"bench", "bench"},
        {"seeds", "seeds"},
        {"examples", "examples"},
    }};
    for (const auto& [folder, room] : places)
        if (is_under(path, folder)) return std::string(room);
    if (!is_under(path, "src")) return {};
    const auto rest = path.substr(4);
    const auto slash = rest.find('/');
    return std::string(rest.substr(0, slash));
}

std::string resolve(const Tree& tree, const std::string& name, const std::string& folder) {
    if (is_under(folder, "tests") && exists(tree, folder + "/" + name)) return folder + "/" + name;
    for (const char* root : {"include/", "src/", ""})
        if (exists(tree, root + name)) return root + name;
    return {};
}

Faults forbidden_arrows(const Tree& tree) {
    Faults faults;
    for (const File& file : tree) {
        const std::string from = room_of(file.path);
        if (!is_source(file.path) || from.empty()) continue;
        if (!allowed_arrows().contains(from)) {
            faults.push_back(file.path + ": the house has no room '" + from + "'");
            continue;
        }
        for (const Include& include : includes_of(file.text)) {
            const std::string place = file.path + ":" + std::to_string(include.line) + ": ";
            const std::string target = resolve(tree, include.name, folder_of(file.path));
            if (!target.empty()) {
                const std::string to = room_of(target);
                if (!may_see(from, to))
                    faults.push_back(place + from + " may not see " + to + " (" + include.name + ")");
            } else if (!include.in_brackets || include.name.starts_with("cairn/")) {
                faults.push_back(place + "no file \"" + include.name +
                                 "\"; write includes from include/, src/ or the root");
            }
        }
    }
    return faults;
}

}  // namespace cairn::house
