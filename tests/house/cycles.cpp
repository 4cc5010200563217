#include "tests/house/arrows.hpp"

#include "tests/house/source.hpp"

#include <algorithm>
#include <functional>

namespace cairn::house {
namespace {

using Edges = std::map<std::string, std::set<std::string>>;

/// One cycle of `edges`, as `a > b > a`; empty if there is none.
std::string cycle_in(const Edges& edges) {
    std::set<std::string> done;
    std::vector<std::string> stack;
    std::string ring;
    const std::function<void(const std::string&)> walk = [&](const std::string& node) {
        const auto on_stack = std::find(stack.begin(), stack.end(), node);
        if (on_stack != stack.end() && ring.empty()) {
            for (auto it = on_stack; it != stack.end(); ++it) ring += *it + " > ";
            ring += node;
        }
        if (!ring.empty() || done.contains(node) || on_stack != stack.end()) return;
        stack.push_back(node);
        if (const auto next = edges.find(node); next != edges.end())
            for (const auto& target : next->second) walk(target);
        stack.pop_back();
        done.insert(node);
    };
    for (const auto& [node, targets] : edges) walk(node);
    return ring;
}

}  // namespace

Faults cycles(const Tree& tree) {
    Edges files, folders;
    for (const File& file : tree) {
        if (!is_source(file.path)) continue;
        const std::string from = folder_of(file.path);
        for (const Include& include : includes_of(file.text)) {
            const std::string target = resolve(tree, include.name, folder_of(file.path));
            if (target.empty()) continue;
            files[file.path].insert(target);
            const std::string to = folder_of(target);
            if (to != from && !is_under(to, from) && !is_under(from, to)) folders[from].insert(to);
        }
    }
    Faults faults;
    if (const std::string ring = cycle_in(folders); !ring.empty())
        faults.push_back("folders include each other: " + ring);
    if (const std::string ring = cycle_in(files); !ring.empty()) faults.push_back("files include each other: " + ring);
    return faults;
}

}  // namespace cairn::house
