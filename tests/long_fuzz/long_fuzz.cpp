#include "tests/long_fuzz/check.hpp"

#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

/// long_fuzz --graphs N --seed S [--threads T] [--option-sets K] [--sizes M] [--round-trip 1] [--faults F]
///
/// Compiles N random graphs with K option sets each (8: all), runs them at M sizes and compares with the interpreter.
/// With --round-trip 1 each is compiled once, with options drawn at random, run, saved, loaded and run again, which
/// must give the same bits. Ends at fault number F (1) with the seed of each and a small graph that shows it, and exit
/// status 1.
namespace {

using namespace cairn;

struct Settings {
    std::uint64_t graphs = 1000, seed = 0;
    int threads = 3, option_sets = 8, sizes = 3, faults = 1;
    bool is_round_trip = false;
};

Settings settings_of(int count, char** arguments) {
    Settings settings;
    for (int i = 1; i < count; i += 2) {
        const std::string_view name = arguments[i];
        if (i + 1 == count) throw std::invalid_argument(std::string(name) + " needs a number");
        const std::uint64_t value = std::stoull(arguments[i + 1]);
        if (name == "--graphs")
            settings.graphs = value;
        else if (name == "--seed")
            settings.seed = value;
        else if (name == "--threads")
            settings.threads = static_cast<int>(value);
        else if (name == "--option-sets")
            settings.option_sets = static_cast<int>(value);
        else if (name == "--round-trip")
            settings.is_round_trip = value != 0;
        else if (name == "--faults")
            settings.faults = static_cast<int>(value);
        else if (name == "--sizes")
            settings.sizes = static_cast<int>(value);
        else
            throw std::invalid_argument("there is no option " + std::string(name));
    }
    return settings;
}

void print_fault(const Graph& graph, const test::Trial& trial, const test::OptionSet& set, const std::string& fault) {
    std::cout << "fault at seed " << trial.seed << ", " << set.name;
    if (set.name == "one stage off") std::cout << " (" << test::stage_off(trial.seed) << ')';
    const Graph small = test::shrunk(graph, [&](const Graph& g) { return !fault_of(g, trial, set).empty(); });
    std::cout << ": " << fault << "\nsmaller: " << fault_of(small, trial, set) << '\n'
              << to_string(small) << std::flush;
}

/// Prints the first fault of a seed and returns true; false if there is none.
bool is_faulty(const std::vector<test::OptionSet>& sets, std::uint64_t seed, int sizes) {
    const Graph graph = test::fuzz_graph(seed);
    const test::Trial trial = test::fuzz_trial(seed, sizes);
    for (const test::OptionSet& set : sets)
        if (const std::string fault = fault_of(graph, trial, set); !fault.empty()) {
            print_fault(graph, trial, set, fault);
            return true;
        }
    return false;
}

bool is_faulty(const std::vector<test::ContextPair>& contexts, std::uint64_t seed, int sizes) {
    const Graph graph = test::round_trip_graph(seed);
    const test::Trial trial = test::fuzz_trial(seed, sizes);
    const auto fault_in = [&](const Graph& g) { return test::fault_of_round_trip(g, trial, contexts); };
    const std::string fault = fault_in(graph);
    if (fault.empty()) return false;
    std::cout << "fault at seed " << seed << ": " << fault << '\n';
    const Graph small = test::shrunk(graph, [&](const Graph& g) { return !fault_in(g).empty(); });
    std::cout << "smaller: " << fault_in(small) << '\n' << to_string(small) << std::flush;
    return true;
}

template <typename Variants>
int fuzz(const Settings& settings, const Variants& variants) {
    int faults = 0;
    for (std::uint64_t done = 0; done < settings.graphs; ++done) {
        const std::uint64_t seed = settings.seed + done;
        if (is_faulty(variants, seed, settings.sizes) && ++faults == settings.faults) return EXIT_FAILURE;
        if ((done + 1) % 100 == 0) std::cout << done + 1 << " graphs, up to seed " << seed << std::endl;
    }
    std::cout << settings.graphs << " graphs, " << faults << " faults\n";
    return faults == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int fuzz(const Settings& settings) {
    return settings.is_round_trip ? fuzz(settings, test::context_pairs(settings.threads))
                                  : fuzz(settings, test::option_sets(settings.option_sets, settings.threads));
}

}  // namespace

int main(int count, char** arguments) {
    try {
        return fuzz(settings_of(count, arguments));
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return EXIT_FAILURE;
    }
}
