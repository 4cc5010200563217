#include "autotune/measurement/fingerprint.hpp"
#include "cairn/cairn.hpp"
#include "cairn/models/gpt2.hpp"
#include "device/context_impl.hpp"
#include "tests/autotune/database/took.hpp"
#include "tests/errors/message.hpp"
#include "tests/rewrite/alternatives/random_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <thread>

namespace cairn::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// A kernel that states a time of `microseconds` and does nothing.
template <int microseconds>
Kernel kernel_of(std::string id, std::string definition) {
    Kernel kernel;
    kernel.id = std::move(id);
    kernel.definition = std::move(definition);
    kernel.accepts = [](const Problem&) -> Refusal { return {}; };
    kernel.run = [](const Args&, Team&) {};
    kernel.cost = [](const Problem&) -> Cost { return {0, microseconds * 20e3, 1}; };  // at 20 GB/s
    return kernel;
}

/// floor(exp(x)) with three kernels: the fastest one, one that is 2 us slower, and one that refuses.
KernelSet floor_exp() {
    KernelSet set;
    set.definitions.push_back(
        {"floor_exp",
         [](std::span<const Tensor> x, const Attributes&) { return std::vector<Tensor>{floor(exp(x[0]))}; },
         {"floor_exp | f32[N]"}});
    set.kernels = {kernel_of<3>("my.slow@1", "floor_exp"), kernel_of<1>("my.fast@1", "floor_exp"),
                   kernel_of<1>("my.shy@1", "floor_exp")};
    set.kernels[2].accepts = [](const Problem&) -> Refusal { return "it is Sunday"; };
    return set;
}

Context own_context(KernelSet set = floor_exp()) {
    ContextOptions options;
    options.extra = std::move(set);
    return Context(options);
}

const CompileOptions without_groups{.disable = {"elementwise"}};

Graph floor_of_exp() {
    Graph g("small");
    g.output("y", floor(exp(g.input("x", DType::f32, {256, 256}))));
    return g;
}

std::size_t kernels_for(const Context& context, std::string_view definition) {
    return static_cast<std::size_t>(
        std::count_if(context.kernels().kernels.begin(), context.kernels().kernels.end(),
                      [&](const Kernel& kernel) { return kernel.definition == definition; }));
}

const ExplainedAlternative& alternative_by(const ExplainedValue& value, const std::string& definition) {
    const auto it = std::find_if(value.alternatives.begin(), value.alternatives.end(),
                                 [&](const ExplainedAlternative& alternative) {
                                     return alternative.view.empty() && alternative.definition == definition;
                                 });
    EXPECT_NE(it, value.alternatives.end()) << definition;
    return *it;
}

double best_seconds(const ExplainedAlternative& alternative) {
    return alternative.kernels.at(static_cast<std::size_t>(alternative.best)).seconds;
}

TEST(Explanation, ContainsEveryKernelAndAlternativeOfASmallGraph) {
    const Context context = own_context();
    const Explanation explanation = compile(floor_of_exp(), context, without_groups).explain();
    EXPECT_TRUE(explanation.has_alternatives && explanation.is_exact);
    EXPECT_EQ(explanation.kernels.size(), context.kernels().kernels.size());
    ASSERT_EQ(explanation.buckets.size(), 1U);
    const ExplainedBucket& bucket = explanation.buckets[0];
    EXPECT_TRUE(bucket.ranges.empty() && bucket.errors.empty());
    ASSERT_EQ(bucket.instructions.size(), 1U);
    const ExplainedInstruction& only = bucket.instructions[0];
    EXPECT_EQ(only.chosen.kernel, "my.fast@1");
    EXPECT_EQ(only.chosen.problem, "floor_exp | f32[256,256] -> f32[256,256]");
    EXPECT_NEAR(only.chosen.seconds, 1.03e-6, 1e-12);
    EXPECT_EQ(bucket.seconds, only.chosen.seconds);
    EXPECT_FALSE(only.chosen.measured || only.chosen.is_reference || only.at_bind);
    EXPECT_EQ(only.op, "floor");
    EXPECT_THAT(only.where, StartsWith("explanation_test.cpp:"));
    ASSERT_EQ(only.other_kernels.size(), 2U);
    EXPECT_EQ(only.other_kernels[0].kernel, "my.slow@1") << "as they are listed";
    EXPECT_NEAR(only.other_kernels[0].seconds - only.chosen.seconds, 2e-6, 1e-12);
    EXPECT_EQ(only.other_kernels[1].kernel, "my.shy@1");
    EXPECT_EQ(only.other_kernels[1].refusal, "it is Sunday");
    EXPECT_EQ(only.other_kernels[1].seconds, 0);

    ASSERT_EQ(bucket.values.size(), 2U);
    const ExplainedValue &inner = bucket.values[0], &outer = bucket.values[1];
    ASSERT_EQ(inner.alternatives.size(), 1U);
    EXPECT_EQ(inner.value, "f32[256,256]");
    EXPECT_EQ(inner.alternatives[0].definition, "exp");
    EXPECT_FALSE(inner.alternatives[0].chosen) << "it is fused";
    EXPECT_EQ(inner.alternatives[0].kernels.size(), kernels_for(context, "exp"));
    ASSERT_EQ(outer.alternatives.size(), 2U);
    EXPECT_TRUE(outer.alternatives[0].chosen && outer.alternatives[0].slower == 0.0);
    EXPECT_EQ(outer.alternatives[0].definition, "floor_exp");
    EXPECT_EQ(outer.alternatives[0].kernels.size(), 3U);
    EXPECT_EQ(outer.alternatives[0].best, 1);
    EXPECT_EQ(outer.alternatives[1].definition, "floor");
    EXPECT_EQ(outer.alternatives[1].kernels.size(), kernels_for(context, "floor"));
    const double apart =
        best_seconds(inner.alternatives[0]) + best_seconds(outer.alternatives[1]) - only.chosen.seconds;
    EXPECT_NEAR(outer.alternatives[1].slower.value(), apart, 1e-15) << "of the whole program, exp included";
    EXPECT_NEAR(inner.alternatives[0].slower.value(), apart, 1e-15);
}

// The fused kernel is so slow that the ops are computed separately.
TEST(Explanation, ReportsByHowMuchAFusedAlternativeIsSlower) {
    KernelSet set = floor_exp();
    set.kernels = {kernel_of<900>("my.fused@1", "floor_exp")};
    const Explanation explanation = compile(floor_of_exp(), own_context(set), without_groups).explain();
    const ExplainedBucket& bucket = explanation.buckets[0];
    ASSERT_EQ(bucket.instructions.size(), 2U);
    const ExplainedAlternative& fused = alternative_by(bucket.values.at(1), "floor_exp");
    EXPECT_FALSE(fused.chosen);
    EXPECT_NEAR(fused.slower.value(), best_seconds(fused) - bucket.seconds, 1e-15);
    EXPECT_THAT(why_not(explanation, "my.fused@1"),
                AllOf(HasSubstr("for f32[256,256] of floor (explanation_test.cpp:"),
                      HasSubstr("): 0.0009 s estimated, but the value is computed by floor; a "
                                "run with floor_exp here takes +0.0008")));
}

TEST(Explanation, InstructionsReportTheirCrossCoreTransfers) {
    Graph g;
    const Dim n = g.symbol("N", 1, 8);
    const Tensor x = g.input("x", DType::f32, {n, 16}), w = g.weight("w", DType::f32, {16, 16});
    g.output("y", softmax(matmul(softmax(x, -1), w), -1));
    const Explanation explanation = compile(g, Context()).explain();
    const ExplainedBucket& bucket = explanation.buckets.at(0);
    std::map<int, std::size_t> maker;
    std::set<std::string> read, written;
    for (std::size_t i = 0; i < bucket.instructions.size(); ++i) {
        const ExplainedInstruction& each = bucket.instructions[i];
        const std::string& problem = each.chosen.problem;
        const auto operands = static_cast<std::size_t>(std::count(problem.begin(), problem.end(), '['));
        EXPECT_EQ(each.reads.size() + each.writes.size(), operands) << problem;
        for (const int buffer : each.reads) {
            const ExplainedBuffer& memory = bucket.buffers.at(static_cast<std::size_t>(buffer));
            if (memory.kind == "transient" || memory.kind == "bound") { EXPECT_LT(maker.at(buffer), i); }
            if (!memory.name.empty()) read.insert(memory.kind + ' ' + memory.name);
        }
        for (const int buffer : each.writes) {
            maker[buffer] = i;
            const ExplainedBuffer& memory = bucket.buffers.at(static_cast<std::size_t>(buffer));
            if (!memory.name.empty()) written.insert(memory.kind + ' ' + memory.name);
        }
    }
    EXPECT_THAT(read, testing::ElementsAre("input x", "weight w"));
    EXPECT_THAT(written, testing::ElementsAre("output y"));
}

TEST(Explanation, WhyNotReportsTheOutcomeOfAKernel) {
    const Explanation explanation = compile(floor_of_exp(), own_context(), without_groups).explain();
    const auto outcome = [&](std::string_view kernel) {
        const std::string text = why_not(explanation, kernel);
        return text.substr(text.find("): ") + 3);
    };
    EXPECT_EQ(outcome("my.fast@1"), "taken, 1.03e-06 s estimated\n");
    EXPECT_EQ(outcome("my.slow@1"), "3.03e-06 s estimated, slower than my.fast@1 by 2e-06 s\n");
    EXPECT_EQ(outcome("my.shy@1"), "refused: it is Sunday\n");
    EXPECT_THAT(outcome("cpu.reference.exp@1"),
                HasSubstr(", but the value is not needed: it is fused, or another expression is used; a "
                          "run with exp here takes +"));
    EXPECT_EQ(std::ranges::count(why_not(explanation, "floor_exp"), '\n'), 3) << "each kernel of the definition";
    EXPECT_EQ(why_not(explanation, "softmax"),
              "never proposed: no softmax was matched in the graph or its e-classes\n");
    EXPECT_THAT(
        message([&] { why_not(explanation, "my.slwo@1"); }),
        StartsWith(
            "[why_not] there is no kernel, no definition and no named value my.slwo@1: the nearest are my.slow@1, "));
    EXPECT_THAT(message([&] { why_not(explanation, "floor_ex"); }), HasSubstr("the nearest are floor_exp, floor, "));
    const Explanation lower =
        compile(floor_of_exp(), Context({.features = levels::baseline}), without_groups).explain();
    EXPECT_THAT(why_not(lower, "cpu.avx2.exp@2"), EndsWith("): refused: needs avx2, in use is baseline\n"));
}

TEST(Explanation, WhyNotReportsTheOutcomesOfANamedValue) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {4, 64});
    g.output("y", name(softmax(x, -1), "scores"));
    g.output("z", exp(x));
    const Explanation why = compile(g, Context(), {}).explain();
    const std::string text = why_not(why, "scores");
    EXPECT_THAT(text, HasSubstr("softmax"));
    EXPECT_THAT(text, HasSubstr("\"scores\": taken, "));
    EXPECT_THAT(text, Not(HasSubstr("of exp")));
    Graph named;
    named.output("y", name(exp(named.input("x", DType::f32, {4})), "softmax"));
    EXPECT_EQ(why_not(compile(named, Context(), {}).explain(), "softmax"),
              "never proposed: no softmax was matched in the graph or its e-classes\n")
        << "a definition comes before a value of its name";
}

TEST(Explanation, MarksReferenceKernels) {
    const Explanation explanation =
        compile(floor_of_exp(), Context({.reference_only = true}), without_groups).explain();
    ASSERT_EQ(explanation.buckets[0].instructions.size(), 2U);
    for (const ExplainedInstruction& each : explanation.buckets[0].instructions) {
        EXPECT_TRUE(each.chosen.is_reference);
        EXPECT_TRUE(each.other_kernels.empty());
    }
    EXPECT_THAT(
        details(explanation),
        HasSubstr(" s estimated, reference | exp | f32[256,256] -> f32[256,256] of exp (explanation_test.cpp:"));
}

TEST(Explanation, ReportsErrorsAndTolerances) {
    KernelSet set = floor_exp();
    set.kernels[1].error = [](const Problem&) { return 5e-3; };
    const Context context = own_context(set);
    CompileOptions options = without_groups;
    const Explanation exact = compile(floor_of_exp(), context, options).explain();
    EXPECT_EQ(exact.buckets[0].instructions[0].chosen.kernel, "my.slow@1");
    EXPECT_EQ(exact.buckets[0].instructions[0].other_kernels[0].refusal,
              "its relative error is 0.005, the tolerance is exact");
    options.tolerance = Tolerance::relative(1e-2);
    const Explanation loose = compile(floor_of_exp(), context, options).explain();
    EXPECT_EQ(loose.buckets[0].errors, (std::vector<ExplainedError>{{"output \"y\"", 5e-3, 1e-2}}));
    const ExplainedKernel& chosen = loose.buckets[0].instructions[0].chosen;
    EXPECT_EQ(chosen.kernel, "my.fast@1");
    EXPECT_TRUE(chosen.error == 5e-3 && !chosen.error_measured);
    EXPECT_THAT(details(loose), AllOf(HasSubstr("  the combined error of output \"y\" is 0.005, allowed is 0.01\n"),
                                      HasSubstr(" s estimated, error 0.005 stated | floor_exp | ")));
    // Accurate enough for one output, but not for the other.
    Graph two = floor_of_exp();
    two.output("z", floor(exp(two.input("u", DType::f32, {128, 512}))));
    options.output_tolerances = {{"z", Tolerance::relative(1e-3)}};
    const Explanation mixed = compile(two, context, options).explain();
    EXPECT_THAT(why_not(mixed, "my.fast@1"),
                AllOf(HasSubstr("for f32[256,256]"), HasSubstr("taken, "), HasSubstr("for f32[128,512]"),
                      HasSubstr("refused: its relative error is 0.005, the error budget of an output permits 0.001")));
}

TEST(Explanation, HasABucketForEachRangeWithItsRepresentativeSizes) {
    Graph g("ranges");
    g.output("y", floor(exp(g.input("x", DType::f32, {g.symbol("N", 1, 64), 4096}))));
    CompileOptions options = without_groups;
    options.splits = {{"N", {8}, {100, 1}}};
    const Explanation explanation = compile(g, own_context(), options).explain();
    ASSERT_EQ(explanation.buckets.size(), 2U);
    using Ranges = std::vector<ExplainedBucket::Range>;
    EXPECT_EQ(explanation.buckets[0].ranges, (Ranges{{"N", 1, 8}}));
    EXPECT_EQ(explanation.buckets[1].ranges, (Ranges{{"N", 9, 64}}));
    const auto at = [](std::int64_t n) { return std::vector<std::pair<std::string, std::int64_t>>{{"N", n}}; };
    EXPECT_EQ(explanation.buckets[0].sizes, (decltype(explanation.buckets[0].sizes){at(1), at(3), at(6)}));
    for (const ExplainedBucket& bucket : explanation.buckets) {
        ASSERT_EQ(bucket.values.size(), 2U);
        const double apart =
            best_seconds(bucket.values[0].alternatives[0]) + best_seconds(alternative_by(bucket.values[1], "floor"));
        EXPECT_NEAR(alternative_by(bucket.values[1], "floor").slower.value(), apart - bucket.seconds, 1e-15)
            << "of one run, however often the bucket runs";
    }
    EXPECT_THAT(details(explanation),
                StartsWith("bucket N in 1..8, evaluated at N = 1 and N = 3 and N = 6: 1.03e-06 s a run\n"));
    EXPECT_THAT(why_not(explanation, "my.shy@1"),
                AllOf(HasSubstr("N in 1..8: my.shy@1 "), HasSubstr("N in 9..64: my.shy@1 ")));
}

TEST(Explanation, OfALoadedProgramContainsOnlyItsInstructions) {
    const std::filesystem::path path = std::filesystem::path(CAIRN_BINARY_DIR) / "explained.cairn";
    const Context context = own_context();
    const CompiledGraph compiled = compile(floor_of_exp(), context, without_groups);
    compiled.save(path);
    const Explanation explanation = CompiledGraph::load(path, context).explain(), whole = compiled.explain();
    EXPECT_FALSE(explanation.has_alternatives);
    EXPECT_EQ(explanation.kernels, whole.kernels);
    ASSERT_EQ(explanation.buckets.size(), 1U);
    EXPECT_TRUE(explanation.buckets[0].values.empty());
    ASSERT_EQ(explanation.buckets[0].instructions.size(), 1U);
    EXPECT_EQ(explanation.buckets[0].instructions[0].chosen, whole.buckets[0].instructions[0].chosen);
    EXPECT_TRUE(explanation.buckets[0].instructions[0].other_kernels.empty());
    EXPECT_THAT(details(explanation), AllOf(HasSubstr(" 1.03e-06 s expected | "), HasSubstr("loaded from a file")));
    EXPECT_THAT(why_not(explanation, "my.fast@1"), HasSubstr(": taken, "));
    std::stop_source source;
    source.request_stop();
    EXPECT_THROW(CompiledGraph::load(path, context).explain(source.get_token()), Cancelled);
    EXPECT_EQ(why_not(explanation, "my.slow@1"), "not taken; a loaded program does not record why\n");
}

/// Explanation of q, k and v as slices of a merged product and as separate products.
struct Expressions {
    bool merged = false;  ///< the merged product was selected
    double slower = 0;    ///< additional cost of the other expression
    std::string text;
};

/// Shared weights have other readers too, so that merging would keep them twice.
Expressions expressions_of(bool is_shared, std::vector<Split> splits = {}) {
    Graph g("qkv");
    const Tensor x = g.input("x", DType::f32, {g.symbol("T", 1, 8), 64});
    for (const char* name : {"q", "k", "v"}) {
        const Tensor w = g.weight(name, DType::f32, {64, 64});
        g.output(name, softmax(matmul(x, w)));
        if (is_shared)
            g.output(std::string("other ") + name,
                     matmul(g.input(std::string("x for ") + name, DType::f32, {4, 64}), w));
    }
    CompileOptions options;
    options.splits = std::move(splits);
    const Explanation explanation = compile(g, Context(), options).explain();
    Expressions found{false, 0, details(explanation)};
    for (const ExplainedValue& value : explanation.buckets[0].values)
        for (const ExplainedAlternative& alternative : value.alternatives) {
            if (alternative.view != "slice") continue;
            found.merged = alternative.chosen;
            const ExplainedAlternative& own = alternative_by(value, "matmul");
            const ExplainedAlternative& other = alternative.chosen ? own : alternative;
            found.slower = other.slower.value() + other.price;
        }
    return found;
}

TEST(Explanation, ReportsTheGainOrLossOfAMergedProduct) {
    const Expressions free = expressions_of(false), shared = expressions_of(true);
    RecordProperty("free", free.text);
    RecordProperty("shared", shared.text);
    EXPECT_TRUE(free.merged) << free.text;
    EXPECT_FALSE(shared.merged) << shared.text;
    EXPECT_GT(free.slower, 0);
    EXPECT_GT(shared.slower, 0);
}

TEST(Explanation, AssumesTheKeptWeightsOfOtherBuckets) {
    const Expressions found = expressions_of(false, {{"T", {2}}});
    EXPECT_TRUE(found.merged) << found.text;
    EXPECT_GT(found.slower, 64 * 64 * 4 * 1e-9) << "a weight more is kept, and the merged one all the same";
}

/// Invariants of every explanation of an exact selection.
void expect_consistent(const Explanation& explanation) {
    for (const ExplainedBucket& bucket : explanation.buckets) {
        double seconds = 0;
        for (const ExplainedInstruction& each : bucket.instructions) {
            EXPECT_EQ(each.chosen.refusal, "");
            seconds += each.at_bind ? 0 : each.chosen.seconds;
            for (const ExplainedKernel& other_candidate : each.other_kernels)
                EXPECT_NE(other_candidate.kernel, each.chosen.kernel);
        }
        EXPECT_NEAR(bucket.seconds, seconds, 1e-12 * seconds);
        for (const ExplainedValue& value : bucket.values) {
            for (std::size_t w = 0; w < value.alternatives.size(); ++w) {
                const ExplainedAlternative& alternative = value.alternatives[w];
                std::set<std::string> kernels;
                for (const ExplainedKernel& each : alternative.kernels) EXPECT_TRUE(kernels.insert(each.kernel).second);
                const auto more = [](const ExplainedAlternative& each) { return each.slower.value_or(0) + each.price; };
                EXPECT_GE(more(alternative), -1e-12 * seconds) << alternative.definition;
                EXPECT_EQ(alternative.decided_by, "") << alternative.definition;
                EXPECT_TRUE(w == 0 || value.alternatives[w - 1].chosen || !alternative.slower ||
                            more(value.alternatives[w - 1]) <= more(alternative));
                if (!alternative.chosen) continue;
                EXPECT_EQ(alternative.slower, 0.0);
                const ExplainedKernel& best = alternative.kernels.at(static_cast<std::size_t>(alternative.best));
                EXPECT_TRUE(std::any_of(bucket.instructions.begin(), bucket.instructions.end(),
                                        [&](const ExplainedInstruction& each) { return each.chosen == best; }))
                    << best.kernel << ' ' << best.problem;
            }
        }
    }
}

TEST(Explanation, OfRandomModelsIsConsistent) {
    const Context context;
    int exact = 0, compiled = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Explanation explanation = compile(random_model(seed), context).explain();
        ++compiled;
        if (!explanation.is_exact) continue;
        ++exact;
        expect_consistent(explanation);
    }
    EXPECT_GT(2 * exact, compiled);
    models::Gpt2Config config;
    config.layers = 6;
    const Explanation explanation =
        compile(models::gpt2_graph(config, models::gpt2_weights(config)), context, {.splits = {{"T", {1, 12}}}})
            .explain();
    EXPECT_TRUE(explanation.is_exact);
    expect_consistent(explanation);
}

TEST(Explanation, IsTheSameFromEachInstanceInAnyThread) {
    models::Gpt2Config config;
    config.layers = 2;
    const CompiledGraph compiled =
        compile(models::gpt2_graph(config, models::gpt2_weights(config)), Context(), {.splits = {{"T", {1, 12}}}});
    const Explanation explanation = compiled.explain();
    std::vector<std::thread> threads;
    std::vector<int> same(4, 0);
    for (int& each : same)
        threads.emplace_back(
            [&] { each = compiled.instance().explain() == explanation && compiled.explain() == explanation; });
    for (std::thread& thread : threads) thread.join();
    EXPECT_THAT(same, testing::Each(1));
    std::ostringstream out;
    out << explanation;
    EXPECT_EQ(out.str(), to_string(explanation));
    EXPECT_THAT(details(explanation), HasSubstr("    2 x f32[")) << "equal layers are listed once";
}

TEST(Explanation, OfAnotherPathReportsBetterAlternatives) {
    const Paths alternatives = paths(floor_of_exp(), own_context(), without_groups);
    const Path dearest = *alternatives.most_expensive_first().begin();
    const Explanation explanation = dearest.compile().explain(), best = alternatives.cheapest().compile().explain();
    const double gained = explanation.buckets[0].seconds - best.buckets[0].seconds;
    EXPECT_GT(gained, 1e-6);
    const ExplainedAlternative& better = alternative_by(explanation.buckets[0].values.at(1), "floor_exp");
    EXPECT_LT(better.slower.value(), 0);
    EXPECT_EQ(better.decided_by, "another program was requested");
    EXPECT_THAT(details(explanation), HasSubstr("faster by summed kernel times, another program was requested"));
    for (const ExplainedValue& value : best.buckets[0].values)
        for (const ExplainedAlternative& alternative : value.alternatives) EXPECT_GE(alternative.slower.value(), 0);
}

/// A context whose database contains the recorded times, for floor_exp and the ops it consists of.
class StoredTimes : public testing::Test {
protected:
    void record(const std::string& kernel, const std::string& problem, const Timing& timing) const {
        Context::Impl& impl = *context.impl();
        impl.timings->record(parse_problem(problem, *Symbols::create()), kernel, autotune::environment_of(impl),
                             {.threads = context.threads()}, timing);
    }
    static Timing failed(std::string why) {
        Timing timing;
        timing.status = TimingStatus::failed;
        timing.note = std::move(why);
        return timing;
    }
    static Graph ranged() {
        Graph g("ranged");
        g.output("y", floor(exp(g.input("x", DType::f32, {g.symbol("N", 1, 64), 4096}))));
        return g;
    }
    Explanation explained(const Graph& graph) const {
        CompileOptions options = without_groups;
        options.mode = Mode::cached;
        return compile(graph, context, options).explain();
    }
    /// No call takes 0.01 s; a larger number is not a time.
    static void expect_times_only(const Explanation& explanation) {
        constexpr double longest = 1e-2;
        for (const ExplainedBucket& bucket : explanation.buckets) {
            EXPECT_LT(bucket.seconds, longest);
            for (const ExplainedInstruction& each : bucket.instructions) {
                EXPECT_LT(each.chosen.seconds, longest);
                for (const ExplainedKernel& other_candidate : each.other_kernels)
                    EXPECT_LT(other_candidate.seconds, longest) << other_candidate.kernel;
            }
            for (const ExplainedValue& value : bucket.values)
                for (const ExplainedAlternative& alternative : value.alternatives) {
                    EXPECT_LT(std::abs(alternative.slower.value_or(0)), longest) << alternative.definition;
                    EXPECT_LT(std::abs(alternative.price), longest) << alternative.definition;
                    for (const ExplainedKernel& each : alternative.kernels)
                        EXPECT_LT(each.seconds, longest) << each.kernel;
                }
        }
    }
    const Context context = own_context();
};

TEST_F(StoredTimes, AFailedMeasurementIsReportedAsFailure) {
    for (const char* size : {"2", "8", "32"}) {
        const std::string at = size, problem = "floor_exp | f32[" + at + ",4096] -> f32[" + at + ",4096]";
        record("my.slow@1", problem, took(5e-6));
        record("my.fast@1", problem, at == "8" ? failed("it broke") : took(1e-6));
    }
    const Explanation explanation = explained(ranged());
    expect_times_only(explanation);
    const ExplainedInstruction& only = explanation.buckets[0].instructions.at(0);
    EXPECT_EQ(only.chosen.kernel, "my.slow@1");
    const auto fast = std::find_if(only.other_kernels.begin(), only.other_kernels.end(),
                                   [](const ExplainedKernel& each) { return each.kernel == "my.fast@1"; });
    ASSERT_NE(fast, only.other_kernels.end());
    EXPECT_EQ(fast->failure, "at N = 8: it broke");
    EXPECT_TRUE(fast->seconds == 0 && !fast->measured && fast->refusal.empty());
    EXPECT_THAT(details(explanation), HasSubstr("no time: failed when it was measured at N = 8: it broke"));
    EXPECT_THAT(to_string(explanation),
                HasSubstr("my.fast@1 for floor_exp: failed when it was measured at N = 8: it broke"));
    EXPECT_THAT(why_not(explanation, "my.fast@1"), HasSubstr("failed when it was measured at N = 8"));
    EXPECT_THAT(why_not(explanation, ""),
                AllOf(HasSubstr("my.fast@1"), HasSubstr("my.shy@1"), HasSubstr("it is Sunday")));
}

TEST_F(StoredTimes, CallsThatATruncatedTuneDidNotMeasureHaveExpectedTimes) {
    record("my.slow@1", "floor_exp | f32[256,256] -> f32[256,256]", took(5e-6));
    Graph g = floor_of_exp();
    g.output("z", floor(exp(g.input("u", DType::f32, {128, 512}))));
    const Explanation explanation = explained(g);
    expect_times_only(explanation);
    std::size_t unmeasured = 0;
    for (const ExplainedInstruction& each : explanation.buckets[0].instructions)
        for (const ExplainedKernel& other_candidate : each.other_kernels)
            unmeasured += other_candidate.ranked_last ? 1 : 0;
    EXPECT_GT(unmeasured, 0U);
    EXPECT_THAT(details(explanation), HasSubstr("not measured although others are: ranked last"));
    EXPECT_THAT(to_string(explanation), HasSubstr("% of the time is estimated: measure it by `cairn tune`"));
}

/// Adapters of a weight: packing the merged weight costs more for its bytes than it saves in time.
TEST(Explanation, ReportsTimeAndCostOfKeptBytesSeparately) {
    Graph g("adapters");
    const Tensor x = g.input("x", DType::f32, {g.symbol("N", 1, 256), 1024});
    const auto weight = [&](const char* name, int rows, int columns) {
        return transpose(g.weight(name, DType::f32, {rows, columns}), {1, 0});
    };
    g.output("y", matmul(x, weight("w", 1024, 1024)) +
                      matmul(matmul(x, weight("A", 16, 1024)), weight("B", 1024, 16)) * 2.0f);
    const Context context;
    int priced = 0;
    for (const double price : {1e-9, 0.0}) {
        const Explanation explanation =
            compile(g, context, {.splits = {{"N", {1}}}, .seconds_per_kept_byte = price}).explain();
        for (const ExplainedBucket& bucket : explanation.buckets)
            for (const ExplainedValue& value : bucket.values)
                for (const ExplainedAlternative& alternative : value.alternatives) {
                    // Work done at bind counts a thousandth.
                    EXPECT_NEAR(alternative.price, alternative.more_bytes * price, 1e-4) << details(explanation);
                    if (alternative.slower) { EXPECT_LT(std::abs(*alternative.slower), 20 * bucket.seconds); }
                    if (alternative.more_bytes < 1e6 || price == 0) continue;
                    ++priced;
                    EXPECT_GT(alternative.price, 1e-3);
                    EXPECT_THAT(details(explanation), HasSubstr(" MB more kept, which counts +"));
                }
    }
    EXPECT_GT(priced, 0);
}

TEST(Explanation, AStopRequestCancels) {
    const CompiledGraph compiled = compile(floor_of_exp(), own_context(), without_groups);
    std::stop_source source;
    EXPECT_FALSE(compiled.explain(source.get_token()).buckets.empty());
    source.request_stop();
    EXPECT_THROW(compiled.explain(source.get_token()), Cancelled);
    EXPECT_FALSE(compiled.explain().buckets.empty());
}

TEST(Explanation, OfADeepGraphReportsEachValue) {
    constexpr int depth = 20'000;
    Graph g("deep");
    Tensor x = g.input("x", DType::f32, {4});
    for (int i = 0; i < depth; ++i) x = i % 2 == 0 ? cumsum(x, -1) : -x;
    g.output("y", x);
    const Explanation explanation = compile(g, Context({.reference_only = true}), without_groups).explain();
    EXPECT_TRUE(explanation.is_exact);
    EXPECT_EQ(explanation.buckets[0].instructions.size(), static_cast<std::size_t>(depth));
    EXPECT_EQ(explanation.buckets[0].values.size(), static_cast<std::size_t>(depth));
    EXPECT_THAT(why_not(explanation, "neg"),
                StartsWith("10000 x cpu.reference.neg@1 for f32[4] of neg (explanation_test.cpp:"));
}

TEST(Explanation, OfATruncatedSearchReportsTheGap) {
    Explanation explanation;
    explanation.has_alternatives = true;
    EXPECT_EQ(details(explanation), "");
    explanation.is_exact = false;
    const std::string end = ", and alternatives may cost less than stated\n";
    EXPECT_EQ(details(explanation), "a search was cut off: these programs are the best" + end)
        << "that of one value was";
    explanation.optimality_gap = 0.00034;
    EXPECT_EQ(details(explanation), "a search was cut off: no programs are better by more than 0.034 %" + end);
    explanation.optimality_gap = 1;
    EXPECT_EQ(details(explanation), "a search was cut off: there may be better programs" + end);
}

TEST(Explanation, OfAGraphWithoutOpsIsEmpty) {
    Graph g;
    g.output("y", g.input("x", DType::f32, {2}));
    const Explanation explanation = compile(g, Context()).explain();
    EXPECT_TRUE(explanation.buckets.at(0).instructions.empty() && explanation.buckets[0].values.empty());
    EXPECT_EQ(details(explanation), "bucket: 0 s a run\n");
}

}  // namespace
}  // namespace cairn::test
