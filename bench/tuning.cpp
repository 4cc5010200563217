// Measures the gain of tuning and its variance on GPT-2 124M with synthetic weights: a decode step and a prompt.
//
//     tuning spread  [OPTIONS]   tunes repeatedly from empty databases and compares the programs with one another and
//     with as many untuned ones. Differences between untuned programs are noise. Each program is loaded twice, since
//     its place in memory affects its time too.
//     tuning budgets [OPTIONS]   compares the tuned program with the untuned one for budgets of 0.1 to 30 s
//     tuning modes   [OPTIONS]   compares a first start with shipped timings and the modes quick, normal and exhaustive
//     with the untuned program: seconds, measurements, times
//
//     --threads N   threads of the Context (all)             --tunes N     tunings in `spread` (5)
//     --layers N    layers of the model (12)                 --turns N     runs of each program (30)
//     --seconds S   budget of `spread` (60) and of exhaustive in `modes` (none)
//     --quick S     budget of quick in `modes` (its default)
//     --shipped-timings FILE   for `modes`, as build/release/share/cairn/shipped_timings.db; without it no first start
//                   is measured
//     --splits A,B  upper bounds of T's buckets (1,12)       --prompt N    tokens of the prompt (64)
//
// In each turn all programs run once, in random order. Two programs are compared by the median of the ratios of their
// times in the same turn, with a 95 % confidence interval.
#include "cairn/cairn.hpp"
#include "cairn/models/gpt2.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace cairn;
using Clock = std::chrono::steady_clock;

struct Settings {
    std::string what, shipped_timings;
    int threads = usable_cpus(), tunes = 5, layers = 12, turns = 30, prompt = 64;
    double seconds = 0, quick = 0;  // 0: not given
    std::vector<std::int64_t> splits{1, 12};
};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::vector<std::int64_t> numbers_of(const std::string& text) {
    std::vector<std::int64_t> numbers;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        numbers.push_back(std::stoll(text.substr(at, comma - at)));
        at = comma + 1;
    }
    return numbers;
}

Settings settings_of(int count, char** words) {
    Settings settings;
    if (count > 1) settings.what = words[1];
    const std::map<std::string_view, int*> counts{{"--threads", &settings.threads},
                                                  {"--tunes", &settings.tunes},
                                                  {"--layers", &settings.layers},
                                                  {"--turns", &settings.turns},
                                                  {"--prompt", &settings.prompt}};
    const std::map<std::string_view, double*> durations{{"--seconds", &settings.seconds}, {"--quick", &settings.quick}};
    for (int i = 2; i + 1 < count; i += 2) {
        const std::string_view name = words[i];
        const std::string value = words[i + 1];
        if (const auto number = counts.find(name); number != counts.end())
            *number->second = std::stoi(value);
        else if (const auto duration = durations.find(name); duration != durations.end())
            *duration->second = std::stod(value);
        else if (name == "--shipped-timings")
            settings.shipped_timings = value;
        else if (name == "--splits")
            settings.splits = numbers_of(value);
        else
            throw std::runtime_error("there is no option " + std::string(name));
    }
    return settings;
}

/// A compiled model, how it was tuned, and its measured times.
struct TunedModel {
    std::string name;
    Context context;  // with its own timing database in memory
    models::Gpt2 model;
    double seconds = 0;  // compile time
    std::int64_t measured = 0;
    std::vector<double> steps = {}, prompts = {};  // seconds per run, one for each turn
};

class ModelFactory {
public:
    explicit ModelFactory(const Settings& settings) : settings_(settings) {
        config_.layers = settings.layers;
        weights_ = gpt2_weights(config_);
        values_.resize(static_cast<std::size_t>(config_.vocabulary * config_.width));
        for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = 1e-3F * static_cast<float>(i % 61) - 0.03F;
    }

    TunedModel tuned(std::string name, Mode mode, std::optional<double> seconds) const {
        ContextOptions options;
        options.threads = settings_.threads;
        if (mode == Mode::cached) options.shipped_timings = {settings_.shipped_timings};
        Context context(options);
        CompileOptions compile;
        compile.mode = mode;
        compile.tune_seconds = seconds;
        compile.splits = {{"T", settings_.splits}};
        // The compile time excludes binding.
        const Clock::time_point begin = Clock::now();
        const Explanation why = cairn::compile(gpt2_graph(config_, weights_), context, compile).explain();
        const double spent = seconds_since(begin);
        if (mode != Mode::off) compile.mode = Mode::cached;
        const std::int64_t measured = why.tuning.empty() ? 0 : why.tuning.back().measured;
        return {std::move(name), context, model(context, compile), spent, measured};
    }

    /// The same programs loaded again into other memory.
    TunedModel again(const TunedModel& tuned, Mode mode) const {
        CompileOptions compile;
        compile.mode = mode;
        compile.splits = {{"T", settings_.splits}};
        return {tuned.name, tuned.context, model(tuned.context, compile), 0, 0};
    }

    /// Times all models in turns, each turn in another random order.
    void run(std::deque<TunedModel>& all) const {
        std::vector<std::int32_t> ids;
        for (int i = 0; i < settings_.prompt; ++i)
            ids.push_back(static_cast<std::int32_t>(i * 7919 % config_.vocabulary));
        std::vector<TunedModel*> order;
        for (TunedModel& each : all) order.push_back(&each);
        std::mt19937 random(1);
        for (int turn = -1; turn < settings_.turns; ++turn) {
            std::shuffle(order.begin(), order.end(), random);
            for (TunedModel* each : order) {
                each->model.rewind();
                const Clock::time_point begin = Clock::now();
                each->model.forward(ids);
                const double prompt = seconds_since(begin);
                const Clock::time_point middle = Clock::now();
                each->model.forward(std::span<const std::int32_t>(ids).first(1));
                if (turn < 0) continue;  // the first run faults its pages in
                each->prompts.push_back(prompt);
                each->steps.push_back(seconds_since(middle));
            }
        }
    }

private:
    models::Gpt2 model(const Context& context, const CompileOptions& compile) const {
        const auto source = [this](std::string_view weight) {
            InputView view;
            view.data = values_.data();
            for (const auto& each : weights_)
                if (each.name == weight) view.shape = each.shape;
            return view;
        };
        return {config_, weights_, source, context, {}, compile};
    }

    const Settings& settings_;
    models::Gpt2Config config_;
    std::vector<models::WeightSpec> weights_;
    std::vector<float> values_;
};

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
}

/// Text of the median of ratios and its 95 % confidence interval, by order statistics.
std::string ratio_of(const std::vector<double>& above, const std::vector<double>& below) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < above.size(); ++i) ratios.push_back(above[i] / below[i]);
    std::sort(ratios.begin(), ratios.end());
    const auto count = static_cast<double>(ratios.size());
    const auto off = static_cast<std::size_t>(std::ceil(1.96 * std::sqrt(count) / 2));
    const std::size_t middle = ratios.size() / 2, low = middle > off ? middle - off : 0,
                      high = std::min(middle + off, ratios.size() - 1);
    char text[64];
    std::snprintf(text, sizeof text, "%.3f (%.3f .. %.3f)", ratios[middle], ratios[low], ratios[high]);
    return text;
}

void print_head() {
    std::printf("%-16s %9s %9s %10s %24s %10s %24s\n", "", "compile s", "measured", "step ms", "ratio to first",
                "prompt ms", "ratio to first");
}

void print(const TunedModel& each, const TunedModel& first) {
    std::printf("%-16s %9.2f %9lld %10.3f %24s %10.3f %24s\n", each.name.c_str(), each.seconds,
                static_cast<long long>(each.measured), 1e3 * median(each.steps),
                ratio_of(each.steps, first.steps).c_str(), 1e3 * median(each.prompts),
                ratio_of(each.prompts, first.prompts).c_str());
    std::fflush(stdout);
}

void print_all(const std::deque<TunedModel>& all) {
    print_head();
    for (const TunedModel& each : all) print(each, all.front());
}

void print_spread(const char* what, const char* whose, const std::deque<TunedModel>& all,
                  std::vector<double> TunedModel::*times) {
    std::map<std::string, std::vector<double>> of;
    for (const TunedModel& each : all)
        if (each.name.starts_with(whose))
            of[each.name].insert(of[each.name].end(), (each.*times).begin(), (each.*times).end());
    if (of.empty()) return;
    std::vector<double> medians;
    for (const auto& [name, both] : of) medians.push_back(median(both));
    const auto [least, most] = std::minmax_element(medians.begin(), medians.end());
    std::printf("%s: the slowest of %zu %s takes %.2f %% more than the fastest\n", what, medians.size(), whose,
                100 * (*most / *least - 1));
}

void run_spread(const Settings& settings, const ModelFactory& models) {
    std::deque<TunedModel> all;
    for (int tune = 1; tune <= settings.tunes; ++tune)
        all.push_back(models.tuned("untuned " + std::to_string(tune), Mode::off, {}));
    for (int tune = 1; tune <= settings.tunes; ++tune)
        all.push_back(
            models.tuned("tune " + std::to_string(tune), Mode::normal, settings.seconds > 0 ? settings.seconds : 60));
    for (std::size_t i = 0, first = all.size(); i < first; ++i)
        all.push_back(models.again(all[i], all[i].name.starts_with("untuned") ? Mode::off : Mode::cached));
    models.run(all);
    print_all(all);
    for (const char* whose : {"untuned", "tune"}) {
        print_spread("steps", whose, all, &TunedModel::steps);
        print_spread("prompts", whose, all, &TunedModel::prompts);
    }
}

/// Compares one tuning with an untuned model compiled for it, so that only two models are in memory at a time.
void run_against_untuned(const ModelFactory& models, const std::string& name, Mode mode,
                         std::optional<double> seconds) {
    std::deque<TunedModel> pair;
    pair.push_back(models.tuned("untuned", Mode::off, {}));
    pair.push_back(models.tuned(name, mode, seconds));
    models.run(pair);
    print(pair[1], pair[0]);
}

void run_budgets(const ModelFactory& models) {
    print_head();
    for (const double seconds : {0.1, 0.3, 1.0, 3.0, 10.0, 30.0}) {
        char name[32];
        std::snprintf(name, sizeof name, "%g s", seconds);
        run_against_untuned(models, name, Mode::normal, seconds);
    }
}

std::optional<double> given(double seconds) { return seconds > 0 ? std::optional(seconds) : std::nullopt; }

void run_modes(const Settings& settings, const ModelFactory& models) {
    print_head();
    if (!settings.shipped_timings.empty()) run_against_untuned(models, "shipped timings", Mode::cached, {});
    run_against_untuned(models, "quick", Mode::quick, given(settings.quick));
    run_against_untuned(models, "normal", Mode::normal, 60);
    run_against_untuned(models, "exhaustive", Mode::exhaustive, given(settings.seconds));
}

}  // namespace

int main(int count, char** words) try {
    const Settings settings = settings_of(count, words);
    const ModelFactory models(settings);
    if (settings.what == "spread")
        run_spread(settings, models);
    else if (settings.what == "budgets")
        run_budgets(models);
    else if (settings.what == "modes")
        run_modes(settings, models);
    else
        throw std::runtime_error("tuning spread|budgets|modes [--threads N] [--layers N] [--seconds S] ...");
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
