#include "examples/report.hpp"

#include "examples/heap_calls.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <map>

namespace report {
namespace {

using cairn::models::Gpt2;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

std::vector<std::int32_t> synthetic_ids(const Gpt2& model, std::int64_t count) {
    std::vector<std::int32_t> ids;
    for (std::int64_t i = 0; i < count; ++i)
        ids.push_back(static_cast<std::int32_t>(i * 7919 % model.config().vocabulary));
    return ids;
}

void print_instructions(Gpt2& model, std::int64_t tokens) {
    model.rewind();
    model.run_options.profile = true;
    model.forward(synthetic_ids(model, tokens));
    model.run_options.profile = false;
    struct Row {
        int calls = 0;
        double seconds = 0, expected = 0;
    };
    std::map<std::string, Row> rows;
    int calls = 0, fused = 0;
    for (const cairn::InstructionProfile& instruction : model.compiled().profile()) {
        const std::string definition = instruction.problem.substr(0, instruction.problem.find(' '));
        Row& row = rows[instruction.kernel + "  " + definition];
        ++row.calls;
        row.seconds += instruction.seconds;
        row.expected += instruction.expected_seconds;
        ++calls;
        const bool atomic =
            definition == "matmul" || definition == "copy" || definition == "gather" || definition == "iota";
        fused += !atomic;
    }
    std::printf("\n%lld token%s a run: %d instructions, %d of them fused groups\n", static_cast<long long>(tokens),
                tokens == 1 ? "" : "s", calls, fused);
    std::printf("  %-58s %5s %10s %10s\n", "kernel  definition", "calls", "ms", "expected");
    std::vector<std::pair<std::string, Row>> sorted(rows.begin(), rows.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
    for (const auto& [name, row] : sorted)
        std::printf("  %-58s %5d %10.4f %10.4f\n", name.c_str(), row.calls, row.seconds * 1e3, row.expected * 1e3);
}

void print_memory(Gpt2& model) {
    const cairn::MemoryReport memory = model.compiled().memory();
    std::printf(
        "\nmemory at the largest sizes, in bytes\n  weights in place %lld, bound %lld, states %lld, constants %lld, "
        "arena %lld\n",
        static_cast<long long>(memory.weights), static_cast<long long>(memory.bound),
        static_cast<long long>(memory.states), static_cast<long long>(memory.constants),
        static_cast<long long>(memory.arena));
    for (const std::int64_t tokens : {1, 17, 128, 512, 1024}) {
        if (tokens > model.capacity()) break;
        const cairn::MemoryReport at = model.compiled().memory({{"T", tokens}, {"past", 0}});
        std::printf("  %4lld tokens: arena %lld, most live at once %lld, ratio %.4f\n", static_cast<long long>(tokens),
                    static_cast<long long>(at.arena), static_cast<long long>(at.max_live),
                    static_cast<double>(at.arena) / static_cast<double>(std::max<std::int64_t>(at.max_live, 1)));
    }
    model.rewind();
    model.forward(synthetic_ids(model, model.capacity()));
    const std::int64_t planned = model.compiled().memory({{"T", model.capacity()}, {"past", 0}}).arena;
    std::printf("  planned arena peak %lld, measured %lld; peak resident %lld\n", static_cast<long long>(planned),
                static_cast<long long>(model.compiled().arena_bytes_touched()),
                static_cast<long long>(support::peak_resident_bytes()));
}

void print_change_of_length(Gpt2& model) {
    model.rewind();
    std::vector<double> changes;
    const std::int64_t longest = std::min<std::int64_t>(model.capacity(), 512);
    for (int i = 0; i < 200; ++i) {
        const std::array<std::pair<std::string_view, std::int64_t>, 1> sizes{
            {{"T", i % 2 == 0 ? longest : longest - i % (longest / 2 + 1)}}};
        const Clock::time_point start = Clock::now();
        model.compiled().reserve(sizes);
        if (i > 20) changes.push_back(seconds_since(start));
    }
    std::printf("  change of length: median %.2f us\n", median(changes) * 1e6);
}

void print_speed(Gpt2& model) {
    std::printf("\nspeed\n");
    const std::int64_t prompt = std::min<std::int64_t>(model.capacity() / 2, 128);
    std::vector<double> prefill, decode;
    for (int i = 0; i < 3; ++i) {
        model.rewind();
        const auto ids = synthetic_ids(model, prompt);
        const Clock::time_point start = Clock::now();
        model.forward(ids);
        prefill.push_back(seconds_since(start));
    }
    const std::int32_t token = 1;
    model.forward({&token, 1});
    decode.reserve(32);
    const std::int64_t before = heap_calls();
    const std::int64_t steps = std::min<std::int64_t>(model.capacity() - model.length(), 32);
    for (std::int64_t i = 0; i < steps; ++i) {
        const Clock::time_point start = Clock::now();
        model.forward({&token, 1});
        decode.push_back(seconds_since(start));
    }
    const std::int64_t calls = heap_calls() < 0 ? -1 : heap_calls() - before;
    std::printf("  prefill of %lld tokens: %.2f ms, %.0f tokens/s\n", static_cast<long long>(prompt),
                median(prefill) * 1e3, static_cast<double>(prompt) / median(prefill));
    std::printf("  decode: %.3f ms a token, %.1f tokens/s, %lld heap calls in %lld steps\n", median(decode) * 1e3,
                1 / median(decode), static_cast<long long>(calls), static_cast<long long>(steps));
    print_change_of_length(model);
}

}  // namespace

void print(Gpt2& model, const support::Phases& phases) {
    std::printf("compile and bind %.3f s:", phases.total);
    for (const char* name : {"simplify", "fuse", "tune", "select", "emit", "plan", "bind"})
        std::printf(" %s %.3f", name, phases.of(name));
    std::printf("\n");
    print_instructions(model, 1);
    print_instructions(model, std::min<std::int64_t>(model.capacity() / 2, 128));
    print_memory(model);
    print_speed(model);
}

}  // namespace report
