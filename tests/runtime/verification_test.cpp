#include "cairn/cairn.hpp"
#include "tests/autotune/policy/inexact_product.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

/// Tests verification in first runs of programs with a product of bf16 operands: declared error 5e-3, actual about
/// 2e-3.
namespace cairn {
namespace {

using Floats = std::vector<float>;

constexpr std::int64_t columns = 16;
constexpr double allowed = 1e-2;

Floats random_floats(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> real(-1, 1);
    Floats result(count);
    for (float& x : result) x = real(random);
    return result;
}

Floats floats(const OutputView& view) {
    const auto elements = view.as<float>();
    return {elements.begin(), elements.end()};
}

/// y = x w - c: where c is near x w, errors are amplified.
Graph distance_to() {
    Graph g("distance");
    const Dim n = g.symbol("N", 0, 64);
    const Tensor c = g.input("c", DType::f32, {n, columns});
    g.output("y", matmul(g.input("x", DType::f32, {n, columns}), g.weight("w", DType::f32, {columns, columns})) - c);
    return g;
}

/// Rows x w are appended to a state; y is the difference between their sum and c.
Graph cache() {
    Graph g("cache");
    const Dim past = g.symbol("P", 0, 63), t = g.symbol("T", 1, 8);
    State rows = g.state("rows", DType::f32, {past, columns}, 0, 64);
    const Tensor made = matmul(g.input("x", DType::f32, {t, columns}), g.weight("w", DType::f32, {columns, columns}));
    g.output("y", sum(rows.append(made), {0}) - g.input("c", DType::f32, {1, columns}));
    return g;
}

Kernel other_product(const std::string& id, void (*run)(const Args&, Team&)) {
    Kernel kernel = test::inexact_product();
    kernel.id = id;
    kernel.run = run;
    return kernel;
}

class VerificationTest : public testing::Test {
protected:
    static Context context_with(const Kernel& kernel) {
        ContextOptions options;
        options.extra.kernels = {kernel};
        return Context(options);
    }

    CompiledGraph bound(CompiledGraph model) const {
        model.bind([this](std::string_view) {
            InputView view;
            view.data = weight.data();
            view.shape = {columns, columns};
            return view;
        });
        return model;
    }
    CompiledGraph compiled(const Graph& graph, bool is_exact = false, std::vector<Split> splits = {}) const {
        CompileOptions options;
        options.verify = true;
        options.seconds_per_kept_byte = 0;  // compute what depends on weights alone once, however small
        options.splits = std::move(splits);
        if (!is_exact) options.tolerance = Tolerance::relative(allowed);
        return bound(compile(graph, context, options));
    }
    static bool is_inexact(const CompiledGraph& model) { return model.program().find("test.") != std::string::npos; }

    static Floats run(CompiledGraph& model, const Floats& x, const Floats& c, const RunOptions& options = {}) {
        const auto n = static_cast<std::int64_t>(x.size()) / columns;
        model.set("x", x, {n, columns});
        model.set("c", c, {static_cast<std::int64_t>(c.size()) / columns, columns});
        model.run(options);
        return floats(model.output("y"));
    }

    /// x w by an exact program, scaled by 1 + 1e-4: y is small, so errors of the product show in it.
    Floats near_product(const Floats& x) const {
        CompiledGraph exact = compiled(distance_to(), true);
        Floats product = run(exact, x, Floats(x.size(), 0));
        for (float& value : product) value *= 1 + 1e-4F;
        return product;
    }

    const Context context = context_with(test::inexact_product());
    const Floats weight = random_floats(columns * columns, 1), x = random_floats(5 * columns, 2);
    const Floats zeros = Floats(x.size(), 0);
};

TEST_F(VerificationTest, OfTheFirstRunIsReportedAndReleasesTheExactProgram) {
    CompiledGraph model = compiled(distance_to());
    ASSERT_TRUE(is_inexact(model));
    ASSERT_EQ(model.verified_errors().size(), 1U);
    VerifiedError row = model.verified_errors()[0];
    EXPECT_EQ(row.bucket, "");
    EXPECT_EQ(row.value, "output \"y\"");
    EXPECT_EQ(row.allowed, allowed);
    EXPECT_EQ(row.expected, 5e-3);
    EXPECT_FALSE(row.verified);
    EXPECT_GT(model.memory().verification, 0);
    EXPECT_GT(model.memory({{"N", 5}}).verification, 0);
    const Floats first = run(model, x, zeros);
    row = model.verified_errors()[0];
    EXPECT_TRUE(row.verified);
    EXPECT_GT(row.error, 1e-4) << "it is inexact indeed";
    EXPECT_LE(row.error, allowed);
    EXPECT_FALSE(row.fell_back);
    const ExplainedBucket reported = model.explain().buckets[0];
    ASSERT_EQ(reported.errors.size(), 1U);
    EXPECT_TRUE(reported.errors[0].verified);
    EXPECT_EQ(reported.errors[0].measured_error, row.error);
    EXPECT_FALSE(reported.fell_back);
    EXPECT_NE(details(model.explain()).find(fmt::format(", found was {:.4g}", row.error)), std::string::npos);
    EXPECT_TRUE(is_inexact(model));
    EXPECT_EQ(model.memory().verification, 0);
    EXPECT_EQ(run(model, x, zeros), first) << "the first run gives what all give";
    CompiledGraph exact = compiled(distance_to(), true);
    EXPECT_NE(run(exact, x, zeros), first);
    EXPECT_TRUE(exact.verified_errors().empty());
    EXPECT_EQ(exact.memory().verification, 0);
}

TEST_F(VerificationTest, CatchesAnErrorThatIsAmplifiedOnce) {
    const Floats c = near_product(x);
    CompiledGraph model = compiled(distance_to()), exact = compiled(distance_to(), true);
    CompiledGraph before = model.instance();
    EXPECT_EQ(run(model, x, c), run(exact, x, c));
    const VerifiedError row = model.verified_errors()[0];
    EXPECT_TRUE(row.fell_back);
    EXPECT_GT(row.error, 10 * allowed);
    EXPECT_TRUE(model.explain().buckets[0].fell_back);
    EXPECT_NE(details(before.explain()).find("the fastest exact program runs instead"), std::string::npos);
    EXPECT_FALSE(is_inexact(model));
    EXPECT_EQ(model.memory().verification, 0);
    const Floats harmless = run(exact, x, zeros);
    EXPECT_EQ(run(model, x, zeros), harmless) << "it stays exact";
    EXPECT_EQ(run(before, x, zeros), harmless);
    CompiledGraph after = model.instance();
    EXPECT_EQ(run(after, x, zeros), harmless);
    EXPECT_EQ(after.verified_errors()[0].error, row.error);
}

TEST_F(VerificationTest, ComparesOutputsInTheCallersMemory) {
    for (const bool amplified : {false, true})
        for (const bool over_input : {false, true}) {
            SCOPED_TRACE(std::to_string(amplified) + std::to_string(over_input));
            Floats c = amplified ? near_product(x) : zeros;
            CompiledGraph plain = compiled(distance_to(), amplified), model = compiled(distance_to());
            Floats wanted = run(plain, x, c), given = x, memory(x.size(), 7);
            std::vector<float>& y = over_input ? given : memory;
            model.set_output("y", y);
            EXPECT_EQ(run(model, given, c), wanted);
            EXPECT_EQ(y, wanted);
            EXPECT_EQ(model.output("y").data, y.data());
            EXPECT_EQ(model.verified_errors()[0].fell_back, amplified);
            given = x;
            EXPECT_EQ(run(model, given, c), wanted);
            EXPECT_EQ(y, wanted);
        }
}

TEST_F(VerificationTest, OfEachBucketComparesTheNewRowsOfAGrowingState) {
    CompiledGraph model = compiled(cache(), false, {{"T", {1}}}), exact = compiled(cache(), true, {{"T", {1}}});
    const Floats c(columns, 0);
    const auto reported = [&] {
        std::map<std::string, bool> verified;
        for (const VerifiedError& row : model.verified_errors()) verified[row.bucket + ", " + row.value] = row.verified;
        return verified;
    };
    const std::string one = "T in 1..1, ", more = "T in 2..8, ", y = "output \"y\"", rows = "state \"rows\"";
    EXPECT_EQ(reported(), (std::map<std::string, bool>{
                              {one + y, false}, {one + rows, false}, {more + y, false}, {more + rows, false}}));
    for (int step = 0; step < 20; ++step) {
        const Floats new_x = random_floats((step == 0 || step == 7 ? 4 : 1) * columns, 10 + step);
        const Floats got = run(model, new_x, c), wanted = run(exact, new_x, c);
        for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], 0.05) << step;
        const Floats kept = floats(model.state("rows")), right = floats(exact.state("rows"));
        ASSERT_EQ(kept.size(), right.size());
        for (std::size_t i = 0; i < kept.size(); ++i) ASSERT_NEAR(kept[i], right[i], 0.05) << step;
        EXPECT_EQ(reported(), (std::map<std::string, bool>{
                                  {one + y, step > 0}, {one + rows, step > 0}, {more + y, true}, {more + rows, true}}));
    }
    for (const VerifiedError& row : model.verified_errors()) {
        EXPECT_FALSE(row.fell_back) << row.bucket << row.value;
        EXPECT_GT(row.error, 0);
        EXPECT_LE(row.error, allowed);
    }
}

TEST_F(VerificationTest, ThatFailsInALaterBucketLeavesItsStatesExact) {
    CompiledGraph model = compiled(cache(), false, {{"T", {1}}}), exact = compiled(cache(), true, {{"T", {1}}});
    const Floats none(columns, 0), first = random_floats(4 * columns, 3), next = random_floats(columns, 4);
    run(model, first, none);
    run(exact, first, none);
    CompiledGraph trial = compiled(cache(), false, {{"T", {1}}});
    run(trial, first, none);
    const Floats begun = floats(model.state("rows"));
    // c is close to the exact program's sum over the rows that the inexact one has left.
    CompiledGraph helper = compiled(cache(), true, {{"T", {1}}});
    helper.set_state("rows", begun.data(), {4, columns});
    Floats c = run(helper, next, none);
    for (float& value : c) value *= 1 + 1e-5F;
    helper.rewind("P", 4);
    const Floats wanted = run(helper, next, c);
    EXPECT_EQ(run(model, next, c), wanted);
    for (const VerifiedError& row : model.verified_errors())
        EXPECT_EQ(row.fell_back, row.bucket == "T in 1..1") << row.bucket;
    EXPECT_EQ(floats(model.state("rows")), floats(helper.state("rows")));
    for (int step = 0; step < 12; ++step) {
        const Floats more = random_floats(columns, 20 + step);
        EXPECT_EQ(run(model, more, none), run(helper, more, none)) << step;
        EXPECT_EQ(floats(model.state("rows")), floats(helper.state("rows"))) << step;
    }
}

TEST_F(VerificationTest, OfAGrowingStateComparesOnlyTheNewRows) {
    CompiledGraph model = compiled(cache());
    model.set_state("rows", random_floats(60 * columns, 8));
    run(model, random_floats(columns, 9), Floats(columns, 0));
    const VerifiedError row = model.verified_errors()[1];
    EXPECT_EQ(row.value, "state \"rows\"");
    EXPECT_GT(row.error, 1.5e-3) << "which is less than a third of that in all rows";
    EXPECT_LE(row.error, allowed);
}

// An inexact and an exact kernel give different bound values.
TEST_F(VerificationTest, DetectsErrorsInBoundValues) {
    Graph g("bound");
    const Tensor w = g.weight("w", DType::f32, {columns, columns});
    const Tensor product = matmul(g.input("x", DType::f32, {columns, columns}), w);
    g.output("y", product + matmul(w, w) - g.input("c", DType::f32, {columns, columns}));
    const Floats none(columns * columns, 0);  // its product is exact with any kernel
    CompiledGraph exact = compiled(g, true);
    const Floats squared = run(exact, none, none);
    Floats near = squared;
    for (float& value : near) value *= 1 + 1e-4F;
    for (const bool amplified : {false, true}) {
        CompiledGraph model = compiled(g);
        ASSERT_TRUE(is_inexact(model));
        const Floats y = run(model, none, amplified ? near : none);
        ASSERT_EQ(model.verified_errors().size(), 1U);
        EXPECT_EQ(model.verified_errors()[0].fell_back, amplified);
        EXPECT_GT(model.verified_errors()[0].error, amplified ? allowed : 1e-4);
        if (amplified) { EXPECT_EQ(y, run(exact, none, near)); }
    }
}

/// h = tanh(h w + x), which is overwritten.
Graph recurrent() {
    Graph g("recurrent");
    State h = g.state("h", DType::f32, {1, columns});
    const Tensor next =
        tanh(matmul(h.read(), g.weight("w", DType::f32, {columns, columns})) + g.input("x", DType::f32, {1, columns}));
    g.output("y", h.assign(next) - g.input("c", DType::f32, {1, columns}));
    return g;
}

TEST_F(VerificationTest, OfAnOverwrittenStateRunsOnce) {
    for (const bool amplified : {false, true}) {
        CompiledGraph model = compiled(recurrent()), exact = compiled(recurrent(), true);
        const Floats h = random_floats(columns, 5), in = random_floats(columns, 6), none(columns, 0);
        for (CompiledGraph* each : {&model, &exact}) each->set_state("h", h);
        Floats c = run(exact, in, none);
        exact.set_state("h", h);
        if (!amplified) c = none;
        const Floats got = run(model, in, c), wanted = run(exact, in, c);
        for (std::size_t i = 0; i < got.size(); ++i)
            EXPECT_NEAR(got[i], wanted[i], amplified ? 0 : 0.05) << "once, not twice";
        ASSERT_EQ(model.verified_errors().size(), 2U);
        EXPECT_EQ(model.verified_errors()[1].value, "state \"h\"");
        EXPECT_EQ(model.verified_errors()[0].fell_back, amplified);
        if (amplified) { EXPECT_EQ(floats(model.state("h")), floats(exact.state("h"))); }
    }
}

TEST_F(VerificationTest, ThatIsStoppedChangesNothingAndIsRepeated) {
    const Floats none(columns, 0), in = random_floats(columns, 7);
    for (const std::string phase : {"verify", "run"})
        for (const bool throws : {false, true}) {
            CompiledGraph model = compiled(cache());
            std::stop_source source;
            RunOptions options;
            options.stop = source.get_token();
            options.progress = [&](const Progress& progress) {
                if (progress.phase != phase) return;
                if (throws) throw std::runtime_error("enough");
                source.request_stop();
            };
            if (throws)
                EXPECT_THROW(run(model, in, none, options), std::runtime_error);
            else
                EXPECT_THROW(run(model, in, none, options), Cancelled);
            EXPECT_EQ(model.state("rows").shape[0], 0);
            EXPECT_FALSE(model.verified_errors()[0].verified);
            EXPECT_GT(model.memory().verification, 0);
            run(model, in, none);
            EXPECT_EQ(model.state("rows").shape[0], 1);
            EXPECT_TRUE(model.verified_errors()[0].verified);
            EXPECT_FALSE(model.verified_errors()[0].fell_back);
        }
}

TEST_F(VerificationTest, OfAKernelThatThrowsFallsBack) {
    const Context throwing = context_with(
        other_product("test.throws.matmul.f32@1", [](const Args&, Team&) { throw std::runtime_error("cannot"); }));
    CompiledGraph model = bound(compile(distance_to(), throwing, {.tolerance = Tolerance::relative(allowed)}));
    ASSERT_TRUE(is_inexact(model));
    CompiledGraph exact = compiled(distance_to(), true);
    EXPECT_EQ(run(model, x, zeros, {.profile = true}), run(exact, x, zeros));
    EXPECT_TRUE(model.verified_errors()[0].fell_back);
    EXPECT_EQ(model.verified_errors()[0].error, std::numeric_limits<double>::infinity());
    for (const InstructionProfile& row : model.profile()) EXPECT_GT(row.seconds, 0) << row.kernel;
}

TEST_F(VerificationTest, AcceptsEqualNaN) {
    Floats bad = x;
    bad[3] = std::numeric_limits<float>::quiet_NaN();
    CompiledGraph model = compiled(distance_to());
    EXPECT_TRUE(std::isnan(run(model, bad, zeros)[0]));
    EXPECT_TRUE(model.verified_errors()[0].verified);
    EXPECT_FALSE(model.verified_errors()[0].fell_back);
    EXPECT_LE(model.verified_errors()[0].error, allowed);
    const Context other = context_with(other_product("test.nan.matmul.f32@1", [](const Args& args, Team& team) {
        test::inexact_product().run(args, team);
        if (team.rank() == 0) *reinterpret_cast<float*>(args.outputs[0].data) = std::nanf("");
    }));
    CompiledGraph alone = bound(compile(distance_to(), other, {.tolerance = Tolerance::relative(allowed)}));
    EXPECT_FALSE(std::isnan(run(alone, x, zeros)[0]));
    EXPECT_TRUE(alone.verified_errors()[0].fell_back);
}

TEST_F(VerificationTest, OfNoElementsFindsNoError) {
    CompiledGraph model = compiled(distance_to());
    EXPECT_TRUE(run(model, {}, {}).empty());
    EXPECT_TRUE(model.verified_errors()[0].verified);
    EXPECT_EQ(model.verified_errors()[0].error, 0);
}

TEST_F(VerificationTest, RequiresEqualIntegers) {
    Graph g("g");
    const Tensor product =
        matmul(g.input("x", DType::f32, {5, columns}), g.weight("w", DType::f32, {columns, columns}));
    g.output("at", argmax(product, -1));
    g.output("is_more", product > g.input("c", DType::f32, {5, columns}));
    CompiledGraph exact = compiled(distance_to(), true);
    const Floats product_of = run(exact, x, zeros);
    for (const bool near : {false, true}) {
        CompiledGraph model = compiled(g);
        model.set("x", x);
        model.set("c", near ? product_of : Floats(x.size(), 100));
        model.run();
        for (const VerifiedError& row : model.verified_errors()) {
            EXPECT_EQ(row.fell_back, near) << row.value;
            const bool differs = near && row.value == "output \"is_more\"";
            EXPECT_EQ(row.error, differs ? std::numeric_limits<double>::infinity() : 0) << row.value;
        }
        for (std::size_t i = 0; i < x.size() && near; ++i) EXPECT_FALSE(model.output("is_more").as<bool>()[i]);
    }
}

TEST_F(VerificationTest, IsProfiledAsTheProgramThatRan) {
    for (const bool amplified : {false, true}) {
        CompiledGraph model = compiled(distance_to()), exact = compiled(distance_to(), true);
        const Floats c = amplified ? near_product(x) : zeros;
        for (int i = 0; i < 2; ++i) {
            run(model, x, c, {.profile = true});
            run(exact, x, c, {.profile = true});
            const auto rows = model.profile();
            ASSERT_FALSE(rows.empty());
            EXPECT_EQ(rows[0].kernel.starts_with("test."), !amplified) << i;
            for (const InstructionProfile& row : rows) EXPECT_GT(row.seconds, 0) << i << row.kernel;
            if (amplified) { EXPECT_EQ(rows.size(), exact.profile().size()); }
        }
    }
}

TEST_F(VerificationTest, ByConcurrentInstancesGivesRightResultsToAll) {
    const Floats amplifying = near_product(x);
    CompiledGraph exact = compiled(distance_to(), true);
    const Floats right = run(exact, x, amplifying), harmless = run(exact, x, zeros);
    for (int round = 0; round < 12; ++round) {
        CompiledGraph model = compiled(distance_to());
        const bool some_amplify = round % 3 != 0;
        std::vector<CompiledGraph> instances;
        for (int t = 0; t < 4; ++t) instances.push_back(model.instance());
        std::atomic<int> waiting{4};
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                waiting.fetch_sub(1);
                while (waiting.load() > 0) std::this_thread::yield();
                const bool amplify = some_amplify && t == 1;
                for (int i = 0; i < 3; ++i) {
                    const bool first_amplifies = amplify && i == 0;
                    const Floats got =
                        run(instances[static_cast<std::size_t>(t)], x, first_amplifies ? amplifying : zeros);
                    for (std::size_t e = 0; e < got.size() && !first_amplifies; ++e)
                        EXPECT_NEAR(got[e], harmless[e], 0.05);
                    if (first_amplifies && model.verified_errors()[0].fell_back) { EXPECT_EQ(got, right); }
                }
            });
        threads.clear();
        const VerifiedError row = model.verified_errors()[0];
        EXPECT_TRUE(row.verified);
        EXPECT_EQ(row.fell_back, row.error > allowed);
        EXPECT_FALSE(row.fell_back && !some_amplify);
        EXPECT_EQ(model.memory().verification, 0);
        for (CompiledGraph& instance : instances) {
            const Floats got = run(instance, x, zeros);
            if (row.fell_back) { EXPECT_EQ(got, harmless); }
        }
    }
}

// The status becomes passed during a run that then fails: an instance made in between supports both programs.
TEST_F(VerificationTest, ThatEndsLateAppliesToAllInstances) {
    CompileOptions options{.tolerance = Tolerance::relative(allowed)};
    options.disable = {"pack"};  // products need a workspace then
    CompiledGraph late = bound(compile(distance_to(), context, options)), early = late.instance();
    std::vector<CompiledGraph> between;
    RunOptions following;
    following.progress = [&](const Progress& progress) {
        if (progress.phase != "verify" || !between.empty()) return;
        run(early, x, zeros);
        EXPECT_FALSE(late.verified_errors()[0].fell_back);
        between.push_back(early.instance());
        EXPECT_EQ(run(between[0], x, zeros), run(early, x, zeros));
    };
    run(late, x, near_product(x), following);
    ASSERT_EQ(between.size(), 1U);
    EXPECT_TRUE(late.verified_errors()[0].fell_back);
    options.tolerance = Tolerance::exact();
    CompiledGraph exact = bound(compile(distance_to(), context, options));
    for (CompiledGraph* each : {&late, &early, between.data()}) EXPECT_EQ(run(*each, x, zeros), run(exact, x, zeros));
}

TEST_F(VerificationTest, IsRepeatedAfterLoading) {
    const std::filesystem::path path = std::filesystem::path(CAIRN_BINARY_DIR) / "verification.cairn";
    const Floats amplifying = near_product(x);
    CompiledGraph exact = compiled(distance_to(), true), model = compiled(distance_to());
    run(model, x, zeros);
    model.save(path);
    for (const bool amplified : {false, true}) {
        CompiledGraph loaded = bound(CompiledGraph::load(path, context));
        EXPECT_EQ(loaded.program(), model.program());
        ASSERT_EQ(loaded.verified_errors().size(), 1U);
        EXPECT_EQ(loaded.verified_errors()[0].value, "output \"y\"");
        EXPECT_EQ(loaded.verified_errors()[0].allowed, allowed);
        EXPECT_EQ(loaded.verified_errors()[0].expected, 5e-3);
        EXPECT_FALSE(loaded.verified_errors()[0].verified);
        const Floats got = run(loaded, x, amplified ? amplifying : zeros);
        EXPECT_EQ(loaded.verified_errors()[0].fell_back, amplified);
        if (!amplified) continue;
        EXPECT_EQ(got, run(exact, x, amplifying));
        loaded.save(path);
        CompiledGraph again = bound(CompiledGraph::load(path, context));
        EXPECT_FALSE(is_inexact(again));
        EXPECT_TRUE(again.verified_errors().empty());
        EXPECT_EQ(run(again, x, zeros), run(exact, x, zeros));
    }
}

}  // namespace
}  // namespace cairn
