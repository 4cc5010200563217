#include "cairn/models/gpt2.hpp"

#include "apps/models/gguf_names.hpp"
#include "apps/models/saved_model.hpp"

#include <string>

namespace cairn::inline v0::models {
namespace {

CompiledGraph compile_gpt2(const Gpt2Config& config, const std::vector<WeightSpec>& weights, const Context& context,
                           const Gpt2Options& options, CompileOptions& compile_options) {
    if (compile_options.splits.empty()) compile_options.splits = {{"T", {1, 12}}};
    // A result in the host's memory would have to be waited for.
    if (options.greedy)
        if (const std::vector<DeviceRates>& devices = context.kernels().devices; !devices.empty())
            compile_options.output_devices.emplace("next", devices.front().device);
    return compile(gpt2_graph(config, weights, options), context, compile_options);
}

std::int64_t capacity_of(const Gpt2Config& config, const Gpt2Options& options) {
    return options.capacity == 0 ? config.positions : options.capacity;
}

}  // namespace

Gpt2::Gpt2(Gpt2Config config, const Gpt2Options& options, CompiledGraph compiled, std::int64_t capacity)
    : config_(std::move(config)), options_(options), compiled_(std::move(compiled)), capacity_(capacity) {}

Gpt2::Gpt2(const Gpt2Config& config, const std::vector<WeightSpec>& weights, const WeightSource& source,
           const Context& context, const Gpt2Options& options, CompileOptions compile_options)
    : Gpt2(config, options, compile_gpt2(config, weights, context, options, compile_options),
           capacity_of(config, options)) {
    compiled_.bind(source, compile_options.progress, compile_options.stop);
}

Gpt2 Gpt2::load(const std::filesystem::path& path, const Context& context, const Gpt2Options& options,
                CompileOptions compile_options, const std::filesystem::path& cache_folder) {
    Gpt2Config config;
    std::vector<WeightSpec> weights;
    const auto loaded = [&](const auto& file, const WeightSource& source) {
        save_compiled(compile_options, cache_folder);
        CompiledGraph compiled = compile_gpt2(config, weights, context, options, compile_options);
        bind_saved(
            compiled, source, [&] { return file.fingerprint(); }, cache_folder, compile_options);
        return Gpt2(config, options, std::move(compiled), capacity_of(config, options));
    };
    if (is_gguf(path)) {
        const Gguf file = Gguf::open(path);
        config = Gpt2Config::read(file);
        weights = gpt2_weights(config);
        find_weights(weights, file, gpt2_gguf_names());
        return loaded(file, stored_weights(weights, file, gpt2_gguf_names()));
    }
    constexpr const char* prefix = "transformer.";
    config = Gpt2Config::read(path / "config.json");
    const Safetensors file = Safetensors::open(path);
    weights = gpt2_weights(config);
    find_weights(weights, file, prefix, path);
    return loaded(file, stored_weights(weights, file, prefix));
}

std::span<const float> Gpt2::forward(std::span<const std::int32_t> ids) {
    if (options_.max_batch > 1) {
        const std::int32_t start = 0;
        return forward(ids, {&start, 1});
    }
    return run(ids, 1);
}

std::span<const float> Gpt2::forward(std::span<const std::int32_t> ids, std::span<const std::int32_t> starts) {
    const auto rows = static_cast<std::int64_t>(starts.size());
    if (options_.max_batch == 1 || rows < 1 || rows > options_.max_batch)
        throw Error(
            ErrorKind::argument, "gpt2",
            std::to_string(rows) + " rows, the model was made for at most " + std::to_string(options_.max_batch));
    if (ids.size() % starts.size() != 0) throw Error(ErrorKind::argument, "gpt2", "the rows differ in length");
    compiled_.set("start", starts.data(), {rows});
    return run(ids, rows);
}

std::span<const float> Gpt2::run(std::span<const std::int32_t> ids, std::int64_t rows) {
    if (options_.greedy) throw Error(ErrorKind::argument, "gpt2", "the model was made for generate()");
    const std::int64_t count = static_cast<std::int64_t>(ids.size()) / rows;
    if (count == 0) throw Error(ErrorKind::argument, "gpt2", "there are no tokens");
    check(ids, count);
    compiled_.set("ids", ids.data(), {rows, count});
    compiled_.run(run_options);
    length_ += count;
    return compiled_.output("logits").as<float>();
}

/// Throws Error(argument) for an id outside the vocabulary, or if the cache has no room for so many positions more.
void Gpt2::check(std::span<const std::int32_t> ids, std::int64_t added) const {
    if (added > capacity_ - length_)
        throw Error(ErrorKind::argument, "gpt2",
                    std::to_string(length_ + added) + " tokens are more than the context of " +
                        std::to_string(capacity_) + " holds");
    for (const std::int32_t id : ids)
        if (id < 0 || id >= config_.vocabulary)
            throw Error(ErrorKind::argument, "gpt2",
                        "token id " + std::to_string(id) + " is not in the vocabulary of " +
                            std::to_string(config_.vocabulary));
}

std::vector<std::int32_t> Gpt2::generate(std::span<const std::int32_t> ids, std::int64_t count) {
    if (!options_.greedy) throw Error(ErrorKind::argument, "gpt2", "generate() needs Gpt2Options::greedy");
    if (count < 1) throw Error(ErrorKind::argument, "gpt2", "generate() writes at least one token");
    if (ids.empty() && written_ == 0) throw Error(ErrorKind::argument, "gpt2", "there are no tokens");
    const auto given = static_cast<std::int64_t>(ids.size());
    if (count > capacity_)
        throw Error(ErrorKind::argument, "gpt2", "generate() writes at most as many tokens as the context holds");
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
void Gpt2::submit(std::span<const std::int32_t> ids, std::int64_t count) {
    static constexpr std::int32_t chosen_before = -1;
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

void Gpt2::rewind(std::int64_t length) {
    compiled_.rewind("past", length);
    length_ = length;
    if (options_.greedy) compiled_.rewind("written", 1), written_ = 0;
}

Gpt2 Gpt2::instance() const { return Gpt2(config_, options_, compiled_.instance(), capacity_); }

}  // namespace cairn::inline v0::models
