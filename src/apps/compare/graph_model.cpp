#include "apps/compare/graph_model.hpp"

#include "apps/compare/in_process.hpp"
#include "apps/compare/nested_numbers.hpp"
#include "apps/console/graph_file.hpp"
#include "cairn/error.hpp"
#include "cairn/ports.hpp"
#include "cairn/weights.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::compare {
namespace {

[[noreturn]] void refuse_request(const std::string& what) { throw Error(ErrorKind::argument, "graph", what); }

class GraphModel : public InProcess {
public:
    using InProcess::InProcess;

protected:
    void load_model(const Context& context, const CompileOptions& options) override {
        if (!implementation().batched && max_batch() > 1)
            refuse_request("batched = false permits batches of one row only");
        const Graph graph = console::read_graph(implementation().model.string());
        ports_ = ports(graph);
        model_.emplace(compile(graph, context, options));
        const auto is_weight = [](const GraphPort& port) { return port.kind == GraphPort::Kind::weight; };
        if (!std::ranges::any_of(ports_, is_weight)) return;
        if (implementation().weights.empty()) refuse_request("the graph has weights, and weights is missing");
        model_->bind(Safetensors::open(implementation().weights), options.progress, options.stop);
    }

    std::vector<Answer> answers(std::span<const DataRow> rows, const std::stop_token& stop) override {
        std::vector<TensorElements> elements;  // borrowed by the run
        for (const GraphPort& port : ports_) {
            if (port.kind != GraphPort::Kind::input) continue;
            std::vector<const nlohmann::json*> lists;
            for (const DataRow& row : rows) {
                const auto found = row.inputs.find(port.name);
                if (found == row.inputs.end()) refuse_request("a row has no input \"" + port.name + '"');
                lists.push_back(&*found);
            }
            elements.push_back(implementation().batched ? stacked_elements(lists, port.dtype, port.name)
                                                        : tensor_elements(*lists.front(), port.dtype, port.name));
            model_->set(port.name, static_cast<const void*>(elements.back().bytes.data()), elements.back().shape);
        }
        model_->run({.stop = stop});
        std::vector<Answer> result(rows.size());
        for (const GraphPort& port : ports_)
            if (port.kind == GraphPort::Kind::output) append_output(port, result);
        for (Answer& answer : result) set_label(answer);
        return result;
    }

private:
    void append_output(const GraphPort& port, std::vector<Answer>& result) const {
        const OutputView view = model_->output(port.name);
        const std::vector<double> values = numbers_of(view);
        if (implementation().batched &&
            (view.shape.empty() || view.shape[0] != static_cast<std::int64_t>(result.size())))
            refuse_request(fmt::format("output \"{}\" has no first axis of {} rows", port.name, result.size()));
        const std::size_t width = values.size() / result.size();
        for (std::size_t r = 0; r < result.size(); ++r) {
            const auto first = values.begin() + static_cast<std::ptrdiff_t>(r * width);
            result[r].values.insert(result[r].values.end(), first, first + static_cast<std::ptrdiff_t>(width));
        }
    }

    void set_label(Answer& answer) const {
        const std::vector<std::string>& labels = implementation().labels;
        if (labels.empty()) return;
        if (answer.values.size() != labels.size())
            refuse_request(
                fmt::format("{} labels are named, and a row has {} values", labels.size(), answer.values.size()));
        answer.label = label_of_largest(labels, answer.values);
    }

    std::vector<GraphPort> ports_;
    mutable std::optional<CompiledGraph> model_;
};

}  // namespace

std::unique_ptr<Implementation> make_graph(const ImplementationSettings& implementation, const Settings& settings) {
    return std::make_unique<GraphModel>(implementation, settings);
}

}  // namespace cairn::compare
