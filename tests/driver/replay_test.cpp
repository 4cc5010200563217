#include "driver/replay.hpp"

#include "autotune/measurement/fingerprint.hpp"
#include "bench/graph_families.hpp"
#include "cairn/cairn.hpp"
#include "cairn/models/gpt2.hpp"
#include "device/context_impl.hpp"
#include "graph/ir/graph_data.hpp"
#include "runtime/file_io.hpp"
#include "selection/cost/cost.hpp"
#include "tests/autotune/policy/inexact_product.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {
namespace {

std::filesystem::path lock_file(const std::string& name) {
    return std::filesystem::path(CAIRN_BINARY_DIR) / ("replay_" + name + ".lock");
}

CompileOptions replaying(const std::filesystem::path& lock, CompileOptions options = {}) {
    options.mode = Mode::replay;
    options.lock = lock;
    return options;
}

std::string error_of_replay(const Graph& graph, const CompileOptions& options, const Context& context = Context()) {
    try {
        compile(graph, context, options);
        return {};
    } catch (const Error& error) { return error.what(); }
}

/// Records random times between a nanosecond and a millisecond for a random half of the candidate kernels.
void measure_something(const Graph& graph, const Context& context, unsigned seed) {
    std::mt19937 random(seed);
    Context::Impl& impl = *context.impl();
    const TimingPolicy policy{.threads = context.threads()};
    const TimingEnvironment environment = autotune::environment_of(impl);
    std::set<std::pair<std::string, std::string>> known;
    const auto store = [&](const ExplainedKernel& verdict) {
        if (!verdict.refusal.empty() || !known.emplace(verdict.kernel, verdict.problem).second || random() % 2 == 0)
            return;
        const std::shared_ptr<Symbols> symbols = Symbols::create();
        const Problem problem = parse_problem(verdict.problem, *symbols);
        Timing timing;
        timing.samples = 5;
        timing.min = timing.p10 = timing.median = timing.p90 =
            std::pow(10, -9 + 6 * static_cast<double>(random()) / 4294967296.0);
        for (const selection::SizedProblem& sized :
             selection::sized_problems_at(problem, selection::representative_sizes(*symbols)))
            impl.timings->record(*sized, verdict.kernel, environment, policy, timing);
    };
    for (const ExplainedBucket& bucket : compile(graph, context).explain().buckets) {
        for (const ExplainedInstruction& instruction : bucket.instructions) {
            store(instruction.chosen);
            for (const ExplainedKernel& other_candidate : instruction.other_kernels) store(other_candidate);
        }
        for (const ExplainedValue& value : bucket.values)
            for (const ExplainedAlternative& alternative : value.alternatives)
                for (const ExplainedKernel& kernel : alternative.kernels) store(kernel);
    }
}

TEST(Replay, RepeatsASelectionMadeWithAnyTimes) {
    const std::filesystem::path lock = lock_file("random");
    const Context untimed;
    int changed = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Graph graph = test::random_graph(seed);
        const Context measured;
        measure_something(graph, measured, static_cast<unsigned>(seed));
        const CompiledGraph chosen = compile(graph, measured, {.mode = Mode::cached});
        chosen.write_lock(lock);
        const CompiledGraph again = compile(graph, untimed, replaying(lock));
        const double seconds = chosen.explain().buckets[0].seconds;
        EXPECT_NEAR(again.explain().buckets[0].seconds, seconds, 1e-9 * seconds) << "seed " << seed << '\n'
                                                                                 << to_string(graph);
        EXPECT_EQ(again.program(), chosen.program()) << "seed " << seed;
        changed += chosen.program() != compile(graph, untimed).program();
    }
    EXPECT_GT(changed, 30) << "times have hardly changed anything";
}

/// Layers of a transformer whose weights are shared by several buckets.
Graph small_transformer() {
    models::Gpt2Config config;
    config.layers = 2, config.width = 32, config.heads = 2, config.vocabulary = 50, config.positions = 32;
    return models::gpt2_graph(config, models::gpt2_weights(config));
}

/// Graphs of all kinds: with truncated searches, with equal layers, random ones.
Graph any_graph(std::uint64_t seed) {
    constexpr std::string_view cut[] = {"wide", "random", "parts", "outputs"};
    if (seed % 4 == 0)
        for (const bench::Family& family : bench::families)
            if (family.name == cut[seed / 4 % std::size(cut)]) return bench::build(family, 400);
    if (seed % 4 == 1) return small_transformer();
    test::RandomGraphOptions options;
    options.steps = 30 + static_cast<int>(seed % 3) * 20;
    options.edge_values = seed % 8 < 4;
    return test::random_graph(seed, options);
}

/// Options for which a search is truncated, is approximate, or has a memory limit.
CompileOptions any_options(const Graph& graph, std::mt19937& random) {
    CompileOptions options;
    options.mode = Mode::cached;
    if (random() % 2 == 0) options.seconds_per_kept_byte = random() % 2 == 0 ? 0 : 1e-12;
    if (random() % 2 == 0) options.tolerance = Tolerance::relative(random() % 2 == 0 ? 1e-2 : 3e-3);
    if (random() % 6 == 0) options.disable = {random() % 2 == 0 ? "pack" : "elementwise"};
    if (random() % 8 == 0) options.disable.emplace_back("search");
    for (const Symbols::Symbol& symbol : graph.data()->symbols()->list()) {
        // A size of a state cannot be split.
        const bool is_of_state = std::any_of(
            graph.data()->states().begin(), graph.data()->states().end(),
            [&](const ir::StateInfo& state) { return to_string(state.shape).find(symbol.name) != std::string::npos; });
        if (is_of_state || symbol.low == symbol.high || random() % 4 == 0) continue;
        std::vector<std::int64_t> ends{symbol.low};
        if (const std::int64_t middle = (symbol.low + symbol.high) / 2; middle > symbol.low && middle < symbol.high)
            ends.push_back(middle);
        options.splits.push_back({symbol.name, std::move(ends)});
    }
    return options;
}

// The lock alone determines the programs, without search, times or database.
TEST(Replay, ReproducesProgramsHoweverTheyWereSelected) {
    const std::filesystem::path lock = lock_file("any"), once_more = lock_file("once_more");
    ContextOptions with;
    with.extra.kernels = {test::inexact_product()};
    const Context fresh(with);
    int cut = 0, limited = 0, inexact = 0, ranges = 0;
    for (std::uint64_t seed = 0; seed < 48; ++seed) {
        std::mt19937 random(static_cast<unsigned>(seed));
        const Graph graph = any_graph(seed);
        CompileOptions options = any_options(graph, random);
        const Context measured(with);
        measure_something(graph, measured, static_cast<unsigned>(seed));
        std::optional<CompiledGraph> chosen = compile(graph, measured, options);
        if (seed % 3 == 0) {
            const MemoryReport most = chosen->memory();
            const std::int64_t all = most.bound + most.states + most.arena + most.constants + most.verification;
            options.memory_limit = all - all / 50;
            try {
                chosen = compile(graph, measured, options);
                ++limited;
            } catch (const Error& error) {
                ASSERT_EQ(error.kind(), ErrorKind::memory) << error.what();
                options.memory_limit.reset();
            }
        }
        chosen->write_lock(lock);
        CompileOptions others = replaying(lock, options);
        others.seconds_per_kept_byte = 1e-6;  // not part of the lock's key
        const CompiledGraph again = compile(graph, fresh, others);
        EXPECT_EQ(again.program(), chosen->program()) << "seed " << seed;
        again.write_lock(once_more);
        EXPECT_EQ(runtime::read_file(once_more, "test", "the lock"), runtime::read_file(lock, "test", "the lock"))
            << "seed " << seed;
        cut += chosen->explain().optimality_gap > 0 ? 1 : 0;
        inexact += chosen->program().find("\n# exact\n") != std::string::npos ? 1 : 0;
        ranges += options.splits.empty() ? 0 : 1;
    }
    EXPECT_GT(cut, 5);
    EXPECT_GT(limited, 1);
    EXPECT_GT(inexact, 1);
    EXPECT_GT(ranges, 15);
}

Graph three_lines(bool with_tail) {
    Graph g("lines");
    const Dim n = g.symbol("N", 1, 64);
    const Tensor x = g.input("x", DType::f32, {n, 32});
    const Tensor y = linear(gelu(x), g.weight("w", DType::f32, {32, 16}));
    g.output("y", y);
    if (with_tail) g.output("z", softmax(y));
    return g;
}

TEST(Replay, AnAddedCallIsNamed) {
    const std::filesystem::path lock = lock_file("edited");
    compile(three_lines(false), Context()).write_lock(lock);
    EXPECT_EQ(error_of_replay(three_lines(false), replaying(lock)), "");
    const std::string fault = error_of_replay(three_lines(true), replaying(lock));
    EXPECT_NE(fault.find("softmax axis=(-1) | f32[N,16] -> f32[N,16] where N in 1..64"), std::string::npos) << fault;
    EXPECT_EQ(fault.find("linear"), std::string::npos) << fault;
    EXPECT_NE(fault.find(lock.string()), std::string::npos) << fault;

    compile(three_lines(true), Context()).write_lock(lock);
    std::vector<std::string> log;
    const Context logging({.log = [&](LogLevel, std::string_view line) { log.emplace_back(line); }});
    EXPECT_EQ(error_of_replay(three_lines(true), replaying(lock), logging), "");
    EXPECT_TRUE(log.empty());
    EXPECT_EQ(error_of_replay(three_lines(false), replaying(lock), logging), "") << "the rest is as it was";
    ASSERT_EQ(log.size(), 1U);
    EXPECT_NE(log[0].find("was written for another graph"), std::string::npos) << log[0];
    Graph other("other");
    other.output("y", exp(other.input("x", DType::f32, {7})));
    const std::string unlike = error_of_replay(other, replaying(lock));
    EXPECT_NE(unlike.find("=exp(0):f32} | f32[7] -> f32[7]"), std::string::npos) << unlike;
    EXPECT_NE(unlike.find("which do not occur:"), std::string::npos) << unlike;
    EXPECT_NE(unlike.find("softmax axis=(-1)"), std::string::npos) << unlike;
}

// The values of large constants are part of the lock's key.
TEST(Replay, AChangedConstantIsAnotherGraph) {
    const std::filesystem::path lock = lock_file("constant");
    std::vector<std::string> log;
    const Context logging({.log = [&](LogLevel, std::string_view line) { log.emplace_back(line); }});
    const auto check = [&]<typename T>(T, DType dtype) {
        const auto graph_with = [dtype](std::size_t changed) {
            std::vector<T> numbers(1000);
            for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<T>(i * 37 % 101);
            numbers[changed] += 1;
            Graph g("constant");
            g.output("y", g.input("x", dtype, {1000}) + g.constant(numbers, {1000}));
            return g;
        };
        compile(graph_with(1), logging).write_lock(lock);
        log.clear();
        compile(graph_with(1), logging, replaying(lock));
        EXPECT_TRUE(log.empty());
        compile(graph_with(998), logging, replaying(lock));
        EXPECT_EQ(log.size(), 1U) << "by calls";
    };
    check(float(), DType::f32);
    check(std::int64_t(), DType::i64);
}

TEST(Replay, AutomaticSplitsAreThoseOfTheLock) {
    models::Gpt2Config config;
    config.layers = 2, config.width = 64, config.heads = 2, config.vocabulary = 100, config.positions = 64;
    const Graph graph = models::gpt2_graph(config, models::gpt2_weights(config));
    CompileOptions options;
    options.splits = {Split::automatic("T")};
    const CompiledGraph chosen = compile(graph, Context(), options);
    const std::filesystem::path lock = lock_file("splits");
    chosen.write_lock(lock);
    EXPECT_EQ(compile(graph, Context(), replaying(lock, options)).program(), chosen.program());
    options.splits = {{"T", {7}}};
    EXPECT_NE(error_of_replay(graph, replaying(lock, options)), "") << "other ranges are other problems";
}

TEST(Replay, SelectsInexactKernelsAndNarrowStatesAgain) {
    const std::filesystem::path lock = lock_file("inexact");
    ContextOptions with;
    with.extra.kernels = {test::inexact_product()};
    Graph product("product");
    product.output("y", matmul(product.input("x", DType::f32, {4, 64}), product.weight("w", DType::f32, {64, 32})));
    CompileOptions options;
    options.tolerance = Tolerance::relative(1e-2);
    const CompiledGraph chosen = compile(product, Context(with), options);
    ASSERT_NE(chosen.program().find("test.bf16.matmul"), std::string::npos);
    chosen.write_lock(lock);
    EXPECT_EQ(compile(product, Context(with), replaying(lock, options)).program(), chosen.program());
    const std::string missing = error_of_replay(product, replaying(lock, options));
    EXPECT_NE(missing.find("the step \"%"), missing.npos) << missing;
    EXPECT_NE(missing.find(" test.bf16.matmul"), missing.npos) << missing;
    options.tolerance = Tolerance::relative(1e-3);
    const CompiledGraph stricter = compile(product, Context(with), replaying(lock, options));
    EXPECT_EQ(stricter.program().find("test.bf16.matmul"), std::string::npos) << "the exact one beside it is left";

    Graph cache("cache");
    const Dim past = cache.symbol("P", 0, 2047), t = cache.symbol("T", 1, 8);
    State keys = cache.state("keys", DType::f32, {1, 2, past, 64}, 2, 2048),
          values = cache.state("values", DType::f32, {1, 2, past, 64}, 2, 2048);
    const Tensor x = cache.input("x", DType::f32, {1, 2, t, 64});
    cache.output("y", attention(x, keys.append(x), values.append(x + 1.0F), {.causal = true}));
    options.tolerance = Tolerance::relative(2e-3);
    const CompiledGraph narrow = compile(cache, Context(), options);
    ASSERT_NE(narrow.program().find(" f16["), std::string::npos);
    narrow.write_lock(lock);
    EXPECT_EQ(compile(cache, Context(), replaying(lock, options)).program(), narrow.program());
}

TEST(Replay, AFileThatIsNoLockIsAnError) {
    const std::filesystem::path lock = lock_file("damaged");
    std::filesystem::remove(lock);
    EXPECT_NE(error_of_replay(three_lines(false), replaying(lock)).find("cannot read the lock"), std::string::npos);
    EXPECT_NE(error_of_replay(three_lines(false), replaying({})).find("cannot read the lock"), std::string::npos);
    EXPECT_NE(error_of_replay(three_lines(false), replaying(CAIRN_BINARY_DIR)).find(CAIRN_BINARY_DIR),
              std::string::npos);
    compile(three_lines(false), Context()).write_lock(lock);
    std::ofstream(lock, std::ios::app) << "call 0 0 k p\n";
    EXPECT_NE(error_of_replay(three_lines(false), replaying(lock)).find("it was changed"), std::string::npos);
    EXPECT_THROW(compile(three_lines(false), Context()).write_lock("/nowhere/at/all.lock"), Error);
    const std::filesystem::path saved = lock_file("saved");
    compile(three_lines(false), Context()).save(saved);
    EXPECT_THROW(CompiledGraph::load(saved, Context()).write_lock(lock), Error);
}

}  // namespace
}  // namespace cairn
