#include "apps/cli/problem_ops.hpp"

#include "cairn/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>
#include <vector>

namespace cairn::cli {
namespace {

/// The op of each line `%3 = matmul %1, %2 : f32[N,768]`.
std::vector<std::string> ops_in(const std::string& graph) {
    std::vector<std::string> ops;
    std::istringstream lines(graph);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string number, equals, op;
        if (words >> number >> equals >> op && number.starts_with('%') && equals == "=") ops.push_back(op);
    }
    return ops;
}

bool is_one_of(const std::string& op, std::initializer_list<std::string_view> ops) {
    return std::find(ops.begin(), ops.end(), op) != ops.end();
}

}  // namespace

std::string problem_ops(std::string_view problem, const Context& context) {
    std::vector<std::string> ops;
    try {
        const auto symbols = Symbols::create();
        ops = ops_in(to_string(reference_graph(parse_problem(problem, *symbols), context)));
    } catch (const Error&) { return {}; }
    std::erase_if(ops, [](const std::string& op) { return is_one_of(op, {"input", "weight", "constant"}); });
    const auto moves = [](const std::string& op) { return is_one_of(op, {"reshape", "broadcast", "transpose"}); };
    if (!std::all_of(ops.begin(), ops.end(), moves)) std::erase_if(ops, moves);
    std::vector<std::pair<std::string, int>> counted;
    for (const std::string& op : ops) {
        if (!counted.empty() && counted.back().first == op)
            ++counted.back().second;
        else
            counted.emplace_back(op, 1);
    }
    std::vector<std::string> words;
    for (const auto& [op, count] : counted) words.push_back(count == 1 ? op : fmt::format("{}x {}", count, op));
    return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace cairn::cli
