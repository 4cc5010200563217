#include "expand/expand.hpp"
#include "program/lifetimes.hpp"
#include "search/best.hpp"
#include "search/explore.hpp"
#include "search/numbering.hpp"
#include "select/emit.hpp"
#include "select/memo.hpp"
#include "select/select.hpp"
#include "simplify/simplify.hpp"
#include "tests/expand/random_model.hpp"
#include "tests/ir/judge.hpp"
#include "tests/pipeline/compiled_run.hpp"

#include <gtest/gtest.h>

#include <random>

// Every path that the search may choose is a program, and means what the graph means.
namespace cairn::test {
namespace {

/// All ways to run a graph, with all its spellings.
class AllPaths {
public:
    AllPaths(const Graph& graph, const Context& context)
        : context_(context),
          graph_(graph),
          expansion_(expand::expand(*simplify::simplify(*graph.data()).graph)),
          tiles_(fuse::propose(*expansion_.graph, expansion_.classes,
                               fuse::patterns_of(context.kernels().definitions, fuse::axes_in(*expansion_.graph)))),
          candidates_(*expansion_.graph, expansion_.classes, context.kernels(), context.isa(), costs(context), true),
          bucket_{*expansion_.graph, tiles_, candidates_},
          memo_(select::memo_of({&bucket_, 1}, false)),
          all_(search::explore(memo_.problem, {.only_cheapest = false})) {}

    const search::Exploration& all() const { return all_; }
    bool has_spellings() const { return !expansion_.classes.are_single(); }

    /// The program of a path; nothing where a kernel cannot prepare.
    std::optional<runtime::ProgramSet> program_of(const search::Path& path) {
        const select::Selections covers = select::covers_of(memo_, {&bucket_, 1}, path.choices);
        for (const select::Choice& choice : covers.buckets[0].chosen)
            if (!candidates_.can_prepare(choice.candidate)) return std::nullopt;
        runtime::ProgramSet set;
        set.name = graph_.data()->name();
        set.symbols = graph_.data()->symbols();
        for (const ir::Node& node : graph_.data()->nodes())
            if (node.op == ir::Op::input) {
                program::Port& port = set.inputs.emplace_back();
                port.name = node.name;
                port.desc = TensorDesc::dense(node.dtype, node.shape);
            }
        program::Program program = select::emit(*expansion_.graph, covers.buckets[0], candidates_, context_.threads());
        program::plan_memory(program, [&](const program::Instruction& instruction) {
            return program::in_place_pairs(instruction, *context_.parts()->find(instruction.kernel));
        });
        EXPECT_EQ(program::verify(program), "");
        set.buckets.push_back({{}, std::move(program), {}});
        return set;
    }

private:
    static select::CostSource costs(const Context& context) {
        select::CostSource source;
        source.isa = context.isa();
        source.machine = select::nominal_machine(context.isa(), context.threads());
        return source;
    }

    const Context& context_;
    Graph graph_;
    expand::Expansion expansion_;
    std::vector<fuse::Tile> tiles_;
    select::Candidates candidates_;
    select::Bucket bucket_;
    select::Memo memo_;
    search::Exploration all_;
};

/// What a graph is run on, and what must come out.
struct Trial {
    meaning::Inputs inputs;
    Judged expected;
};

std::vector<Trial> trials_of(const Graph& graph, std::uint64_t seed) {
    std::vector<Trial> trials;
    for (const auto& sizes : random_sizes(*graph.data(), 3, seed)) {
        Trial trial{random_inputs(*graph.data(), sizes, seed + 17), {}};
        try {
            trial.expected = judge(*graph.data(), trial.inputs);
        } catch (const Error&) { continue; }
        trials.push_back(std::move(trial));
    }
    return trials;
}

constexpr int sampled = 16, best = 4;

/// Runs paths drawn by chance and the best ones; how many were run.
int check(const Graph& graph, const Context& context, std::uint64_t seed, bool& has_spellings) {
    AllPaths paths(graph, context);
    has_spellings = paths.has_spellings();
    EXPECT_EQ(paths.all().status, search::Status::found) << seed;
    std::vector<search::Path> chosen;
    const search::Numbering numbering(paths.all().space, paths.all().paths);
    std::mt19937_64 random(seed);
    for (int i = 0; i < sampled; ++i) chosen.push_back(numbering.sample(std::ref(random)).value());
    search::BestFirst first(paths.all().space, paths.all().paths);
    for (int i = 0; i < best && first.next(); ++i) chosen.push_back(first.path(first.found() - 1));
    const std::vector<Trial> trials = trials_of(graph, seed);
    int runs = 0;
    for (const search::Path& path : chosen) {
        const auto program = paths.program_of(path);
        if (!program) continue;
        for (const Trial& trial : trials) {
            EXPECT_EQ(difference(CompiledRun(*program, context, trial.inputs).run(trial.inputs), trial.expected), "")
                << "seed " << seed << ", path " << numbering.rank(path.choices)->to_string() << '\n'
                << to_string(graph);
            ++runs;
        }
        if (testing::Test::HasFailure()) break;
    }
    return runs;
}

TEST(Paths, OfRandomGraphsAllMeanTheSame) {
    const Context context;
    int runs = 0;
    bool spelled = false;
    for (std::uint64_t seed = 0; seed < 150 && !HasFailure(); ++seed)
        runs += check(random_graph(seed), context, seed, spelled);
    EXPECT_GT(runs, 150 * sampled);
}

TEST(Paths, OfModelsWithSeveralSpellingsAllMeanTheSame) {
    const Context context;
    int runs = 0, with_spellings = 0;
    for (std::uint64_t seed = 0; seed < 150 && !HasFailure(); ++seed) {
        bool spelled = false;
        runs += check(random_model(seed), context, seed, spelled);
        with_spellings += spelled;
    }
    EXPECT_GT(runs, 150 * sampled);
    EXPECT_GT(with_spellings, 75);
}

}  // namespace
}  // namespace cairn::test
