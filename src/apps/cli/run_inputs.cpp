#include "apps/cli/run_inputs.hpp"

#include "apps/cli/host.hpp"
#include "apps/cli/seeded_elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

namespace cairn::cli {
namespace {

std::int64_t count_of(const std::vector<std::int64_t>& shape) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    return count;
}

std::vector<std::int64_t> at(const Shape& shape, std::span<const std::int64_t> values) {
    std::vector<std::int64_t> sizes;
    for (const Dim& size : shape) sizes.push_back(size.evaluate(values));
    return sizes;
}

/// Scale of random weights for which their products with values about 1 sum to about 1.
double weight_scale(const std::vector<std::int64_t>& shape) {
    if (shape.size() < 2) return 1;
    const std::int64_t terms = std::max(shape[shape.size() - 1], shape[shape.size() - 2]);
    return 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(terms, 1)));
}

WeightSource seeded_weights(const std::vector<GraphPort>& weights, std::uint64_t seed) {
    return [&weights, seed](std::string_view name) {
        InputView view;
        const auto port =
            std::find_if(weights.begin(), weights.end(), [&](const auto& each) { return each.name == name; });
        if (port == weights.end()) return view;
        view.dtype = port->dtype;
        view.shape = at(port->shape, {});
        auto data = std::make_unique<std::vector<std::byte>>(seeded_elements(
            seed, name, static_cast<std::size_t>(count_of(view.shape)), {port->dtype, weight_scale(view.shape)}));
        view.data = data->data();
        view.release = [](void* owner) { delete static_cast<std::vector<std::byte>*>(owner); };
        view.owner = data.release();
        return view;
    };
}

/// The geometric mean of a range.
std::int64_t middle_of(const Symbols::Symbol& symbol) {
    const double low = static_cast<double>(std::max<std::int64_t>(symbol.low, 1)),
                 high = static_cast<double>(symbol.high);
    return std::clamp(static_cast<std::int64_t>(std::llround(std::sqrt(low * high))), symbol.low, symbol.high);
}

}  // namespace

RunInputs::RunInputs(const Graph& graph, const Options& options)
    : weights_(options.weights), seed_(options.seed.value_or(0)) {
    set_sizes(graph, options);
    std::vector<std::int64_t> values;
    for (const auto& [name, value] : sizes_) values.push_back(value);
    for (const GraphPort& port : ports(graph)) add(port, values);
    if (weight_ports_.empty() && !weights_.empty())
        throw Error(ErrorKind::argument, "weights",
                    fmt::format("--weights {} has no effect: the graph has no weights", weights_));
    if (!weight_ports_.empty() && weights_.empty())
        print_to_stderr(fmt::format("weights are made from seed {}: --weights FILE takes them from a file", seed_));
}

std::vector<std::pair<std::string, std::int64_t>> RunInputs::sizes_for(const Graph& graph, const Options& options) {
    RunInputs run_inputs;
    run_inputs.set_sizes(graph, options);
    return run_inputs.sizes_;
}

void RunInputs::set_sizes(const Graph& graph, const Options& options) {
    const std::vector<Symbols::Symbol> symbols = graph.symbols().list();
    for (const Symbols::Symbol& symbol : symbols) sizes_.emplace_back(symbol.name, middle_of(symbol));
    for (const GraphPort& port : ports(graph)) {
        if (port.axis < 0) continue;
        const std::string length = to_string(port.shape[static_cast<std::size_t>(port.axis)]);
        for (std::size_t i = 0; i < symbols.size(); ++i) {
            if (symbols[i].name != length) continue;
            sizes_[i].second = symbols[i].low;
            const auto same = [&](const auto& each) { return each.first == length; };
            if (std::none_of(lengths_.begin(), lengths_.end(), same)) lengths_.emplace_back(length, 0);
        }
    }
    for (const auto& [size, value] : sizes_of(options)) {
        const std::string& name = size;
        const auto symbol =
            std::find_if(symbols.begin(), symbols.end(), [&](const auto& each) { return each.name == name; });
        if (symbol == symbols.end()) {
            std::vector<std::string> known;
            for (const Symbols::Symbol& each : symbols)
                known.push_back(fmt::format("{} in {}..{}", each.name, each.low, each.high));
            throw Error(
                ErrorKind::argument, "size",
                fmt::format("the graph has no size {}, {}", name,
                            known.empty() ? "all its sizes are fixed" : fmt::format("but {}", fmt::join(known, ", "))));
        }
        if (value < symbol->low || value > symbol->high)
            throw Error(ErrorKind::argument, "size",
                        fmt::format("{} = {} is not in {}..{}", name, value, symbol->low, symbol->high));
        sizes_[static_cast<std::size_t>(symbol - symbols.begin())].second = value;
    }
    for (auto& [name, length] : lengths_)
        for (const auto& [symbol, value] : sizes_)
            if (symbol == name) length = value;
}

void RunInputs::add(const GraphPort& port, std::span<const std::int64_t> values) {
    if (port.kind == GraphPort::Kind::weight) weight_ports_.push_back(port);
    const bool is_kept = port.kind == GraphPort::Kind::state && port.axis >= 0;
    if (port.kind != GraphPort::Kind::input && !is_kept) return;
    ElementKind kind{port.dtype};
    if (port.index_limit) kind.below = port.index_limit->evaluate(values);
    PortData given{port, at(port.shape, values), {}};
    given.data = seeded_elements(seed_, port.name, static_cast<std::size_t>(count_of(given.shape)), kind);
    (is_kept ? states_ : inputs_).push_back(std::move(given));
}

void RunInputs::apply_to(CompiledGraph& model, const ProgressSink& progress, const std::stop_token& stop) const {
    if (weights_.empty())
        model.bind(seeded_weights(weight_ports_, seed_), progress, stop);
    else
        model.bind(Safetensors::open(weights_), progress, stop);
    const auto is_length = [&](const std::string& name) {
        return std::any_of(lengths_.begin(), lengths_.end(), [&](const auto& each) { return each.first == name; });
    };
    for (const auto& [name, value] : sizes_)
        if (!is_length(name)) model.set(name, value);
    for (const PortData& input : inputs_)
        model.set(input.port.name, static_cast<const void*>(input.data.data()), input.shape);
    for (const PortData& state : states_)
        model.set_state(state.port.name, static_cast<const void*>(state.data.data()), state.shape);
}

void RunInputs::run(CompiledGraph& model, const std::stop_token& stop, bool profile) const {
    for (const auto& [symbol, length] : lengths_) model.rewind(symbol, length);
    model.run({.stop = stop, .profile = profile});
}

double RunInputs::time(CompiledGraph& model, const std::stop_token& stop) const {
    using Clock = std::chrono::steady_clock;
    constexpr std::size_t least = 3, most = 25;
    constexpr std::chrono::duration<double> enough{1};
    run(model, stop);
    std::vector<double> seconds;
    const Clock::time_point begin = Clock::now();
    while (seconds.size() < least || (seconds.size() < most && Clock::now() - begin < enough)) {
        for (const auto& [symbol, length] : lengths_) model.rewind(symbol, length);
        const Clock::time_point start = Clock::now();
        model.run({.stop = stop});
        seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
    return seconds[seconds.size() / 2];
}

std::string RunInputs::sizes_text() const {
    std::vector<std::string> parts;
    for (const auto& [name, value] : sizes_) parts.push_back(fmt::format("{} = {}", name, value));
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace cairn::cli
