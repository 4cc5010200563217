#include "apps/compare/library_models.hpp"

#include "apps/compare/in_process.hpp"
#include "cairn/error.hpp"
#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"
#include "cairn/models/lexicon.hpp"
#include "cairn/models/llama.hpp"
#include "cairn/text/tokenizer.hpp"

#include <algorithm>

namespace cairn::compare {
namespace {

/// The smallest limit of tokens above 0.
std::size_t smallest(std::initializer_list<std::int64_t> limits) {
    std::size_t least = 0;
    for (const std::int64_t limit : limits)
        if (limit > 0)
            least = least == 0 ? static_cast<std::size_t>(limit) : std::min(least, static_cast<std::size_t>(limit));
    return least;
}

class EncoderModel : public InProcess {
public:
    using InProcess::InProcess;

protected:
    void load_model(const Context& context, const CompileOptions& options) override {
        const bool embeds = settings().task == Task::embed;
        tokenizer_ = models::model_tokenizer(implementation().model);
        models::EncoderOptions how{.max_batch = max_batch()};
        if (embeds) how.head = models::EncoderHead::pooling;
        model_.emplace(models::Encoder::load(implementation().model, context, how, options));
        const models::EncoderConfig& config = model_->config();
        if (!embeds && (config.head != models::EncoderHead::sequence || config.labels.size() < 2))
            throw Error(ErrorKind::unsupported, "encoder", "the model has no classifier of texts");
        const auto longest = tokenizer_->model_max_length();
        max_length_ = smallest({settings().measure.max_length, config.longest(), config.max_tokens,
                                longest ? static_cast<std::int64_t>(std::min<std::size_t>(*longest, 1 << 30)) : 0});
    }

    std::vector<Answer> answers(std::span<const DataRow> rows, const std::stop_token& stop) override {
        std::vector<std::vector<std::int32_t>> ids;
        for (const DataRow& row : rows) ids.push_back(tokenizer_->encode(row.text, {.max_length = max_length_}));
        model_->run_options.stop = stop;
        const std::span<const float> all = model_->forward(ids);
        const std::size_t width = all.size() / rows.size();
        std::vector<Answer> result(rows.size());
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const std::span<const float> values = all.subspan(r * width, width);
            result[r].values.assign(values.begin(), values.end());
            if (settings().task == Task::classify)
                result[r].label = label_of_largest(model_->config().labels, result[r].values);
        }
        return result;
    }

private:
    std::unique_ptr<text::Tokenizer> tokenizer_;
    std::optional<models::Encoder> model_;
    std::size_t max_length_ = 0;
};

class DecoderModel : public InProcess {
public:
    using InProcess::InProcess;

protected:
    void load_model(const Context& context, const CompileOptions& options) override {
        tokenizer_ = models::model_tokenizer(implementation().model);
        std::optional<models::Gpt2Config> gpt2;
        try {
            gpt2 = models::Gpt2Config::of_model(implementation().model);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::unsupported) throw;
        }
        const std::int64_t positions =
            gpt2 ? gpt2->positions : models::LlamaConfig::of_model(implementation().model).positions;
        max_length_ = smallest({settings().measure.max_length, positions - settings().measure.tokens});
        if (positions <= settings().measure.tokens)
            throw Error(ErrorKind::argument, "decoder",
                        "the model has " + std::to_string(positions) + " positions, too few for the tokens to write");
        const models::DecoderOptions how{
            .capacity = std::min(positions, static_cast<std::int64_t>(max_length_) + settings().measure.tokens),
            .greedy = true};
        if (gpt2)
            model_ = std::make_unique<models::Gpt2>(models::Gpt2::load(implementation().model, context, how, options));
        else
            model_ =
                std::make_unique<models::Llama>(models::Llama::load(implementation().model, context, how, options));
    }

    /// One row after another.
    std::vector<Answer> answers(std::span<const DataRow> rows, const std::stop_token& stop) override {
        std::vector<Answer> result;
        model_->run_options.stop = stop;
        for (const DataRow& row : rows) {
            std::vector<std::int32_t> ids = tokenizer_->encode(row.text, {.max_length = max_length_});
            if (ids.empty()) throw Error(ErrorKind::argument, "decoder", "a text without tokens cannot be continued");
            model_->rewind();
            const std::vector<std::int32_t> tokens = model_->generate(ids, settings().measure.tokens);
            result.push_back({{}, {}, {tokens.begin(), tokens.end()}});
        }
        return result;
    }

private:
    std::unique_ptr<text::Tokenizer> tokenizer_;
    std::unique_ptr<models::Decoder> model_;
    std::size_t max_length_ = 0;
};

class LexiconModel : public InProcess {
public:
    using InProcess::InProcess;

protected:
    void load_model(const Context& context, const CompileOptions& options) override {
        model_.emplace(models::Lexicon::load(implementation().model, context,
                                             {.max_batch = max_batch(),
                                              .negative_below = static_cast<float>(implementation().negative_below),
                                              .positive_above = static_cast<float>(implementation().positive_above)},
                                             options));
    }

    std::vector<Answer> answers(std::span<const DataRow> rows, const std::stop_token& stop) override {
        std::vector<std::string> texts;
        for (const DataRow& row : rows) texts.push_back(row.text);
        model_->run_options.stop = stop;
        std::vector<Answer> result;
        for (const models::SentimentScore& each : model_->classify(texts))
            result.push_back({std::string(to_string(each.sentiment)), {each.score}, {}});
        return result;
    }

private:
    std::optional<models::Lexicon> model_;
};

}  // namespace

std::unique_ptr<Implementation> make_encoder(const ImplementationSettings& implementation, const Settings& settings) {
    return std::make_unique<EncoderModel>(implementation, settings);
}

std::unique_ptr<Implementation> make_decoder(const ImplementationSettings& implementation, const Settings& settings) {
    return std::make_unique<DecoderModel>(implementation, settings);
}

std::unique_ptr<Implementation> make_lexicon(const ImplementationSettings& implementation, const Settings& settings) {
    return std::make_unique<LexiconModel>(implementation, settings);
}

}  // namespace cairn::compare
