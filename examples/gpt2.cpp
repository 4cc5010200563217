// Generates text with a GPT-2: from any model folder in Hugging Face's layout, or the full-size architecture with
// synthetic weights (--synthetic).
//
//     gpt2 --prompt $'ROMEO:\n' --tokens 100 --temperature 0.8 --top-k 40
//     gpt2 --model DIR --prompt TEXT --greedy --print-ids
//     gpt2 --synthetic --prompt-ids FILE --print-logits --tokens 16 --greedy --print-ids
//     gpt2 --report
//     gpt2 --explain --why-not layer_norm
//     gpt2 --synthetic --save-graph gpt2.cairn

#include "cairn/models/gpt2.hpp"
#include "cairn/text/sampler.hpp"
#include "cairn/text/stream_decoder.hpp"
#include "cairn/text/tokenizer.hpp"
#include "examples/logit_output.hpp"
#include "examples/report.hpp"
#include "examples/sampling_options.hpp"
#include "examples/support.hpp"
#include "examples/synthetic_weights.hpp"
#include "examples/token_id_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>

namespace {

using cairn::models::Gpt2;
using cairn::models::Gpt2Config;

struct Options {
    support::Options support;
    std::string model = CAIRN_EXAMPLES_DIR "/models/shakespeare-gpt2";
    std::string prompt, prompt_ids, score;
    std::optional<std::int64_t> tokens;
    sampling::Options sampling;
    bool synthetic = false, print_ids = false, print_logits = false, report = false;
};

void add_options(CLI::App& app, Options& options) {
    app.add_option("--model", options.model,
                   "folder with config.json, model.safetensors and tokenizer files, or a .gguf file");
    app.add_flag("--synthetic", options.synthetic, "GPT-2 124M with weights made from integers; no tokenizer");
    app.add_option("--prompt", options.prompt, "prompt text");
    app.add_option("--prompt-ids", options.prompt_ids,
                   "file of prompts as token ids: a JSON array, or {\"ids\": [...]}, a line; needs no tokenizer");
    app.add_option("--tokens", options.tokens, "tokens to write; 100 when not given, or none with --print-logits")
        ->check(support::at_least(0));
    sampling::add_options(app, options.sampling);
    app.add_flag("--print-ids", options.print_ids,
                 "print the new token ids as the last line, as is done without a tokenizer");
    app.add_flag("--print-logits", options.print_logits, "print the logits after each prompt as a JSON array");
    app.add_option("--score", options.score, "print the mean negative log likelihood of a text file's tokens and stop");
    app.add_flag("--report", options.report, "print what was chosen, memory and speed, and stop");
    support::add_options(app, options.support);
}

using TokenizerPointer = std::unique_ptr<cairn::text::Tokenizer>;

/// Configuration and tokenizer, which are read before the model is compiled.
struct ModelFiles {
    Gpt2Config config;
    TokenizerPointer tokenizer;  ///< null with --synthetic, and if the folder has no tokenizer and none is needed
};

bool has_tokenizer(const std::filesystem::path& model) {
    std::error_code ignored;
    if (model.extension() == ".gguf") return cairn::Gguf::open(model).has("tokenizer.ggml.model");
    return std::ranges::any_of(std::array{"tokenizer.json", "vocab.json", "merges.txt"},
                               [&](const char* name) { return std::filesystem::exists(model / name, ignored); });
}

ModelFiles read_model_files(const Options& options) {
    if (options.synthetic) return {};
    const bool needed = !options.prompt.empty() || !options.score.empty();
    Gpt2Config config = Gpt2Config::of_model(options.model);
    TokenizerPointer tokenizer;
    if (needed || has_tokenizer(options.model)) tokenizer = cairn::models::model_tokenizer(options.model);
    return {std::move(config), std::move(tokenizer)};
}

/// The model's graph with the dtypes in which the weights are stored.
cairn::Graph graph_of(const Options& options, const Gpt2Config& config) {
    return cairn::models::gpt2_graph(config, options.synthetic ? cairn::models::gpt2_weights(config)
                                                               : cairn::models::gpt2_weights(config, options.model));
}

struct Loaded {
    Gpt2 model;
    TokenizerPointer tokenizer;
    support::Phases phases;
};

Loaded load(const Options& options, ModelFiles known, const cairn::models::DecoderOptions& gpt2_options) {
    const cairn::Context context = support::make_context(options.support);
    support::ProgressDisplay display(options.support.no_progress);
    const cairn::CompileOptions compile = support::compile_options(options.support, display);
    if (options.synthetic) {
        const auto weights = cairn::models::gpt2_weights(known.config);
        Gpt2 model(known.config, weights, synthetic::source(weights), context, gpt2_options, compile);
        return {std::move(model), nullptr, display.finish()};
    }
    Gpt2 model = Gpt2::load(options.model, context, gpt2_options, compile, support::cache_folder(options.support));
    return {std::move(model), std::move(known.tokenizer), display.finish()};
}

void check_length(const Gpt2Config& config, const std::vector<std::int32_t>& prompt, std::int64_t tokens) {
    if (prompt.empty()) throw cairn::Error(cairn::ErrorKind::argument, "gpt2", "the prompt is empty");
    const auto length = static_cast<std::int64_t>(prompt.size());
    if (length > config.positions || tokens > config.positions - length)
        throw cairn::Error(cairn::ErrorKind::argument, "gpt2",
                           std::to_string(length) + " prompt tokens and " + std::to_string(tokens) +
                               " new ones are more than the context of " + std::to_string(config.positions));
}

/// Generates tokens after a prompt. Streams them as text if there is a tokenizer; prints their ids at the end with
/// --print-ids, and without a tokenizer.
void write(Loaded& loaded, const Options& options, cairn::text::Sampler sampler,
           const std::vector<std::int32_t>& prompt, std::int64_t tokens) {
    Gpt2& model = loaded.model;
    model.rewind();
    std::span<const float> logits = model.forward(prompt);
    logit_output::check_finite("gpt2", logits);
    if (options.print_logits) std::cout << logit_output::row_text(logits) << '\n';
    std::vector<std::int32_t> all = prompt;
    std::optional<cairn::text::StreamDecoder> stream;
    if (loaded.tokenizer != nullptr && tokens > 0) {
        stream.emplace(*loaded.tokenizer);
        for (const std::int32_t id : prompt)
            if (!options.print_logits) std::cout << stream->push(id) << std::flush;
    }
    std::optional<std::int32_t> eos;
    if (loaded.tokenizer != nullptr) eos = loaded.tokenizer->special().eos;
    for (std::int64_t i = 0; i < tokens; ++i) {
        const std::int32_t next = sampler.sample(logits, all);
        if (next == eos && !options.sampling.ignore_eos) break;
        all.push_back(next);
        if (stream) std::cout << stream->push(next) << std::flush;
        if (i + 1 < tokens) logits = model.forward({&all.back(), 1});
        logit_output::check_finite("gpt2", logits);
    }
    if (stream) std::cout << stream->finish() << '\n';
    const bool nothing_else = loaded.tokenizer == nullptr && !options.print_logits;
    if (!options.print_ids && !nothing_else) return;
    std::cout << "ids:";
    for (std::size_t i = prompt.size(); i < all.size(); ++i) std::cout << ' ' << all[i];
    std::cout << '\n';
}

/// Prints the mean of -ln p(token i+1 | tokens 0..i) over the tokens of a file.
void score(const Options& options) {
    if (options.synthetic)
        throw cairn::Error(cairn::ErrorKind::argument, "gpt2", "--score needs a model folder with a tokenizer");
    const std::string text = support::read_text(options.score);
    ModelFiles known = read_model_files(options);
    const std::vector<std::int32_t> ids = known.tokenizer->encode(text);
    if (ids.size() < 2)
        throw cairn::Error(cairn::ErrorKind::argument, "gpt2", options.score + " has fewer than two tokens");
    check_length(known.config, ids, 0);
    Loaded loaded = load(options, std::move(known), {.logits = cairn::models::Logits::all});
    const std::span<const float> logits = loaded.model.forward(ids);
    logit_output::check_finite("gpt2", logits);
    const auto vocabulary = static_cast<std::size_t>(loaded.model.config().vocabulary);
    double total = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
        const std::span<const float> row = logits.subspan(i * vocabulary, vocabulary);
        double largest = row[0], sum = 0;
        for (const float logit : row) largest = std::max(largest, static_cast<double>(logit));
        for (const float logit : row) sum += std::exp(static_cast<double>(logit) - largest);
        total += largest + std::log(sum) - static_cast<double>(row[static_cast<std::size_t>(ids[i + 1])]);
    }
    std::printf("%zu tokens, mean negative log likelihood %.9g\n", ids.size() - 1,
                total / static_cast<double>(ids.size() - 1));
}

/// Throws cairn::Error(argument) for options that have no effect beside another one.
void check_options(const CLI::App& app, const Options& options) {
    const auto refuse_writing = [&](const std::string& reason) {
        support::refuse_given(app, {"--prompt", "--prompt-ids", "--tokens", "--print-ids", "--print-logits"}, reason);
        sampling::refuse_given(app, reason);
    };
    support::refuse_without_effect(app, options.support);
    if (!options.support.save_graph.empty()) {
        support::refuse_given(app, {"--score", "--report"}, "--save-graph writes the graph and runs nothing");
        refuse_writing("--save-graph writes the graph and runs nothing");
    }
    if (!options.score.empty()) {
        support::refuse_given(app, {"--report", "--explain", "--why-not"}, "--score prints the likelihood and stops");
        refuse_writing("--score prints the likelihood of a file and writes no text");
    }
    if (options.report) {
        support::refuse_given(app, {"--explain", "--why-not"}, "--report prints its own and stops");
        refuse_writing("--report writes no text");
    }
    if (support::explains_selection(options.support)) refuse_writing("--explain and --why-not write no text");
    if (options.synthetic) {
        support::refuse_given(app, {"--model", "--cache-dir"}, "--synthetic makes the weights itself");
        support::refuse_given(app, {"--ignore-eos"}, "--synthetic has no tokenizer that names an end of text");
    }
    sampling::refuse_without_effect(app, options.sampling);
}

void run(const Options& options) {
    if (!options.score.empty()) return score(options);
    if (!options.prompt_ids.empty() && !options.prompt.empty())
        throw cairn::Error(cairn::ErrorKind::argument, "gpt2", "give --prompt or --prompt-ids, not both");
    const bool only_explains =
        options.report || support::explains_selection(options.support) || !options.support.save_graph.empty();
    if (!only_explains && options.prompt_ids.empty() && options.prompt.empty())
        throw cairn::Error(cairn::ErrorKind::argument, "gpt2", "the prompt is empty: give --prompt or --prompt-ids");
    if (options.synthetic && !options.prompt.empty())
        throw cairn::Error(cairn::ErrorKind::argument, "gpt2", "--synthetic has no tokenizer: give --prompt-ids");
    const cairn::text::Sampler sampler = sampling::sampler(options.sampling);
    ModelFiles known = read_model_files(options);
    if (!options.support.save_graph.empty())
        return support::save_graph(options.support.save_graph, graph_of(options, known.config));
    std::vector<token_id_file::Line> prompts;
    if (!options.prompt_ids.empty())
        prompts = token_id_file::read(options.prompt_ids, {known.config.vocabulary, known.config.positions});
    else if (!options.prompt.empty())
        prompts.push_back({known.tokenizer->encode(options.prompt), {}});
    const std::int64_t tokens = options.tokens.value_or(options.print_logits ? 0 : 100);
    for (const token_id_file::Line& prompt : prompts) check_length(known.config, prompt.ids, tokens);
    Loaded loaded = load(options, std::move(known), {});
    if (options.report) return report::print(loaded.model, loaded.phases);
    if (support::explains_selection(options.support))
        return support::print_explanation(options.support, loaded.model.compiled(),
                                          graph_of(options, loaded.model.config()));
    for (const token_id_file::Line& prompt : prompts) write(loaded, options, sampler, prompt.ids, tokens);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Writes text with a GPT-2");
    support::add_version_and_defaults(app);
    add_options(app, options);
    return support::guarded(app, argc, argv, [&] {
        check_options(app, options);
        run(options);
    });
}
