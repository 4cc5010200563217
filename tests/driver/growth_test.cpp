#include "bench/graph_families.hpp"
#include "fusion/match.hpp"
#include "graph/ir/graph_data.hpp"
#include "rewrite/normal_form/normal_forms.hpp"
#include "rewrite/simplify/simplify.hpp"
#include "selection/choose/memo.hpp"
#include "selection/search/explore.hpp"
#include "tests/driver/heap_counter.hpp"

#include <gtest/gtest.h>

#include <pthread.h>
#include <exception>
#include <functional>
#include <ostream>
#include <set>

namespace cairn::bench {

void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }

}  // namespace cairn::bench

namespace cairn {
namespace {

// Sanitizers need several times as much stack.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
constexpr std::size_t stack_bytes = 2 << 20;
#else
constexpr std::size_t stack_bytes = 256 << 10;
#endif

void on_small_stack(std::function<void()> work) {
    struct Job {
        std::function<void()> work;
        std::exception_ptr failure;
    } job{std::move(work), nullptr};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_t thread;
    const auto run = [](void* given) -> void* {
        Job& job = *static_cast<Job*>(given);
        try {
            job.work();
        } catch (...) { job.failure = std::current_exception(); }
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, run, &job), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    if (job.failure) std::rethrow_exception(job.failure);
}

// Amounts of work during a compile.
struct Work {
    std::size_t nodes = 0, terms = 0, matches = 0, steps = 0, alternatives = 0, comparisons = 0, states = 0,
                border_work = 0;
    bool exact = false;
};

Work work_on(const Graph& graph) {
    const Context context;
    const auto simplified = simplify::simplify(*graph.data()).graph;
    const auto matches = fusion::propose(*simplified, context.kernels().definitions, {});
    selection::CostModel costs;
    costs.features = levels::baseline;
    costs.machine = selection::nominal_machine(costs.features, 1);
    selection::Candidates candidates(*simplified, context.kernels(), costs.features, costs, true);
    const selection::Bucket bucket{*simplified, matches, candidates};
    const selection::Memo memo = selection::memo_of({&bucket, 1}, selection::Breadth::cheapest);
    Work work;
    work.nodes = simplified->nodes().size();
    work.terms = normal_form::NormalForms(*simplified).normalizer().size();
    work.matches = matches.size();
    for (const fusion::Match& match : matches) work.steps += match.body.size();
    work.alternatives = static_cast<std::size_t>(memo.problem.alternatives());
    const search::Exploration found = search::explore(memo.problem);
    work.comparisons = found.work;
    work.states = found.states;
    work.border_work = found.border_work;
    work.exact = found.exact;
    return work;
}

// Families for which the search may be truncated to the cheapest states.
bool may_be_inexact(std::string_view family) {
    return family == "random"      // distant values depend on each other: no cut is narrow
           || family == "outputs"  // any group of ops around a value may compute it: 60 times the states per region
           || family == "polynomials";  // likewise, since each is read three times: 60 to 90 times
}

class Growth : public testing::TestWithParam<bench::Family> {};

TEST_P(Growth, IsLinearOnASmallStack) {
    const int nodes = 2000;
    on_small_stack([&] {
        const Work few = work_on(bench::build(GetParam(), nodes)), many = work_on(bench::build(GetParam(), 4 * nodes));
        // Per node, with a margin for the variation of random graphs and for constant work.
        const auto grows = [&](const char* what, std::size_t Work::*count) {
            EXPECT_LE(many.*count * few.nodes, (4 * few.*count / 3 + 300) * many.nodes) << what;
        };
        grows("terms", &Work::terms);
        grows("matches", &Work::matches);
        grows("steps", &Work::steps);
        grows("alternatives", &Work::alternatives);
        grows("comparisons", &Work::comparisons);
        grows("states", &Work::states);
        grows("border work", &Work::border_work);
        EXPECT_LE(many.nodes, static_cast<std::size_t>(10 * nodes));
        EXPECT_LE(many.terms, 32 * many.nodes);
        EXPECT_LE(many.comparisons, 500 * many.nodes);
        EXPECT_LE(many.border_work, 2000 * many.nodes);
        EXPECT_TRUE(many.exact || may_be_inexact(GetParam().name));
        EXPECT_GT(compile(bench::build(GetParam(), 2 * nodes), Context()).memory().buffers.size(), 0u);
    });
}

INSTANTIATE_TEST_SUITE_P(Families, Growth, testing::ValuesIn(bench::families),
                         [](const auto& info) { return std::string(info.param.name); });

/// Requests a stop at each of `stop_count` points of a compile, measured by the heap allocations so far, each in a
/// context from `context`. `check` gets the allocations and deallocations after the stop.
void stop_at_each(int stop_count, const Graph& graph, const std::function<Context()>& context,
                  const std::function<void(const test::HeapCounter&, int stop_index)>& check) {
    std::int64_t whole = 0;
    for (int stop_index = 0; stop_index <= stop_count; ++stop_index) {
        std::stop_source source;
        CompileOptions options;
        options.stop = source.get_token();
        const Context its = context();
        const test::HeapCounter clock(stop_index == 0 ? -1 : whole * stop_index / (stop_count + 1), source);
        if (stop_index == 0) {
            compile(graph, its);
            whole = clock.allocated();
            continue;
        }
        EXPECT_THROW(compile(graph, its, options), Cancelled) << stop_index;
        check(clock, stop_index);
    }
}

class Stop : public testing::TestWithParam<bench::Family> {};

// Measured in heap allocations, which most work makes: after a stop request at any point few allocations follow,
// independently of the size of the graph, and few deallocations per node.
TEST_P(Stop, IsObservedAfterLittleWork) {
    const Graph graph = bench::build(GetParam(), 1000);
    const Context with_patterns;
    compile(graph, with_patterns);  // creates the patterns that serve it, which is all that the Context keeps
    stop_at_each(
        16, graph, [&] { return with_patterns; },
        [&](const test::HeapCounter& clock, int stop_index) {
            EXPECT_LE(clock.allocated_after(), 10'000) << stop_index;
            EXPECT_LE(clock.returned_after(), 32 * static_cast<std::int64_t>(graph.size())) << stop_index;
        });
}

INSTANTIATE_TEST_SUITE_P(Families, Stop, testing::ValuesIn(bench::families),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(StopRequest, IsObservedWhilePatternsAreBuilt) {
    stop_at_each(
        32, bench::build(bench::families[0], 10), [] { return Context(); },  // a new one, because a Context keeps its
                                                                             // patterns
        [](const test::HeapCounter& clock, int stop_index) {
            EXPECT_LE(clock.allocated_after(), 10'000) << stop_index;
        });
}

// A stage that gets a stop request when it begins is the last one to begin.
TEST(StopRequest, IsObservedInEveryStage) {
    const Graph graph = bench::build(bench::families[0], 300);
    int stages = 0;
    CompileOptions count;
    count.progress = [&](const Progress&) { ++stages; };
    compile(graph, Context(), count);
    EXPECT_EQ(stages, 7);
    for (int last = 1; last <= stages; ++last) {
        std::stop_source source;
        int begun = 0;
        CompileOptions options;
        options.stop = source.get_token();
        options.progress = [&](const Progress&) {
            if (++begun == last) source.request_stop();
        };
        EXPECT_THROW(compile(graph, Context(), options), Cancelled) << "stage " << last;
        EXPECT_EQ(begun, last);
    }
}

std::stop_source kernel_stop;
int query_count = 0;

Refusal query_and_stop(const Problem&) {
    if (++query_count == 5) kernel_stop.request_stop();
    return {};
}

// All problems differ, so that kernels are queried for each.
TEST(StopRequest, IsObservedBetweenTwoMatches) {
    Graph graph("g");
    for (int i = 1; i < 200; ++i) {
        const std::string name = std::to_string(i);
        graph.output("y" + name, tanh(graph.input("x" + name, DType::f32, {i})));
    }
    kernel_stop = {};
    query_count = 0;
    ContextOptions with_kernel;
    Kernel& kernel = with_kernel.extra.kernels.emplace_back();
    kernel.id = "test.asked.tanh.f32@1";
    kernel.definition = "tanh";
    kernel.accepts = query_and_stop;
    kernel.run = [](const Args&, Team&) {};
    CompileOptions options;
    options.stop = kernel_stop.get_token();
    EXPECT_THROW(compile(graph, Context(with_kernel), options), Cancelled);
    EXPECT_EQ(query_count, 5);
}

TEST(StopRequest, IsObservedByEachStageFunction) {
    const Graph graph = bench::build(bench::families[0], 30);
    const Context context;
    std::stop_source source;
    source.request_stop();
    const std::stop_token stop = source.get_token();
    simplify::Options simplify_options;
    simplify_options.stop = stop;
    EXPECT_THROW(simplify::simplify(*graph.data(), simplify_options), Cancelled);
    EXPECT_THROW(normal_form::NormalForms(*graph.data(), stop), Cancelled);
    EXPECT_THROW(fusion::propose(*graph.data(), context.kernels().definitions, {true, false, stop}), Cancelled);
    EXPECT_THROW(fusion::propose(*graph.data(), std::span<const Definition>(), {false, true, stop}), Cancelled);
    search::Options search_options;
    search_options.stop = stop;
    EXPECT_EQ(search::explore(search::SearchProblem(), search_options).status, search::Status::stopped);
}

}  // namespace
}  // namespace cairn
