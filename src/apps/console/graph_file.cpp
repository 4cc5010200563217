#include "apps/console/graph_file.hpp"

#include "apps/console/text_file.hpp"
#include "cairn/error.hpp"
#include "cairn/ports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace cairn::console {

Graph graph_of_text(const std::string& text, const std::string& path) {
    const auto named = [&](const std::string& fault) {
        return Error(ErrorKind::file, "graph", fmt::format("{}: {}", path == "-" ? "standard input" : path, fault));
    };
    try {
        Graph graph = parse_graph(text);
        const std::vector<GraphPort> all = ports(graph);
        const auto is_output = [](const GraphPort& port) { return port.kind == GraphPort::Kind::output; };
        if (std::none_of(all.begin(), all.end(), is_output)) throw named("the graph has no output");
        return graph;
    } catch (const Error& error) {
        if (error.kind() == ErrorKind::file) throw;
        std::string_view fault = error.what();
        constexpr std::string_view part = "[parse_graph] ";
        if (fault.starts_with(part)) fault.remove_prefix(part.size());
        throw named(std::string(fault));
    }
}

Graph read_graph(const std::string& path) { return graph_of_text(read_text(path), path); }

}  // namespace cairn::console
