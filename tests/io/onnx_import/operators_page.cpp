#include "tests/io/onnx_import/operators_page.hpp"

#include "io/onnx_file/onnx_file.hpp"
#include "io/onnx_operators/operators.hpp"
#include "tests/io/onnx_import/node_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

/// The operator that a case is about: the one of another domain, the one that holds graphs, or the first that is no
/// constant.
std::string operator_of(const fs::path& folder) {
    const onnx::OnnxFile file(folder / "model.onnx");
    const onnx::NodeProto* found = nullptr;
    int best = -1;
    for (const onnx::NodeProto& node : file.model().graph.nodes) {
        const bool holds_graphs =
            std::ranges::any_of(node.attributes, [](const onnx::AttributeProto& each) { return !each.graphs.empty(); });
        const int rank = !node.domain.empty() ? 3 : holds_graphs ? 2 : node.op != "Constant" ? 1 : 0;
        if (rank > best) {
            best = rank;
            found = &node;
        }
    }
    return found == nullptr ? "" : (found->domain.empty() ? "" : found->domain + ".") + found->op;
}

/// The case of an operator whose definition by other operators a case is.
fs::path case_of_operator(const fs::path& folder) {
    const std::string name = folder.filename().string();
    const fs::path base = folder.parent_path() / name.substr(0, name.find("_expanded"));
    return fs::exists(base / "model.onnx") ? base : folder;
}

struct Row {
    std::size_t cases = 0, passed = 0;
    std::map<std::string, std::size_t> refused;  ///< by reason
    std::size_t without_dtype = 0;               ///< further ones, of types without a dtype
    std::set<int> since;                         ///< operator sets that changed what is imported
};

std::string text_of(const std::string& op, const Row& row) {
    std::string reasons, since;
    for (const auto& [reason, count] : row.refused)
        reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", count, reason);
    if (row.without_dtype > 0)
        reasons += fmt::format("{}{}: inputs or outputs of types for which there is no dtype",
                               reasons.empty() ? "" : "; ", row.without_dtype);
    std::replace(reasons.begin(), reasons.end(), '|', '/');
    for (const int set : row.since) since += fmt::format("{}{}", since.empty() ? "" : ", ", set);
    return fmt::format("| {} | {} | {} | {} | {} |\n", op, since, row.cases, row.passed, reasons);
}

constexpr std::string_view introduction =
    "# Operators of ONNX\n\n"
    "The operators that `onnx::import` understands, and what became of the node cases of onnx 1.23.2 (a model with "
    "inputs "
    "and\noutputs for each use of each operator). A test prints this page and fails where it differs. Refused cases "
    "name "
    "the\nreason that users see; no case gives a wrong result. A case that defines an operator by others counts for "
    "that "
    "operator.\n\n"
    "Operators without such cases, those of other domains among them, and other attributes, types and sizes are tested "
    "by\n"
    "further models, whose results are those of ONNX Runtime, onnx.reference or NumPy.\n\n"
    "*from* is the operator set from which on an entry holds; several entries exist where the meaning changed.\n\n";

}  // namespace

OperatorsPage operators_page(const fs::path& cases) {
    const std::vector<NamedResult> results = run_cases(cases);
    OperatorsPage page;
    std::map<std::string, Row> rows;
    for (const onnx::Operator& row : onnx::all_operators())
        rows[(row.domain.empty() ? "" : std::string(row.domain) + ".") + std::string(row.name)].since.insert(row.since);
    for (const auto& [folder, result] : results) {
        Row& row = rows[operator_of(case_of_operator(folder))];
        ++row.cases;
        if (result.state == CaseResult::State::passed) {
            ++row.passed;
            ++page.passed;
        } else if (result.state == CaseResult::State::refused) {
            const bool is_of_type = result.reason.find("there is no dtype") != std::string::npos;
            ++(is_of_type ? row.without_dtype : row.refused[result.reason]);
        } else {
            page.failures.push_back(folder.filename().string() + ": " + result.reason);
        }
    }
    page.text = introduction;
    page.text +=
        fmt::format("{} of {} cases pass.\n\n| operator | from | cases | passed | refused |\n|---|---|---:|---:|---|\n",
                    page.passed, results.size());
    for (const auto& [op, row] : rows) page.text += text_of(op, row);
    return page;
}

}  // namespace cairn::test
