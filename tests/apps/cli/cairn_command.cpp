#include "tests/apps/cli/cairn_command.hpp"

#include "cairn/composites.hpp"
#include "cairn/ops.hpp"

#include <algorithm>

namespace cairn::test {

const char* const seeded_weights_line = "weights are made from seed 0: --weights FILE takes them from a file\n";

Outcome cairn_command(std::vector<std::string> arguments, const RunOptions& options) {
    const auto given = [&](const char* option) {
        return std::find(arguments.begin(), arguments.end(), option) != arguments.end();
    };
    const auto is_named = [&](std::initializer_list<const char*> commands) {
        return std::any_of(commands.begin(), commands.end(),
                           [&](const char* command) { return !arguments.empty() && arguments[0] == command; });
    };
    const bool compiles = is_named({"paths", "explain", "diff"});
    if (compiles && !given("--mode")) arguments.insert(arguments.end(), {"--mode", "off"});
    if ((compiles || is_named({"tune", "bench", "doctor"})) && !given("--threads"))
        arguments.insert(arguments.end(), {"--threads", "1"});
    return run(CAIRN_COMMAND, arguments, options);
}

std::vector<nlohmann::json> rows_of(const Outcome& outcome) {
    std::vector<nlohmann::json> rows;
    for (const std::string& line : lines_of(outcome.out)) {
        rows.push_back(nlohmann::json::parse(line, nullptr, false));
        EXPECT_TRUE(rows.back().is_object()) << line;
    }
    return rows;
}

std::vector<nlohmann::json> rows_of(const Outcome& outcome, const std::string& kind) {
    std::vector<nlohmann::json> rows = rows_of(outcome);
    std::erase_if(rows, [&](const nlohmann::json& row) { return row.value("kind", "") != kind; });
    return rows;
}

std::string layer_text() {
    Graph g("layer");
    const Tensor x = g.input("x", DType::f32, {g.symbol("N", 1, 8), 16});
    g.output("y", softmax(relu(matmul(x, g.weight("w", DType::f32, {16, 16})) + g.weight("b", DType::f32, {16})), -1));
    return to_string(g);
}

std::string chosen_rows_text() {
    Graph g("chosen");
    const Dim t = g.symbol("T", 1, 4), past = g.symbol("past", 0, 12);
    const Tensor table = g.weight("table", DType::f32, {5, 8}), ids = g.input("ids", DType::i64, {t});
    State seen = g.state("seen", DType::f32, {past, 8}, 0, 16);
    g.output("sum", sum(seen.append(gather(table, ids, 0)), {0}));
    return to_string(g);
}

}  // namespace cairn::test
