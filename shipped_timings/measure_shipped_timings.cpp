// Measures the timings that ship with Cairn into a database: times of the kernels of GPT-2 124M and DistilBERT, at the
// sizes and ranges that the examples compile them for.
//
//     measure_shipped_timings DB --seconds 60 --threads 2 --features avx2

#include "cairn/compile.hpp"
#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"
#include "cairn/timing_file.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <optional>
#include <string>
#include <string_view>

namespace {

struct Options {
    std::string database;
    double seconds = 60;
    int threads = 1;
    std::string features;
};

/// Parses a feature list; nothing, which means all features of the CPU, if the text is empty.
std::optional<cairn::FeatureSet> features_of(const std::string& text) {
    if (text.empty()) return std::nullopt;
    const std::optional<cairn::FeatureSet> features = cairn::parse_features(text);
    if (!features)
        throw cairn::Error(cairn::ErrorKind::argument, "measure_shipped_timings", "there are no features " + text);
    return features;
}

/// Compiles as examples/gpt2 and examples/distilbert do, to fill the database.
void measure(const Options& options) {
    cairn::ContextOptions with;
    with.threads = options.threads;
    with.timing_db = options.database;
    with.features = features_of(options.features);
    with.program = "measure_shipped_timings";
    with.extra.build = "for a seed";  // a build name of its own, so that programs use these times as priors only
    with.log = [](cairn::LogLevel, std::string_view line) { std::cerr << line << '\n'; };
    const cairn::Context context(with);
    cairn::CompileOptions how;
    how.mode = cairn::Mode::normal;
    how.tune_seconds = options.seconds;
    how.run_program_trials = false;  // shipped timings are times of kernels
    const cairn::models::EncoderConfig bert = cairn::models::EncoderConfig::distilbert_base();
    compile(cairn::models::encoder_graph(bert, cairn::models::encoder_weights(bert)), context, how);
    how.splits = {{"T", {1, 12}}};
    const cairn::models::Gpt2Config gpt2;
    compile(cairn::models::gpt2_graph(gpt2, cairn::models::gpt2_weights(gpt2)), context, how);
    std::cout << context.features() << ", " << options.threads
              << " threads: " << cairn::TimingFile(options.database, cairn::TimingFile::Use::read).info().times
              << " times\n";
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Measures the timings that ship with Cairn");
    app.add_option("db", options.database)->required();
    app.add_option("--seconds", options.seconds, "for each model");
    app.add_option("--threads", options.threads);
    app.add_option("--features", options.features, "in use: avx2+avx512, say; all when not given");
    try {
        app.parse(argc, argv);
        measure(options);
        return 0;
    } catch (const CLI::Error& error) { return app.exit(error); } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 2;
    }
}
