#include "cairn/models/decoder.hpp"

#include "apps/models/adapter_bank.hpp"
#include "cairn/error.hpp"

#include <utility>

namespace cairn::inline v0::models {

Decoder::Decoder(std::string model, std::int64_t vocabulary, std::int64_t capacity, const DecoderOptions& options,
                 CompiledGraph compiled, std::shared_ptr<AdapterBank> adapters)
    : model_(std::move(model)),
      vocabulary_(vocabulary),
      options_(options),
      compiled_(std::move(compiled)),
      capacity_(capacity),
      adapters_(std::move(adapters)) {
    if (adapters_ == nullptr) adapters_ = std::make_shared<AdapterBank>(ModuleNames{model_, {}, {}}, AdapterOptions());
    adapters_->set_inputs(compiled_);
}

void Decoder::refuse(const std::string& what) const { throw Error(ErrorKind::argument, model_, what); }

std::span<const float> Decoder::forward(std::span<const std::int32_t> ids) {
    if (options_.max_batch > 1) {
        const std::int32_t start = 0;
        return forward(ids, {&start, 1});
    }
    return run(ids, 1);
}

std::span<const float> Decoder::forward(std::span<const std::int32_t> ids, std::span<const std::int32_t> starts) {
    const auto rows = static_cast<std::int64_t>(starts.size());
    if (options_.max_batch == 1 || rows < 1 || rows > options_.max_batch)
        refuse(std::to_string(rows) + " rows, the model was made for at most " + std::to_string(options_.max_batch));
    if (ids.size() % starts.size() != 0) refuse("the rows differ in length");
    compiled_.set("start", starts.data(), {rows});
    return run(ids, rows);
}

std::span<const float> Decoder::run(std::span<const std::int32_t> ids, std::int64_t rows) {
    if (options_.greedy) refuse("the model was made for generate()");
    const std::int64_t count = static_cast<std::int64_t>(ids.size()) / rows;
    if (count == 0) refuse("there are no tokens");
    check(ids, count);
    adapters_->before_run(compiled_, rows);
    compiled_.set("ids", ids.data(), {rows, count});
    compiled_.run(run_options);
    length_ += count;
    return compiled_.output("logits").as<float>();
}

/// Throws Error(argument) for an id outside the vocabulary, or if `added` further positions exceed the capacity.
void Decoder::check(std::span<const std::int32_t> ids, std::int64_t added) const {
    if (added > capacity_ - length_)
        refuse(std::to_string(length_ + added) + " tokens are more than the context of " + std::to_string(capacity_) +
               " holds");
    for (const std::int32_t id : ids)
        if (id < 0 || id >= vocabulary_)
            refuse("token id " + std::to_string(id) + " is not in the vocabulary of " + std::to_string(vocabulary_));
}

std::vector<std::int32_t> Decoder::generate(std::span<const std::int32_t> ids, std::int64_t count) {
    if (!options_.greedy) refuse("generate() needs DecoderOptions::greedy");
    if (count < 1) refuse("generate() writes at least one token");
    if (ids.empty() && written_ == 0) refuse("there are no tokens");
    const auto given = static_cast<std::int64_t>(ids.size());
    if (count > capacity_) refuse("generate() writes at most as many tokens as the context holds");
    // The last token that is chosen is read by the next call alone.
    const std::int64_t added = ids.empty() ? count : given + count - 1;
    check(ids, added);
    if (!ids.empty()) {
        compiled_.rewind("written", 1);
        written_ = 0;
    }
    try {
        submit(ids, count);
        const OutputView text = compiled_.state("text");
        length_ += added;
        written_ += count;
        const std::span<const std::int32_t> all = text.as<std::int32_t>();
        return {all.end() - count, all.end()};
    } catch (...) {
        // Of the runs before the failure nothing stays.
        try {
            compiled_.wait();
        } catch (const Error&) {}
        compiled_.rewind("past", length_);
        compiled_.rewind("written", 1 + written_);
        throw;
    }
}

/// Runs that choose tokens, each of which reads the one that the run before has chosen.
void Decoder::submit(std::span<const std::int32_t> ids, std::int64_t count) {
    static constexpr std::int32_t chosen_before = -1;
    adapters_->before_run(compiled_, 1);
    RunOptions options = run_options;
    options.wait = false;
    for (std::int64_t run = 0; run < count; ++run) {
        if (run == 0 && !ids.empty())
            compiled_.set("ids", ids.data(), {1, static_cast<std::int64_t>(ids.size())});
        else if (run <= 1)
            compiled_.set("ids", &chosen_before, {1, 1});
        compiled_.run(options);
    }
}

void Decoder::rewind(std::int64_t length) {
    compiled_.rewind("past", length);
    length_ = length;
    if (options_.greedy) compiled_.rewind("written", 1), written_ = 0;
}

void Decoder::set_adapter(std::string_view name) { adapters_->set(compiled_, name); }
void Decoder::set_adapters(std::span<const std::string> names) { adapters_->set(compiled_, names); }
void Decoder::add_adapter(const NamedAdapter& adapter) { adapters_->add(adapter); }
std::vector<std::string> Decoder::adapter_names() const { return adapters_->names(); }
std::optional<double> Decoder::merge_rounding() const { return adapters_->rounding(); }

Decoder Decoder::instance() const {
    return {model_, vocabulary_, capacity_, options_, compiled_.instance(), std::make_shared<AdapterBank>(*adapters_)};
}

}  // namespace cairn::inline v0::models
