#include "tests/house/arrows.hpp"

#include "tests/house/source.hpp"

#include <algorithm>
#include <array>

namespace cairn::house {
namespace {

/// True if `from` may include headers of `to`. `error` is part of `face`, so rooms that may see `face` may see it.
bool may_see(const std::string& from, const std::string& to) {
    if (from == to) return true;
    const auto found = permitted_includes().find(from);
    if (found == permitted_includes().end()) return false;
    const auto& seen = found->second;
    return seen.contains(to) || seen.contains("all") || (to == "error" && seen.contains("face"));
}

bool exists(const Tree& tree, const std::string& path) {
    const auto at = std::lower_bound(tree.begin(), tree.end(), path,
                                     [](const File& file, const std::string& wanted) { return file.path < wanted; });
    return at != tree.end() && at->path == path;
}

}  // namespace

const PermittedIncludes& permitted_includes() {
    static const PermittedIncludes arrows = {
        {"error", {}},
        {"face", {"error"}},
        {"face/text", {"error"}},
        {"face/models", {"face", "face/text"}},
        {"face/onnx", {"face"}},
        {"types", {"face"}},
        {"ir", {"face", "types"}},
        {"composites", {"face"}},
        {"interpreter", {"face", "types", "ir"}},
        {"simplify", {"face", "types", "ir", "interpreter"}},
        {"normal_form", {"face", "types", "ir"}},
        {"alternatives", {"face", "types", "ir", "normal_form"}},
        {"fusion", {"face", "types", "ir", "simplify", "normal_form", "alternatives"}},
        {"search", {}},
        {"cost", {"face", "types", "database", "measurement", "device", "program"}},
        {"candidates", {"face", "types", "ir", "alternatives", "fusion", "device", "cost", "metric"}},
        {"choose", {"face", "types", "ir", "alternatives", "fusion", "program", "search", "candidates", "budget"}},
        {"emit", {"face", "types", "ir", "alternatives", "fusion", "program", "choose"}},
        {"explain", {"face", "types", "ir", "program", "device", "search", "choose", "emit", "budget"}},
        {"database", {"face", "json_reader"}},
        {"measurement", {"face", "types", "ir", "device", "database"}},
        {"policy",
         {"face", "types", "ir", "device", "kernel_check", "cost", "choose", "database", "measurement", "program",
          "runtime"}},
        {"memory_plan", {}},
        {"program", {"face", "types", "memory_plan"}},
        {"runtime", {"face", "types", "program", "memory_plan", "device", "metric"}},
        {"device", {"face", "types"}},
        {"cpu", {"face", "types", "device"}},
        {"libraries", {"face"}},
        {"cuda", {"face", "device", "libraries"}},
        {"metric", {"face", "types"}},
        {"budget", {"face", "types", "ir", "alternatives", "metric"}},
        {"kernel_check", {"face", "types", "ir", "interpreter", "device", "cpu", "metric"}},
        {"json_reader", {}},
        {"mapped_file", {"error"}},
        {"suggest_names", {"mapped_file"}},
        {"weights", {"face", "types", "ir", "composites", "json_reader", "mapped_file", "suggest_names"}},
        {"onnx_file", {"face", "mapped_file"}},
        {"onnx_node", {"face", "types", "mapped_file", "onnx_file"}},
        {"onnx_operators", {"face", "onnx_file", "onnx_node"}},
        {"onnx_import", {"face", "face/onnx", "mapped_file", "onnx_file", "onnx_node", "onnx_operators"}},
        {"kernels", {"face", "types"}},
        {"cuda_kernels", {"face", "types", "kernels", "libraries"}},
        {"driver", {"face",         "types",        "ir",       "composites",   "interpreter", "simplify",
                    "normal_form",  "alternatives", "fusion",   "search",       "cost",        "choose",
                    "emit",         "explain",      "database", "measurement",  "policy",      "program",
                    "memory_plan",  "runtime",      "device",   "libraries",    "cpu",         "cuda",
                    "kernel_check", "weights",      "kernels",  "cuda_kernels", "budget",      "metric"}},
        {"jinja", {"error"}},
        {"text", {"error", "face/text", "json_reader", "jinja"}},
        {"models", {"face", "face/text", "face/models", "json_reader"}},
        {"console", {"face"}},
        {"cli", {"face", "face/onnx", "types", "console"}},
        {"compare", {"face", "face/text", "face/models", "console", "json_reader", "suggest_names"}},
        {"examples", {"face", "face/text", "face/models"}},
        {"tests", {"all"}},
        {"bench", {"all"}},
        {"shipped_timings", {"face", "face/models"}},
    };
    return arrows;
}

std::string room_of(std::string_view path) {
    if (path == "include/cairn/error.hpp" || path == "include/cairn/version.hpp") return "error";
    constexpr std::array<std::pair<std::string_view, std::string_view>, 50> folder_rooms = {{
        {"include/cairn/text", "face/text"},
        {"include/cairn/models", "face/models"},
        {"include/cairn/onnx", "face/onnx"},
        {"include/cairn", "face"},
        {"src/graph/types", "types"},
        {"src/graph/ir", "ir"},
        {"src/graph/composites", "composites"},
        {"src/graph/interpreter", "interpreter"},
        {"src/rewrite/simplify", "simplify"},
        {"src/rewrite/normal_form", "normal_form"},
        {"src/rewrite/alternatives", "alternatives"},
        {"src/fusion", "fusion"},
        {"src/selection/search", "search"},
        {"src/selection/cost", "cost"},
        {"src/selection/candidates", "candidates"},
        {"src/selection/choose", "choose"},
        {"src/selection/emit", "emit"},
        {"src/selection/explain", "explain"},
        {"src/autotune/database", "database"},
        {"src/autotune/measurement", "measurement"},
        {"src/autotune/policy", "policy"},
        {"src/program/memory_plan", "memory_plan"},
        {"src/program", "program"},
        {"src/runtime", "runtime"},
        {"src/device/cpu", "cpu"},
        {"src/device/libraries", "libraries"},
        {"src/device/cuda", "cuda"},
        {"src/device", "device"},
        {"src/accuracy/metric", "metric"},
        {"src/accuracy/budget", "budget"},
        {"src/accuracy/kernel_check", "kernel_check"},
        {"src/io/json_reader", "json_reader"},
        {"src/io/mapped_file", "mapped_file"},
        {"src/io/suggest_names", "suggest_names"},
        {"src/io/weights", "weights"},
        {"src/io/onnx_file", "onnx_file"},
        {"src/io/onnx_node", "onnx_node"},
        {"src/io/onnx_operators", "onnx_operators"},
        {"src/io/onnx_import", "onnx_import"},
        {"src/driver", "driver"},
        {"src/apps/jinja", "jinja"},
        {"src/apps/text", "text"},
        {"src/apps/models", "models"},
        {"src/apps/console", "console"},
        {"src/apps/cli", "cli"},
        {"src/apps/compare", "compare"},
        {"kernels/cuda", "cuda_kernels"},
        {"kernels", "kernels"},
        {"shipped_timings", "shipped_timings"},
        {"tests", "tests"},
    }};
    for (const auto& [folder, room] : folder_rooms)
        if (is_under(path, folder)) return std::string(room);
    for (const std::string_view root : {"bench", "examples"})
        if (is_under(path, root)) return std::string(root);
    // A folder of src/ that is not in the table has no room; its path is returned for the message.
    return is_under(path, "src") ? std::string(path.substr(4, path.rfind('/') < 4 ? path.npos : path.rfind('/') - 4))
                                 : std::string();
}

std::string resolve(const Tree& tree, const std::string& name, const std::string& folder) {
    if (is_under(folder, "tests") && exists(tree, folder + "/" + name)) return folder + "/" + name;
    for (const char* root : {"include/", "src/", ""})
        if (exists(tree, root + name)) return root + name;
    return {};
}

Faults forbidden_includes(const Tree& tree) {
    Faults faults;
    for (const File& file : tree) {
        const std::string from = room_of(file.path);
        if (!is_source(file.path) || from.empty()) continue;
        if (!permitted_includes().contains(from)) {
            faults.push_back(file.path + ": unknown room '" + from + "'");
            continue;
        }
        for (const Include& include : includes_of(file.text)) {
            const std::string location = file.path + ":" + std::to_string(include.line) + ": ";
            const std::string target = resolve(tree, include.name, folder_of(file.path));
            if (!target.empty()) {
                const std::string to = room_of(target);
                if (!may_see(from, to))
                    faults.push_back(location + from + " may not see " + to + " (" + include.name + ")");
            } else if (!include.in_brackets || include.name.starts_with("cairn/")) {
                faults.push_back(location + "no file \"" + include.name +
                                 "\"; write includes from include/, src/ or the root");
            }
        }
    }
    return faults;
}

}  // namespace cairn::house
