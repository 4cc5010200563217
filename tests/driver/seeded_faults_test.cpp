#include "cairn/composites.hpp"
#include "program/memory_plan/validate.hpp"
#include "program/plan_memory.hpp"
#include "tests/driver/compiled_run.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

// Fault injection: the verifier, the plan validator or a comparison with the interpreter must detect all faults put
// into programs. Each fault is real by its own criterion, stated where it is made.
namespace cairn::test {
namespace {

using program::Program;

/// A correct program and its graph.
struct Subject {
    Graph graph;
    runtime::ProgramSet set;
    Program& program() { return set.buckets[0].program; }
};

Subject subject(std::uint64_t seed, const Context& context) {
    Graph graph = random_graph(seed, {.steps = 40});
    runtime::ProgramSet set = runtime::parse_program_set(compile(graph, context).program());
    return {std::move(graph), std::move(set)};
}

std::string judge_plan(const Program& program) {
    if (std::string fault = program::verify(program); !fault.empty()) return fault;
    const auto samples = program::sample_points(program, 8);
    const program::MemoryPlan plan = program::plan_of(program, Device::cpu);
    return memory_plan::validate(program::planner_problem(plan, samples), program::planner_solution(plan, samples));
}

std::string judge_run(Subject& s, const Context& context, std::uint64_t seed) {
    for (const auto& sizes : random_sizes(*s.graph.data(), 3, seed)) {
        const interpreter::Inputs inputs = random_inputs(*s.graph.data(), sizes, seed);
        CompiledRun run(s.set, context, inputs);
        if (std::string fault = compare(run.run(inputs), interpreter::interpret(*s.graph.data(), inputs), error_bound);
            !fault.empty())
            return fault;
    }
    return {};
}

/// Counts how many of `wanted` faults of one kind are detected. `seed_fault` puts one into a program, or returns false
/// if that is not possible.
void expect_all_caught(int wanted, const std::function<bool(Subject&, std::mt19937&)>& seed_fault,
                       const std::function<std::string(Subject&, std::uint64_t)>& judge) {
    const Context context;
    int made = 0, caught = 0;
    for (std::uint64_t seed = 0; made < wanted && seed < 2000; ++seed) {
        Subject s = subject(seed, context);
        std::mt19937 random(static_cast<std::uint32_t>(seed));
        ASSERT_EQ(judge(s, seed), "") << "before the fault, seed " << seed;
        if (!seed_fault(s, random)) continue;
        ++made;
        if (judge(s, seed).empty())
            ADD_FAILURE() << "not caught, seed " << seed;
        else
            ++caught;
    }
    EXPECT_EQ(made, wanted);
    EXPECT_EQ(caught, wanted);
}

TEST(SeededFaults, DetectsADroppedOrderingEdge) {
    // The relation is transitively reduced: no edge is implied by others, so removing one leaves two live storages
    // unordered.
    expect_all_caught(
        60,
        [](Subject& s, std::mt19937& random) {
            std::vector<program::Storage*> candidates;
            for (program::Storage& storage : s.program().plan.storages)
                if (!storage.below.empty()) candidates.push_back(&storage);
            if (candidates.empty()) return false;
            program::Storage& storage = *candidates[random() % candidates.size()];
            storage.below.erase(storage.below.begin() + static_cast<std::ptrdiff_t>(random() % storage.below.size()));
            return true;
        },
        [](Subject& s, std::uint64_t) { return judge_plan(s.program()); });
}

TEST(SeededFaults, DetectsAShortenedLiveInterval) {
    // A live interval begins and ends with an instruction that uses the storage: a shorter one misses a use.
    expect_all_caught(
        60,
        [](Subject& s, std::mt19937& random) {
            auto& storages = s.program().plan.storages;
            if (storages.empty()) return false;
            program::Storage& storage = storages[random() % storages.size()];
            if (random() % 2 == 0)
                ++storage.first;
            else
                --storage.last;
            return true;
        },
        [](Subject& s, std::uint64_t) { return judge_plan(s.program()); });
}

TEST(SeededFaults, DetectsADroppedDependenceOfInstructions) {
    // An instruction moved before the one whose result it reads.
    expect_all_caught(
        50,
        [](Subject& s, std::mt19937& random) {
            auto& run = s.program().run;
            std::vector<std::size_t> dependent;
            for (std::size_t i = 1; i < run.size(); ++i)
                for (const program::View& in : run[i].inputs)
                    if (s.program().buffers[static_cast<std::size_t>(in.buffer)].kind != program::BufferKind::state)
                        for (const program::View& out : run[i - 1].outputs)
                            if (in.buffer == out.buffer) dependent.push_back(i);
            if (dependent.empty()) return false;
            const std::size_t i = dependent[random() % dependent.size()];
            std::swap(run[i - 1], run[i]);
            return true;
        },
        [](Subject& s, std::uint64_t) { return judge_plan(s.program()); });
}

TEST(SeededFaults, DetectsSharedStorageOfTwoLiveValues) {
    // The second value is written while the first is still live.
    expect_all_caught(
        40,
        [](Subject& s, std::mt19937& random) {
            Program& program = s.program();
            std::vector<std::pair<int, int>> pairs;
            for (std::size_t i = 0; i < program.run.size(); ++i)
                for (const program::View& out : program.run[i].outputs) {
                    const int second = program.buffers[static_cast<std::size_t>(out.buffer)].storage;
                    for (std::size_t j = i + 1; j < program.run.size(); ++j)
                        for (const program::View& in : program.run[j].inputs) {
                            const int first = program.buffers[static_cast<std::size_t>(in.buffer)].storage;
                            const bool live =
                                first >= 0 && second >= 0 && first != second &&
                                program.plan.storages[static_cast<std::size_t>(first)].first < static_cast<int>(i);
                            if (live) pairs.emplace_back(in.buffer, out.buffer);
                        }
                }
            if (pairs.empty()) return false;
            const auto [first, second] = pairs[random() % pairs.size()];
            const int target = program.buffers[static_cast<std::size_t>(first)].storage;
            auto& old =
                program.plan
                    .storages[static_cast<std::size_t>(program.buffers[static_cast<std::size_t>(second)].storage)]
                    .buffers;
            old.erase(std::remove(old.begin(), old.end(), second), old.end());
            program.buffers[static_cast<std::size_t>(second)].storage = target;
            program.plan.storages[static_cast<std::size_t>(target)].buffers.push_back(second);
            return true;
        },
        [](Subject& s, std::uint64_t) { return judge_plan(s.program()); });
}

/// A small graph whose elements all influence the output, for faults that only a run detects.
Subject transparent(const Context& context) {
    Graph g;
    const Dim n = g.symbol("N", 2, 5);
    const Tensor x = g.input("x", DType::f32, {n, 8}), gamma = g.input("gamma", DType::f32, {4}),
                 beta = g.input("beta", DType::f32, {4});
    g.output("y", concat({layer_norm(slice(x, 1, 2, 6), gamma, beta, 1e-2), softmax(slice(x, 1, 0, 4))}, 1) * 0.75f);
    runtime::ProgramSet set = runtime::parse_program_set(compile(g, context).program());
    return {g, std::move(set)};
}

TEST(SeededFaults, WrongConstantsAndBoundsAreDetectedByRunning) {
    const Context context;
    ASSERT_EQ(([&] {
                  Subject s = transparent(context);
                  return judge_run(s, context, 1);
              }()),
              "");
    int made = 0, caught = 0;
    const auto judge = [&](Subject& s) {
        ++made;
        try {
            if (judge_run(s, context, 1).empty())
                ADD_FAILURE() << "not caught:\n" << program::to_string(s.program());
            else
                ++caught;
        } catch (const Error&) { ++caught; }
    };
    Subject right = transparent(context);
    for (std::size_t i = 0; i < right.program().run.size(); ++i) {
        const auto& instruction = right.program().run[i];
        for (std::size_t a = 0; a < instruction.problem->attributes.size(); ++a)
            if (std::holds_alternative<double>(instruction.problem->attributes[a].value)) {
                Subject s = transparent(context);
                Problem changed = *instruction.problem;
                std::get<double>(changed.attributes[a].value) += 0.5;  // an eps that is not the graph's
                s.program().run[i].problem = std::make_shared<Problem>(std::move(changed));
                judge(s);
            }
        for (std::size_t k = 0; k < instruction.problem->body.size(); ++k)
            if (instruction.problem->body[k].op == "const") {
                Subject s = transparent(context);
                Problem changed = *instruction.problem;
                changed.body[k].number *= 1.5;
                s.program().run[i].problem = std::make_shared<Problem>(std::move(changed));
                judge(s);
            }
        for (std::size_t v = 0; v < instruction.inputs.size(); ++v)
            if (right.program().buffers[static_cast<std::size_t>(instruction.inputs[v].buffer)].desc.shape.size() == 2)
                for (const std::int64_t shift : {1, -1}) {
                    if (shift < 0 && instruction.inputs[v].offset == Dim(0)) continue;
                    Subject s = transparent(context);
                    s.program().run[i].inputs[v].offset =
                        s.program().run[i].inputs[v].offset + shift;  // one element off
                    judge(s);
                }
    }
    EXPECT_GE(made, 6);
    EXPECT_EQ(caught, made);
}

}  // namespace
}  // namespace cairn::test
