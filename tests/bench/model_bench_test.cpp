#include "cairn/context.hpp"
#include "cairn/models/gpt2.hpp"
#include "tests/examples/run_program.hpp"
#include "tests/io/weights/gguf_bytes.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <sched.h>

#include <algorithm>
#include <functional>
#include <numeric>

/// Runs `model_bench` on the bundled models.
namespace cairn::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Outcome model_bench(const std::vector<std::string>& arguments) { return run(CAIRN_MODEL_BENCH, arguments); }

json bench_of(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--mode", "off", "--json"});
    const Outcome outcome = model_bench(arguments);
    EXPECT_TRUE(succeeds(outcome));
    return json::parse(outcome.out, nullptr, false);
}

void expect_whole(const json& all, std::size_t iterations) {
    ASSERT_TRUE(all.is_object());
    ASSERT_EQ(all["iterations_ns"].size(), iterations);
    std::vector<double> times = all["iterations_ns"];
    std::sort(times.begin(), times.end());
    EXPECT_EQ(all["best_ns"], times.front());
    EXPECT_EQ(all["median_ns"], times[times.size() / 2]);
    for (const char* field :
         {"best_ns", "peak_flops_per_second", "read_bytes_per_second", "needed_flops", "needed_bytes", "limit_ns",
          "limit_compute_ns", "limit_read_ns", "fraction_of_limit_best", "fraction_of_limit_median",
          "fraction_of_peak_flops", "fraction_of_bandwidth", "peak_resident_bytes", "arena_bytes", "weight_bytes",
          "compile_seconds", "first_logits_ns", "first_logits_clock_ns", "instructions"}) {
        ASSERT_TRUE(all.contains(field)) << field;
        EXPECT_GT(all[field].get<double>(), 0) << field;
    }
    EXPECT_LE(all["best_ns"], all["first_logits_ns"]);
    EXPECT_LE(all["compile_seconds"].get<double>() * 1e9, all["first_logits_ns"].get<double>());
    EXPECT_THAT(all["plan"].get<std::string>(), testing::MatchesRegex("[0-9a-f]{32}"));
    ASSERT_TRUE(all["error"].is_number());
    EXPECT_LT(all["error"].get<double>(), 2e-6);
    EXPECT_FALSE(all.contains("beside"));
}

TEST(ModelBench, Prefill) {
    const json all =
        bench_of({"--model", "gpt2", "--work", "prefill", "--length", "17", "--threads", "1", "--iterations", "3"});
    expect_whole(all, 3);
    EXPECT_EQ(all["work"], "prefill");
    EXPECT_EQ(all["length"], 17);
    EXPECT_EQ(all["threads"], 1);
    EXPECT_EQ(all["logits"], "last");
    EXPECT_EQ(all["reference"], "shakespeare_gpt2.json");
}

// The most accurate f32 engine of bench/peers has an error of 9e-7 against float64.
TEST(ModelBench, LogitsOfFullSizeModelsAreWithinAMillionth) {
    for (const char* model : {"gpt2", "distilbert"}) {
        const json all =
            bench_of({"--model", model, "--synthetic", "--length", "128", "--threads", "1", "--iterations", "1"});
        ASSERT_TRUE(all.is_object());
        EXPECT_LT(all["error"].get<double>(), 1e-6) << model;
    }
}

TEST(ModelBench, PrefillOfSeveralTextsAndAllLogits) {
    const json all =
        bench_of({"--model", "gpt2", "--length", "5", "--batch", "3", "--all-logits", "--iterations", "1"});
    expect_whole(all, 1);
    EXPECT_EQ(all["batch"], 3);
    EXPECT_EQ(all["logits"], "all");
}

TEST(ModelBench, DecodeWithAndWithoutBatches) {
    for (const char* batch : {"1", "3"}) {
        const json all =
            bench_of({"--model", "gpt2", "--work", "decode", "--length", "9", "--batch", batch, "--iterations", "4"});
        expect_whole(all, 4);
        EXPECT_EQ(all["work"], "decode");
    }
}

TEST(ModelBench, ClassifyWithAndWithoutBatches) {
    for (const char* batch : {"1", "8"}) {
        const json all = bench_of({"--model", "distilbert", "--length", "13", "--batch", batch, "--iterations", "2"});
        expect_whole(all, 2);
        EXPECT_EQ(all["work"], "classify");
        EXPECT_EQ(all["reference"], "sst2_distilbert.json");
    }
}

TEST(ModelBench, ProfilesByKernel) {
    const json all = bench_of({"--model", "gpt2", "--length", "9", "--iterations", "1", "--threads", "2", "--profile"});
    int instructions = 0;
    double seconds = 0;
    for (const json& kind : all["profile"]) {
        instructions += kind["count"].get<int>();
        seconds += kind["seconds"].get<double>();
        EXPECT_GE(kind["idle"], 0);
        EXPECT_LT(kind["idle"], 1);
    }
    EXPECT_EQ(all["instructions"], instructions);
    EXPECT_GT(seconds, 0);
}

TEST(ModelBench, ClassesLimitTheKernelsThatStateAnError) {
    const auto families_of = [](std::vector<std::string> arguments) {
        arguments.insert(arguments.end(),
                         {"--model", "gpt2", "--length", "9", "--iterations", "1", "--tolerance", "0.1"});
        const json all = bench_of(std::move(arguments));
        std::string names;
        for (const auto& [family, count] : all["families"].items()) names += family + " ";
        EXPECT_NE(names, "");
        return names;
    };
    EXPECT_THAT(families_of({"--class", "i16"}), testing::Not(testing::ContainsRegex("panel_(i8|bf16)")));
    EXPECT_THAT(families_of({"--class", "*panel_i16_*"}), testing::HasSubstr("panel_i16"));
    EXPECT_TRUE(refuses(model_bench({"--model", "gpt2", "--tolerance", "0.1", "--class", "i7"}), {"--class", "i7"}));
    EXPECT_TRUE(refuses(model_bench({"--model", "gpt2", "--class", "i16"}), {"--tolerance"}));
}

TEST(ModelBench, FoldersHaveNoReferenceAndLogitsAreWritten) {
    const TempFolder folder;
    const std::string path = folder / "logits", lock = folder / "lock";
    const json all = bench_of({"--model", CAIRN_SOURCE_DIR "/examples/models/shakespeare-gpt2", "--length", "3",
                               "--batch", "2", "--all-logits", "--iterations", "1", "--logits", path, "--lock", lock});
    EXPECT_TRUE(all["error"].is_null());
    EXPECT_EQ(std::filesystem::file_size(path), 2u * 3 * 1024 * sizeof(float));
    EXPECT_THAT(read_file(lock), testing::StartsWith("cairn lock"));
}

/// A small GPT-2 whose matrices are in blocks of q8_0, with the number of bytes of its tensors.
std::string small_gguf(std::size_t& bytes_of_tensors, std::uint32_t width = 32) {
    models::Gpt2Config config;
    config.vocabulary = 64, config.positions = 16, config.width = width, config.heads = 2, config.layers = 2;
    config.inner = 2 * width;
    GgufBytes file;
    file.text("general.architecture", "gpt2").u32("gpt2.context_length", 16).u32("gpt2.embedding_length", width);
    file.u32("gpt2.feed_forward_length", 2 * width).u32("gpt2.block_count", 2).u32("gpt2.attention.head_count", 2);
    file.key("gpt2.attention.layer_norm_epsilon", 6, GgufBytes::raw(1e-5F));
    std::string data;
    for (const models::WeightSpec& spec : models::gpt2_weights(config)) {
        std::vector<std::uint64_t> sizes(spec.shape.rbegin(), spec.shape.rend());
        const std::string name = models::gguf_name(spec.name, models::gpt2_gguf_names());
        if (name.find("attn_") != name.npos || name.find("ffn_") != name.npos) std::reverse(sizes.begin(), sizes.end());
        const std::uint64_t count = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{1}, std::multiplies<>());
        constexpr std::uint32_t f32 = 0, q8_0 = 8;
        file.tensor(name, sizes, sizes.size() == 2 ? q8_0 : f32, data.size());
        std::string bytes;
        if (sizes.size() == 1) bytes = std::string(count * 4, '\0');
        for (std::uint64_t block = 0; sizes.size() == 2 && block < count / 32; ++block) {
            bytes += GgufBytes::raw<std::uint16_t>(0x2000);  // 2^-7
            for (std::uint64_t i = 0; i < 32; ++i) bytes += static_cast<char>((block * 7 + i * 5) % 31 - 15);
        }
        bytes_of_tensors += bytes.size();
        data += bytes + std::string((32 - bytes.size() % 32) % 32, '\0');
    }
    return file.bytes(data);
}

TEST(ModelBench, ReportsWhatIsVerifiedWithinATolerance) {
    const TempFolder folder;
    std::size_t bytes = 0;
    const std::string path = folder.write("m.gguf", small_gguf(bytes, 256));
    const std::vector<std::string> exact{"--model", path, "--length", "16", "--batch", "8", "--iterations", "1"};
    std::vector<std::string> loose = exact;
    loose.insert(loose.end(), {"--tolerance", "0.01"});
    EXPECT_FALSE(bench_of(exact).contains("verified"));
    const json all = bench_of(loose);
    ASSERT_TRUE(all.contains("verified"));
    bool has_logits = false;
    for (const json& row : all["verified"]) {
        has_logits = has_logits || row["value"] == "output \"logits\"";
        EXPECT_FALSE(row["fell_back"].get<bool>());
        EXPECT_LE(row["promised"], row["allowed"]);
        EXPECT_LE(row["measured"], row["allowed"]);
        EXPECT_GT(row["promised"], 0);
    }
    EXPECT_TRUE(has_logits);
}

// A token reads every weight once, but for the positions, of which it needs its own.
TEST(ModelBench, TakesGgufFilesAndCountsTheBytesOfBlocks) {
    const TempFolder folder;
    std::size_t bytes = 0;
    const std::string path = folder.write("m.gguf", small_gguf(bytes));
    const json all = bench_of({"--model", path, "--work", "decode", "--length", "5", "--iterations", "2"});
    ASSERT_TRUE(all.is_object());
    EXPECT_TRUE(all["error"].is_null());
    const double keys_and_values = 2.0 * 2 * 5 * 32 * sizeof(float), other_positions = 15 * 34;
    EXPECT_NEAR(all["needed_bytes"].get<double>(), static_cast<double>(bytes) - other_positions + keys_and_values,
                2.0 * 2 * 32 * sizeof(float));
}

TEST(ModelBench, ComparesAsManyReferencesAsAsked) {
    for (const char* model : {"gpt2", "distilbert"}) {
        const auto error = [&](std::vector<std::string> arguments) {
            arguments.insert(arguments.end(), {"--model", model, "--length", "3", "--iterations", "1"});
            return bench_of(arguments)["error"];
        };
        EXPECT_TRUE(error({"--references", "0"}).is_null()) << model;
        const json one = error({"--references", "1"}), all = error({});
        ASSERT_TRUE(one.is_number() && all.is_number()) << model;
        EXPECT_LT(one.get<double>(), 2e-6) << model;
        EXPECT_NE(one, all) << model;
        EXPECT_EQ(error({"--references", "1000"}), all) << model;
    }
}

TEST(ModelBench, KeepsAModelReady) {
    const TempFolder folder;
    const std::string kept = folder / "kept";
    const auto bench = [&](const std::string& model) {
        return bench_of({"--model", model, "--length", "9", "--iterations", "1", "--cache-dir", kept + model});
    };
    for (const std::string model : {"gpt2", "distilbert"}) {
        const json first = bench(model), second = bench(model);
        EXPECT_TRUE(std::filesystem::exists(kept + model + "/model.program"));
        EXPECT_TRUE(std::filesystem::exists(kept + model + "/model.packed"));
        EXPECT_EQ(second["plan"], first["plan"]);
        EXPECT_EQ(second["error"], first["error"]);
    }
}

TEST(ModelBench, RunsForTheGivenSeconds) {
    const json all = bench_of({"--model", "distilbert", "--length", "1", "--iterations", "1", "--seconds", "0.05"});
    double total = 0;
    for (const double time : all["iterations_ns"]) total += time;
    EXPECT_GE(total, 0.05e9);
    EXPECT_GT(all["iterations_ns"].size(), 1u);
}

TEST(ModelBench, TunesWithinABudgetIntoAFile) {
    const TempFolder folder;
    const std::string db = folder / "times.db";
    for (const char* mode : {"quick", "normal", "exhaustive", "cached"}) {
        const Outcome outcome = model_bench({"--model", "distilbert", "--length", "4", "--mode", mode, "--budget",
                                             "0.1", "--db", db, "--iterations", "1", "--json"});
        EXPECT_TRUE(succeeds(outcome));
        EXPECT_EQ(json::parse(outcome.out)["mode"], mode);
        EXPECT_TRUE(std::filesystem::exists(db));
    }
}

TEST(ModelBench, PrintsATable) {
    const Outcome outcome = model_bench({"--model", "gpt2", "--length", "4", "--mode", "off", "--iterations", "2"});
    EXPECT_TRUE(succeeds(outcome));
    for (const char* part : {"gpt2, prefill of 4, batch 1, last logits", "of 2 iterations", "limit", "GFLOP/s", "plan",
                             "peak resident", "to the first logits", "relative L2"})
        EXPECT_THAT(outcome.out, HasSubstr(part));
}

TEST(ModelBench, WithABusyProcess) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
    const std::vector<std::string> arguments{"--model",      "gpt2", "--work", "decode", "--beside",
                                             "--iterations", "6",    "--mode", "off",    "--json"};
    const Outcome outcome = model_bench(arguments);
    if (CPU_COUNT(&mask) < 2) {
        EXPECT_TRUE(refuses(outcome, {"--beside", "one CPU only"}));
        return;
    }
    EXPECT_TRUE(succeeds(outcome));
    const json all = json::parse(outcome.out);
    EXPECT_EQ(all["iterations_ns"].size(), 6u);
    EXPECT_EQ(all["beside"]["alone_ns"], all["iterations_ns"]);
    EXPECT_EQ(all["beside"]["beside_ns"].size(), 6u);
    EXPECT_GT(all["beside"]["slowdown_median"].get<double>(), 0);
    EXPECT_TRUE(CPU_ISSET(all["beside"]["cpu"].get<int>(), &mask));
}

TEST(ModelBench, CalibratesOnly) {
    const Outcome outcome = model_bench({"--calibrate", "--threads", "1", "--json"});
    EXPECT_TRUE(succeeds(outcome));
    const json all = json::parse(outcome.out);
    EXPECT_GT(all["peak_flops_per_second"].get<double>(), 1e8);
    EXPECT_GT(all["read_bytes_per_second"].get<double>(), 1e8);
    EXPECT_EQ(all.size(), 2u);
    EXPECT_THAT(model_bench({"--calibrate"}).out, testing::MatchesRegex("peak [0-9.]+ GFLOP/s, read [0-9.]+ GB/s\n"));
}

TEST(ModelBench, WrongInputGivesAOneSentenceError) {
    const auto expect_refused = [](const std::vector<std::string>& arguments, const std::vector<std::string>& words) {
        EXPECT_TRUE(refuses(model_bench(arguments), words)) << testing::PrintToString(arguments);
    };
    expect_refused({"--model", "/nowhere"}, {"/nowhere"});
    expect_refused({"--model", ""}, {"config.json"});
    expect_refused({"--model", "/nowhere", "--synthetic"}, {"--synthetic", "folder"});
    expect_refused({"--model", "gpt2", "--work", "classify"}, {"gpt2", "'classify'"});
    expect_refused({"--model", "distilbert", "--work", "decode"}, {"distilbert", "'decode'"});
    expect_refused({"--model", "distilbert", "--all-logits"}, {"--all-logits"});
    expect_refused({"--model", CAIRN_SOURCE_DIR "/examples/models/sst2-distilbert", "--work", "prefill"},
                   {"config.json"});
    expect_refused({"--all-logits", "--last-logits"}, {"not both"});
    expect_refused({"--work", "train"}, {"--work", "train"});
    expect_refused({"--mode", "fast"}, {"--mode", "fast"});
    expect_refused({"--length", "257"}, {"257 positions", "256"});
    expect_refused({"--work", "decode", "--length", "256"}, {"257 positions", "256"});
    expect_refused({"--model", "distilbert", "--length", "129"}, {"129 positions", "128"});
    for (const char* option : {"--length", "--batch", "--threads", "--iterations"})
        for (const char* value : {"0", "-1", "x", "1.5", ""}) expect_refused({option, value}, {option});
    for (const char* option : {"--budget", "--seconds"})
        for (const char* value : {"-1", "x", "1e9", "nan"}) expect_refused({option, value}, {option});
    expect_refused({"--mode", "off", "--logits", "/nowhere/logits", "--length", "1"}, {"/nowhere/logits"});
    expect_refused({"--synthetic", "--cache-dir", "kept"}, {"--cache-dir", "files"});
    expect_refused({"--lock", "lock", "--cache-dir", "kept"}, {"not both"});
    expect_refused({"--frobnicate"}, {"--frobnicate"});
}

}  // namespace
}  // namespace cairn::test
