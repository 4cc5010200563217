// Times attention over sizes, masks, heads and dtypes, each beside its roofline limit: the larger of the multiply-adds
// of unmasked pairs at the machine's peak, and the bytes of keys and values at the bandwidth of memory, or of the cache
// if they fit into it.
//
//     sweep_attention [--json] [--threads N] [--features avx2] [--only PART_OF_A_NAME]
#include "cairn/tuning.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace {

struct Sizes {
    std::int64_t queries, keys, depth = 64, heads = 12, key_heads = 12;
};
enum class Mask { causal, all, key_mask, pair_mask, added_mask };

struct Case {
    std::string name, problem;
    double pairs;  ///< unmasked pairs of query and key, over all heads
    Sizes sizes;
    double key_bytes;  ///< bytes of one element of keys and values
};

std::string tensor(const char* dtype, std::initializer_list<std::int64_t> sizes) {
    std::string text = std::string(dtype) + "[";
    for (const std::int64_t size : sizes) text += std::to_string(size) + ",";
    text.back() = ']';
    return text;
}

Case case_of(const Sizes& s, Mask seen, const std::string& stored = "f32", const std::string& more = {}) {
    const char* const names[] = {"causal", "all", "key_mask", "pair_mask", "added_mask"};
    const bool is_causal = seen == Mask::causal;
    std::string problem = std::string("attention causal=(") + (is_causal ? "1" : "0") + ")";
    if (seen == Mask::pair_mask || seen == Mask::added_mask) problem += " pairs=(1)";
    problem += more + " scale=0.125" + (seen == Mask::all || seen == Mask::added_mask ? "" : " masked_score=-1e+38");
    const std::string kv = tensor(stored.c_str(), {1, s.key_heads, s.keys, s.depth});
    const std::string q = tensor("f32", {1, s.heads, s.queries, s.depth});
    problem += " | " + q + " " + kv + " " + kv;
    if (seen == Mask::key_mask) problem += " " + tensor("bool", {1, s.keys});
    if (seen == Mask::pair_mask) problem += " " + tensor("bool", {1, 1, s.queries, s.keys});
    if (seen == Mask::added_mask) problem += " " + tensor("f32", {1, 1, s.queries, s.keys});
    const double queries = static_cast<double>(s.queries), keys = static_cast<double>(s.keys);
    const bool is_boolean = seen == Mask::key_mask || seen == Mask::pair_mask;
    const double filled = is_boolean ? static_cast<double>(s.keys - s.keys / 4) : keys;  // measure() masks 1/4
    const double row = is_causal ? keys - (queries - 1) / 2 : filled;
    std::string name = std::string(names[static_cast<int>(seen)]) + more + " " + stored + " " +
                       std::to_string(s.queries) + "x" + std::to_string(s.keys) + "x" + std::to_string(s.depth) + " " +
                       std::to_string(s.heads) + "/" + std::to_string(s.key_heads);
    return {std::move(name), problem + " -> " + q, static_cast<double>(s.heads) * queries * row, s,
            stored == "f32" ? 4.0 : 2.0};
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const std::int64_t queries : {1, 2, 4, 8, 16, 64, 128, 512, 1024, 2048})
        for (const std::int64_t keys : {128, 512, 2048, 8192})
            if (queries <= keys && queries * keys <= 2048 * 2048) all.push_back(case_of({queries, keys}, Mask::causal));
    all.push_back(case_of({1024, 1024}, Mask::causal));
    const Sizes anchors[] = {{1, 2048}, {4, 2048}, {16, 512}, {128, 128}, {512, 512}, {1024, 1024}};
    for (const Sizes& s : anchors) {
        for (const Mask seen : {Mask::all, Mask::key_mask, Mask::pair_mask, Mask::added_mask})
            all.push_back(case_of(s, seen));
        for (const char* stored : {"bf16", "f16"}) all.push_back(case_of(s, Mask::causal, stored));
        for (const std::int64_t depth : {80, 128}) all.push_back(case_of({s.queries, s.keys, depth}, Mask::causal));
        all.push_back(case_of(s, Mask::causal, "f32", " softcap=50"));
        all.push_back(case_of({s.queries, s.keys, 128, 32, 8}, Mask::causal));
        all.push_back(case_of({s.queries, s.keys, 64, 8, 1}, Mask::causal));
    }
    for (const std::int64_t keys : {2048, 8192, 65536})
        for (const std::int64_t heads : {1, 2}) all.push_back(case_of({1, keys, 64, heads, heads}, Mask::causal));
    all.push_back(case_of({1, 8192, 128, 32, 8}, Mask::causal));
    all.push_back(case_of({1, 8192, 128, 32, 8}, Mask::causal, "bf16"));
    all.push_back(case_of({1, 8192, 128, 8, 1}, Mask::causal));
    return all;
}

struct Machine {
    cairn::Context context;
    cairn::Calibration limits;
};

/// Roofline limit in seconds.
double limit(const Case& one, const cairn::Calibration& machine) {
    const double flops = one.pairs * 4 * static_cast<double>(one.sizes.depth);
    const double bytes =
        2 * static_cast<double>(one.sizes.key_heads * one.sizes.keys * one.sizes.depth) * one.key_bytes;
    const bool is_near = machine.cache_bandwidth > 0 && bytes <= machine.cache_bytes;
    return std::max(flops / machine.flops, bytes / (is_near ? machine.cache_bandwidth : machine.bandwidth));
}

void time_case(const Case& one, const Machine& machine, bool as_json) {
    auto symbols = cairn::Symbols::create();
    const cairn::Problem problem = cairn::parse_problem(one.problem, *symbols);
    const auto& kernels = machine.context.kernels().kernels;
    const auto kernel = std::find_if(kernels.begin(), kernels.end(), [&](const cairn::Kernel& k) {
        return k.definition == "attention" && machine.context.features().includes(k.needs) &&
               k.accepts(problem).empty();
    });
    if (kernel == kernels.end())
        throw cairn::Error(cairn::ErrorKind::argument, "bench", "no kernel for " + one.problem);
    const cairn::Timing timing =
        cairn::measure(problem, kernel->id, machine.context, {.blocks = 7, .max_seconds = 0.5});
    const double seconds = timing.samples > 0 ? timing.median : timing.bound;
    const double flops = one.pairs * 4 * static_cast<double>(one.sizes.depth) / seconds,
                 share = limit(one, machine.limits) / seconds;
    if (as_json) {
        const nlohmann::json row{{"case", one.name},     {"threads", machine.context.threads()},
                                 {"kernel", kernel->id}, {"seconds", seconds},
                                 {"flop_per_s", flops},  {"share_of_limit", share}};
        std::cout << row.dump() << '\n';
    } else {
        std::printf("%-42s %2d %10.1f us %8.1f GF/s %6.2f\n", one.name.c_str(), machine.context.threads(),
                    seconds * 1e6, flops / 1e9, share);
    }
}

struct Options {
    bool as_json = false;
    int threads = 0;
    std::string features, only;
};

void run(const Options& options) {
    std::vector<int> teams{1, cairn::usable_cpus()};
    if (options.threads > 0 || teams[1] == 1) teams = {std::max(options.threads, 1)};
    std::vector<Machine> machines;
    for (const int threads : teams) {
        cairn::ContextOptions made;
        made.threads = threads;
        if (!options.features.empty()) {
            made.features = cairn::parse_features(options.features);
            if (!made.features)
                throw cairn::Error(cairn::ErrorKind::argument, "bench", "unknown features: " + options.features);
        }
        const cairn::Context context(made);
        machines.push_back({context, cairn::calibrate(context)});
        if (!options.as_json)
            std::printf("%d threads: %.0f GF/s, %.1f GB/s from memory, %.1f from a cache of %.1f MB\n", threads,
                        machines.back().limits.flops / 1e9, machines.back().limits.bandwidth / 1e9,
                        machines.back().limits.cache_bandwidth / 1e9, machines.back().limits.cache_bytes / 1e6);
    }
    for (const Case& one : cases())
        if (one.name.find(options.only) != std::string::npos)
            for (const Machine& machine : machines) time_case(one, machine, options.as_json);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Times attention beside the limits of the machine");
    app.add_flag("--json", options.as_json, "one JSON object a line");
    app.add_option("--threads", options.threads, "threads; one and all by default");
    app.add_option("--features", options.features, "features of the CPU to use");
    app.add_option("--only", options.only, "cases whose name holds this");
    CLI11_PARSE(app, argc, argv);
    try {
        run(options);
    } catch (const std::exception& fault) {
        std::cerr << fault.what() << '\n';
        return 1;
    }
}
