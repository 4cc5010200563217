#include "tests/long_fuzz/options.hpp"

#include "graph/ir/graph_data.hpp"
#include "tests/graph/ir/random_generator.hpp"

#include <sched.h>

#include <algorithm>

namespace cairn::test {
namespace {

// Threads inherit the CPUs of the thread that creates them.
Context on_one_cpu(const ContextOptions& options) {
    cpu_set_t before, one;
    if (sched_getaffinity(0, sizeof before, &before) != 0) return Context(options);
    CPU_ZERO(&one);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &before)) ++cpu;
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    Context context(options);
    sched_setaffinity(0, sizeof before, &before);
    return context;
}

Context at_most(FeatureSet features) {
    ContextOptions options;
    options.features = features & Context().features();
    return Context(options);
}

}  // namespace

std::vector<OptionSet> option_sets(int count, int threads) {
    ContextOptions plain, many, reference;
    many.threads = threads;
    reference.reference_only = true;
    std::vector<OptionSet> sets;
    sets.push_back({"verify", Context(plain), {.verify = true}});
    sets.push_back({"one stage off", Context(plain), {.verify = true}});
    sets.push_back({"threads", Context(many), {}});
    sets.push_back({"avx2", at_most(levels::avx2), {}});
    sets.push_back({"baseline", at_most(levels::baseline), {}});
    sets.push_back({"reference", Context(reference), {}});
    sets.push_back({"threads on one CPU", on_one_cpu(many), {.verify = true}});
    sets.push_back({"own outputs", Context(plain), {}, true});
    sets.erase(sets.begin() + std::clamp(count, 1, 8), sets.end());
    return sets;
}

std::vector<ContextPair> context_pairs(int threads) {
    ContextOptions plain, many, reference;
    many.threads = threads;
    reference.reference_only = true;
    std::vector<ContextPair> pairs;
    pairs.push_back({"one thread", Context(plain), Context(plain)});
    pairs.push_back({"threads", Context(many), Context(many)});
    pairs.push_back({"avx2", at_most(levels::avx2), at_most(levels::avx2)});
    pairs.push_back({"baseline", at_most(levels::baseline), at_most(levels::baseline)});
    pairs.push_back({"reference", Context(reference), Context(reference)});
    return pairs;
}

CompileOptions random_options(const Graph& graph, std::uint64_t seed) {
    RandomGenerator random(seed + 77);
    CompileOptions options;
    options.verify = random.one_in(2);
    if (random.one_in(2)) options.disable.push_back(random.pick(stage_names()));
    if (random.one_in(6)) options.disable.push_back(random.pick(stage_names()));
    if (random.one_in(6)) options.tolerance = Tolerance::relative(random.one_in(2) ? 1e-2 : 1e-4);
    if (random.one_in(4)) options.seconds_per_kept_byte = 0;
    // Symbols in the shapes of states cannot be split.
    std::vector<Symbols::Symbol> symbols;
    for (const auto& symbol : graph.data()->symbols()->list())
        if (std::ranges::none_of(graph.data()->states(), [&](const ir::StateInfo& state) {
                return std::ranges::any_of(state.shape, [&](const Dim& size) {
                    return to_string(size).find(symbol.name) != std::string::npos;
                });
            }))
            symbols.push_back(symbol);
    if (symbols.empty() || !random.one_in(3)) return options;
    const auto& symbol = random.pick(symbols);
    if (random.one_in(3) && symbol.low > 0)
        options.splits = {Split::automatic(symbol.name)};
    else if (symbol.low < symbol.high)
        options.splits = {{symbol.name, {random.between(symbol.low, symbol.high - 1)}}};
    return options;
}

std::string text_of(const CompileOptions& options) {
    std::string text = options.verify ? "verify" : "no verify";
    for (const std::string& stage : options.disable) text += ", without " + stage;
    if (!options.tolerance.is_exact()) text += ", tolerance " + to_string(options.tolerance);
    if (options.seconds_per_kept_byte == 0) text += ", bytes cost nothing";
    for (const Split& split : options.splits)
        text += ", " + split.symbol + " split" +
                (split.is_automatic ? std::string(" where it pays") : " at " + std::to_string(split.upper_bounds[0]));
    return text;
}

std::string stage_off(std::uint64_t seed) {
    const std::vector<std::string> names = stage_names();
    return names[seed % names.size()];
}

}  // namespace cairn::test
