#include "tests/long_fuzz/check.hpp"

#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

/// long_fuzz --graphs N --seed S [--threads T] [--option-sets K] [--sizes M]
///
/// Compiles N random graphs in K ways each (8: all), runs them at M sizes and compares with the interpreter. Ends at
/// the first fault with its seed and a small graph that shows it, and exit status 1.
namespace {

using namespace cairn;

struct Settings {
    std::uint64_t graphs = 1000, seed = 0;
    int threads = 3, option_sets = 8, sizes = 3;
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
        else if (name == "--sizes")
            settings.sizes = static_cast<int>(value);
        else
            throw std::invalid_argument("there is no option " + std::string(name));
    }
    return settings;
}

void tell(const Graph& graph, const test::Trial& trial, const test::OptionSet& set, const std::string& fault) {
    std::cout << "fault at seed " << trial.seed << ", " << set.name;
    if (set.name == "one stage off") std::cout << " (" << test::stage_off(trial.seed) << ')';
    const Graph small = test::shrunk(graph, [&](const Graph& g) { return !fault_of(g, trial, set).empty(); });
    std::cout << ": " << fault << "\nsmaller: " << fault_of(small, trial, set) << '\n'
              << to_string(small) << std::flush;
}

int fuzz(const Settings& settings) {
    const auto sets = test::option_sets(settings.option_sets, settings.threads);
    for (std::uint64_t done = 0; done < settings.graphs; ++done) {
        const std::uint64_t seed = settings.seed + done;
        const Graph graph = test::fuzz_graph(seed);
        const test::Trial trial = test::fuzz_trial(seed, settings.sizes);
        for (const test::OptionSet& set : sets)
            if (const std::string fault = fault_of(graph, trial, set); !fault.empty()) {
                tell(graph, trial, set, fault);
                return EXIT_FAILURE;
            }
        if ((done + 1) % 100 == 0) std::cout << done + 1 << " graphs, up to seed " << seed << std::endl;
    }
    std::cout << settings.graphs << " graphs, no fault\n";
    return EXIT_SUCCESS;
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
