// Classifies sentences with a DistilBERT: by default, good and bad film reviews. The input is a sentence, a file or
// standard input; the model is a DistilBERT, BERT, RoBERTa or ALBERT with a classifier of texts, in Hugging Face's
// layout.
//
//     distilbert "A wonderful film."
//     distilbert --input reviews.jsonl --json
//     distilbert --input - --lines < reviews.txt
//     distilbert --synthetic --input-ids FILE

#include "cairn/models/encoder.hpp"
#include "cairn/text/tokenizer.hpp"
#include "examples/logit_output.hpp"
#include "examples/support.hpp"
#include "examples/synthetic_weights.hpp"
#include "examples/token_id_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iostream>
#include <optional>
#include <sstream>

namespace {

using cairn::models::Encoder;
using cairn::models::EncoderConfig;
using cairn::models::EncoderHead;
using nlohmann::json;

struct Options {
    support::Options support;
    std::string model = CAIRN_EXAMPLES_DIR "/models/sst2-distilbert";
    std::string text, input, input_ids;
    bool lines = false, as_json = false, synthetic = false, text_given = false;
    std::int64_t batch = 1;
    std::optional<std::int64_t> max_length;  ///< nullopt: the limit of the model and its tokenizer
};

void add_options(CLI::App& app, Options& options) {
    app.add_option("text", options.text, "a sentence");
    app.add_option("--input", options.input,
                   "file of JSON strings, one a line, empty lines aside; - is standard input");
    app.add_flag("--lines", options.lines, "the input is plain text, one sentence a line");
    app.add_option("--input-ids", options.input_ids,
                   "file of {\"ids\": [...], \"mask\": [...]} a line; prints logits and needs no tokenizer");
    app.add_option("--model", options.model,
                   "folder with config.json, model.safetensors and tokenizer files, or a .gguf file");
    app.add_flag("--synthetic", options.synthetic, "DistilBERT-base with weights made from integers; no tokenizer");
    app.add_option("--batch", options.batch, "texts computed together, padded to the longest")
        ->check(support::at_least(1));
    app.add_option("--max-length", options.max_length,
                   "tokens of a text that are used, [CLS] and [SEP] among them; what the model takes when not given. "
                   "A truncated text is named on standard error")
        ->check(support::at_least(2));
    app.add_flag("--json", options.as_json, "one JSON object a line");
    support::add_options(app, options.support);
}

EncoderConfig config_of(const Options& options) {
    if (options.synthetic) return EncoderConfig::distilbert_base();
    EncoderConfig config = EncoderConfig::of_model(options.model);
    config.head = EncoderHead::sequence;
    return config;
}

/// The model's graph with the dtypes in which the weights are stored.
cairn::Graph graph_of(const Options& options, const EncoderConfig& config) {
    return cairn::models::encoder_graph(config,
                                        options.synthetic ? cairn::models::encoder_weights(config)
                                                          : cairn::models::encoder_weights(config, options.model),
                                        options.batch);
}

Encoder load(const Options& options) {
    const cairn::Context context = support::make_context(options.support);
    support::ProgressDisplay display(options.support.no_progress);
    const cairn::CompileOptions compile = support::compile_options(options.support, display);
    if (!options.synthetic)
        return Encoder::load(options.model, context, {.max_batch = options.batch, .head = EncoderHead::sequence},
                             compile, support::cache_folder(options.support));
    const auto config = config_of(options);
    const auto weights = cairn::models::encoder_weights(config);
    return Encoder(config, weights, synthetic::source(weights), context, options.batch, compile);
}

std::vector<std::string> read_texts(const Options& options) {
    if (options.text_given) return {options.text};
    std::vector<std::string> texts;
    if (options.lines) {
        std::istringstream lines(support::read_text(options.input));
        for (std::string line; std::getline(lines, line);) texts.push_back(line);
        return texts;
    }
    support::for_each_line(options.input, [&](const std::string& line) -> std::string {
        const json value = json::parse(line, nullptr, false);
        if (!value.is_string()) return "expected a JSON string";
        texts.push_back(value.get<std::string>());
        return {};
    });
    return texts;
}

/// Probability of the label with the largest logit `best`: softmax, or the logistic function for multi-label
/// classifiers and for a single label. For a regression, the value itself.
double score_of(const EncoderConfig& config, std::span<const float> logits, double best) {
    if (config.problem_type == "regression") return best;
    if (config.problem_type == "multi_label_classification" || logits.size() == 1) return 1 / (1 + std::exp(-best));
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - best);
    return 1 / sum;
}

void print(const Encoder& model, const std::string& text, std::span<const float> logits, bool as_json) {
    const auto best = std::max_element(logits.begin(), logits.end());
    const double score = score_of(model.config(), logits, static_cast<double>(*best));
    const std::string& label = model.config().labels[static_cast<std::size_t>(best - logits.begin())];
    if (as_json)
        std::cout << "{\"text\": " << json(text).dump(-1, ' ', false, json::error_handler_t::replace)
                  << ", \"label\": " << json(label).dump() << ", \"probability\": " << logit_output::number(score)
                  << ", \"logits\": " << logit_output::row_text(logits) << "}\n";
    else
        std::cout << label << ' ' << logit_output::number(score) << ' ' << text << '\n';
}

/// Maximum number of tokens of a text. Throws cairn::Error(argument) if --max-length exceeds the model's positions.
std::size_t longest_text(const Options& options, const EncoderConfig& config, const cairn::text::Tokenizer& tokenizer) {
    if (options.max_length && *options.max_length > config.longest())
        throw cairn::Error(cairn::ErrorKind::argument, "distilbert",
                           "--max-length " + std::to_string(*options.max_length) + " is more than the " +
                               std::to_string(config.longest()) + " positions of the model");
    const auto positions = static_cast<std::size_t>(config.longest());
    if (options.max_length) return static_cast<std::size_t>(*options.max_length);
    return std::min(positions, tokenizer.model_max_length().value_or(positions));
}

/// Token ids of a text, truncated to `longest`; a truncation is reported on standard error with the text's `number`,
/// which counts from 1.
std::vector<std::int32_t> ids_of(const cairn::text::Tokenizer& tokenizer, const std::string& text, std::size_t number,
                                 std::size_t longest) {
    std::vector<std::int32_t> ids = tokenizer.encode(text);
    if (ids.size() <= longest) return ids;
    std::cerr << "text " << number << " is truncated from " << ids.size() << " to " << longest << " tokens\n";
    return tokenizer.encode(text, {.max_length = longest});
}

void classify(const Options& options) {
    const std::vector<std::string> texts = read_texts(options);
    const EncoderConfig config = config_of(options);
    const auto tokenizer = cairn::models::model_tokenizer(options.model);
    const std::size_t longest = longest_text(options, config, *tokenizer);
    Encoder model = load(options);
    const auto labels = model.config().labels.size();
    for (std::size_t first = 0; first < texts.size(); first += static_cast<std::size_t>(options.batch)) {
        const std::size_t count = std::min(texts.size() - first, static_cast<std::size_t>(options.batch));
        std::vector<std::vector<std::int32_t>> rows;
        for (std::size_t i = 0; i < count; ++i)
            rows.push_back(ids_of(*tokenizer, texts[first + i], first + i + 1, longest));
        const std::span<const float> logits = model.forward(rows);
        logit_output::check_finite("distilbert", logits);
        for (std::size_t i = 0; i < count; ++i)
            print(model, texts[first + i], logits.subspan(i * labels, labels), options.as_json);
    }
}

/// Runs each line of --input-ids by itself and prints its logits.
void run_ids(const Options& options) {
    const auto config = config_of(options);
    const std::vector<token_id_file::Line> lines =
        token_id_file::read(options.input_ids, {config.vocabulary, config.longest()});
    Encoder model = load(options);
    for (const token_id_file::Line& line : lines) {
        const std::span<const float> logits = model.forward({&line.ids, 1}, {&line.mask, 1});
        logit_output::check_finite("distilbert", logits);
        std::cout << logit_output::row_text(logits) << '\n';
    }
}

/// Throws cairn::Error(argument) for options that have no effect beside another one.
void check_options(const CLI::App& app, const Options& options) {
    support::refuse_without_effect(app, options.support);
    const std::initializer_list<const char*> texts = {"text",        "--input", "--lines",
                                                      "--input-ids", "--json",  "--max-length"};
    if (!options.support.save_graph.empty())
        support::refuse_given(app, texts, "--save-graph writes the graph and runs nothing");
    if (support::explains_selection(options.support))
        support::refuse_given(app, texts, "--explain and --why-not classify nothing");
    if (options.synthetic)
        support::refuse_given(app, {"--model", "--cache-dir"}, "--synthetic makes the weights itself");
    if (options.input.empty()) support::refuse_given(app, {"--lines"}, "it is for --input");
    if (!options.input_ids.empty())
        support::refuse_given(app, {"--json", "--batch", "--max-length"},
                              "lines of --input-ids are run one by one as they are, and logits printed");
}

void run(const Options& options) {
    if (!options.support.save_graph.empty())
        return support::save_graph(options.support.save_graph, graph_of(options, config_of(options)));
    if (support::explains_selection(options.support)) {
        Encoder model = load(options);
        return support::print_explanation(options.support, model.compiled(), graph_of(options, model.config()));
    }
    const int sources =
        (options.text_given ? 1 : 0) + (options.input.empty() ? 0 : 1) + (options.input_ids.empty() ? 0 : 1);
    if (sources != 1)
        throw cairn::Error(cairn::ErrorKind::argument, "distilbert", "give one of a sentence, --input and --input-ids");
    if (options.synthetic && options.input_ids.empty())
        throw cairn::Error(cairn::ErrorKind::argument, "distilbert", "--synthetic has no tokenizer: give --input-ids");
    if (options.input_ids.empty())
        classify(options);
    else
        run_ids(options);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Classifies sentences with a DistilBERT");
    support::add_version_and_defaults(app);
    add_options(app, options);
    return support::guarded(app, argc, argv, [&] {
        options.text_given = app.count("text") > 0;
        check_options(app, options);
        run(options);
    });
}
