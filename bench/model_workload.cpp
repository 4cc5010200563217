#include "bench/model_workload.hpp"

#include "bench/golden_outputs.hpp"
#include "bench/model_minimum_work.hpp"
#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"
#include "examples/synthetic_weights.hpp"

#include <algorithm>
#include <utility>

namespace bench {
namespace {

using cairn::models::Encoder;
using cairn::models::EncoderConfig;
using cairn::models::EncoderHead;
using cairn::models::Gpt2;
using cairn::models::Gpt2Config;
using cairn::models::WeightSpec;

[[noreturn]] void refuse(const std::string& why) { throw cairn::Error(cairn::ErrorKind::argument, "model_bench", why); }

void check_positions(std::int64_t needed, std::int64_t positions) {
    if (needed > positions)
        refuse("the work needs " + std::to_string(needed) + " positions, the model has " + std::to_string(positions));
}

class BenchmarkedGpt2 : public BenchmarkedModel {
public:
    BenchmarkedGpt2(const Workload& work, const ModelSource& source, const cairn::Context& context,
                    const cairn::CompileOptions& options)
        : work_(work),
          golden_(source.golden),
          references_(source.references),
          model_(load(work, source, context, options)),
          weights_(source.model ? gpt2_weights(model_.config(), *source.model) : gpt2_weights(model_.config())),
          ids_(workload_ids(work.batch, work.length, model_.config().vocabulary)),
          next_(static_cast<std::size_t>(work.batch), 0),
          starts_(static_cast<std::size_t>(work.batch), 0) {}

    void prepare() override {
        if (work_.kind == Workload::Kind::prefill) return model_.rewind();
        if (model_.length() < work_.length) append_most_likely(forward(ids_));
        model_.rewind(work_.length);
    }

    std::span<const float> run() override { return forward(work_.kind == Workload::Kind::prefill ? ids_ : next_); }

    cairn::CompiledGraph& compiled() override { return model_.compiled(); }
    void profile(bool is_profiled) override { model_.run_options.profile = is_profiled; }

    std::vector<std::pair<std::string_view, std::int64_t>> sizes() const override {
        const bool decodes = work_.kind == Workload::Kind::decode;
        std::vector<std::pair<std::string_view, std::int64_t>> sizes{{"T", decodes ? 1 : work_.length},
                                                                     {"past", decodes ? work_.length : 0}};
        if (work_.batch > 1) sizes.emplace_back("B", work_.batch);
        return sizes;
    }

    MinimumWork needs() const override { return gpt2_minimum_work(work_, model_.config(), weights_); }

    std::optional<double> error() override {
        if (golden_.empty()) return {};
        const bool decodes = work_.kind == Workload::Kind::decode;
        const auto vocabulary = static_cast<std::size_t>(model_.config().vocabulary);
        std::vector<GoldenText> texts = golden_texts(golden_);
        std::erase_if(texts,
                      [&](const GoldenText& text) { return std::cmp_greater(text.ids.size(), model_.capacity()); });
        texts.resize(std::min(texts.size(), references_));
        if (texts.empty()) return {};
        RelativeError distance;
        for (const GoldenText& text : texts) {
            std::vector<std::int32_t> front, last;
            for (std::int64_t row = 0; row < work_.batch; ++row) {
                front.insert(front.end(), text.ids.begin(), text.ids.end() - (decodes ? 1 : 0));
                last.push_back(text.ids.back());
            }
            model_.rewind();
            std::span<const float> logits;
            if (!front.empty()) logits = forward(front);
            if (decodes) logits = forward(last);
            // Compares the last position of each row.
            const std::size_t row_size = logits.size() / static_cast<std::size_t>(work_.batch);
            for (std::size_t end = row_size; end <= logits.size(); end += row_size)
                for (const auto& [position, expected] : text.logits)
                    distance.add(logits[end - vocabulary + position], expected);
        }
        return distance.relative();
    }

private:
    static Gpt2 load(const Workload& work, const ModelSource& source, const cairn::Context& context,
                     const cairn::CompileOptions& options) {
        const Gpt2Config config = source.model ? Gpt2Config::of_model(*source.model) : Gpt2Config();
        check_positions(work.length + (work.kind == Workload::Kind::decode ? 1 : 0), config.positions);
        const cairn::models::DecoderOptions made{
            .logits = work.all_logits ? cairn::models::Logits::all : cairn::models::Logits::last,
            .max_batch = work.batch};
        if (source.model) return Gpt2::load(*source.model, context, made, options, source.cache_folder);
        const std::vector<WeightSpec> weights = gpt2_weights(config);
        return Gpt2(config, weights, synthetic::source(weights), context, made, options);
    }

    std::span<const float> forward(std::span<const std::int32_t> ids) {
        return work_.batch > 1 ? model_.forward(ids, starts_) : model_.forward(ids);
    }

    /// Sets the next token of each row to the most likely one, by logits of the last or of all positions.
    void append_most_likely(std::span<const float> logits) {
        const std::size_t row_size = logits.size() / next_.size();
        const auto vocabulary = static_cast<std::size_t>(model_.config().vocabulary);
        for (std::size_t row = 0; row < next_.size(); ++row) {
            const std::span<const float> last = logits.subspan((row + 1) * row_size - vocabulary, vocabulary);
            next_[row] = static_cast<std::int32_t>(std::max_element(last.begin(), last.end()) - last.begin());
        }
    }

    Workload work_;
    std::filesystem::path golden_;
    std::size_t references_;
    Gpt2 model_;
    std::vector<WeightSpec> weights_;
    std::vector<std::int32_t> ids_, next_, starts_;
};

class BenchmarkedDistilBert : public BenchmarkedModel {
public:
    BenchmarkedDistilBert(const Workload& work, const ModelSource& source, const cairn::Context& context,
                          const cairn::CompileOptions& options)
        : work_(work),
          golden_(source.golden),
          references_(source.references),
          model_(load(work, source, context, options)),
          weights_(source.model ? encoder_weights(model_.config(), *source.model) : encoder_weights(model_.config())) {
        const std::vector<std::int32_t> ids = workload_ids(work.batch, work.length, model_.config().vocabulary);
        for (std::int64_t row = 0; row < work.batch; ++row)
            rows_.emplace_back(ids.begin() + row * work.length, ids.begin() + (row + 1) * work.length);
    }

    void prepare() override {}
    std::span<const float> run() override { return model_.forward(rows_); }
    cairn::CompiledGraph& compiled() override { return model_.compiled(); }
    void profile(bool is_profiled) override { model_.run_options.profile = is_profiled; }
    std::vector<std::pair<std::string_view, std::int64_t>> sizes() const override {
        return {{"B", work_.batch}, {"S", work_.length}};
    }
    MinimumWork needs() const override { return distilbert_minimum_work(work_, model_.config(), weights_); }

    std::optional<double> error() override {
        if (golden_.empty()) return {};
        const GoldenSentences all = golden_sentences(golden_);
        const std::size_t texts = std::min(all.ids.size(), references_);
        if (texts == 0) return {};
        const std::size_t labels = model_.config().labels.size();
        RelativeError distance;
        const auto batch = static_cast<std::size_t>(work_.batch);
        for (std::size_t first = 0; first < texts; first += batch) {
            const std::size_t count = std::min(batch, texts - first);
            const std::span<const float> logits = model_.forward(std::span(all.ids).subspan(first, count));
            for (std::size_t i = 0; i < count * labels; ++i)
                distance.add(logits[i], all.logits[first + i / labels][i % labels]);
        }
        return distance.relative();
    }

private:
    static Encoder load(const Workload& work, const ModelSource& source, const cairn::Context& context,
                        const cairn::CompileOptions& options) {
        EncoderConfig config = source.model ? EncoderConfig::of_model(*source.model) : EncoderConfig::distilbert_base();
        config.head = EncoderHead::sequence;
        check_positions(work.length, config.positions);
        if (source.model)
            return Encoder::load(*source.model, context, {.max_batch = work.batch, .head = EncoderHead::sequence},
                                 options, source.cache_folder);
        const std::vector<WeightSpec> weights = encoder_weights(config);
        return Encoder(config, weights, synthetic::source(weights), context, work.batch, options);
    }

    Workload work_;
    std::filesystem::path golden_;
    std::size_t references_;
    Encoder model_;
    std::vector<WeightSpec> weights_;
    std::vector<std::vector<std::int32_t>> rows_;
};

}  // namespace

std::unique_ptr<BenchmarkedModel> make_benchmarked_model(const Workload& work, const ModelSource& source,
                                                         const cairn::Context& context,
                                                         const cairn::CompileOptions& options) {
    if (work.kind == Workload::Kind::classify) {
        if (work.all_logits) refuse("a classifier has no logits of positions: --all-logits is for prefill and decode");
        return std::make_unique<BenchmarkedDistilBert>(work, source, context, options);
    }
    return std::make_unique<BenchmarkedGpt2>(work, source, context, options);
}

std::vector<std::int32_t> workload_ids(std::int64_t rows, std::int64_t length, std::int64_t vocabulary) {
    std::vector<std::int32_t> ids;
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t i = 0; i < length; ++i)
            ids.push_back(static_cast<std::int32_t>(
                synthetic::hash(static_cast<std::uint64_t>(1000 + row), static_cast<std::uint64_t>(i)) %
                static_cast<std::uint64_t>(vocabulary)));
    return ids;
}

}  // namespace bench
