#include "cairn/models/distilbert.hpp"

#include "apps/models/gguf_names.hpp"
#include "apps/models/saved_model.hpp"

#include <algorithm>
#include <string>

namespace cairn::inline v0::models {

DistilBert::DistilBert(DistilBertConfig config, std::int64_t max_batch, CompiledGraph compiled)
    : config_(std::move(config)), max_batch_(max_batch), compiled_(std::move(compiled)) {}

DistilBert::DistilBert(const DistilBertConfig& config, const std::vector<WeightSpec>& weights,
                       const WeightSource& source, const Context& context, std::int64_t max_batch,
                       const CompileOptions& compile_options)
    : DistilBert(config, max_batch, compile(distilbert_graph(config, weights, max_batch), context, compile_options)) {
    compiled_.bind(source, compile_options.progress, compile_options.stop);
}

DistilBert DistilBert::load(const std::filesystem::path& path, const Context& context, std::int64_t max_batch,
                            CompileOptions compile_options, const std::filesystem::path& cache_folder) {
    DistilBertConfig config;
    std::vector<WeightSpec> weights;
    const auto loaded = [&](const auto& file, const WeightSource& source) {
        save_compiled(compile_options, cache_folder);
        CompiledGraph compiled = compile(distilbert_graph(config, weights, max_batch), context, compile_options);
        bind_saved(
            compiled, source, [&] { return file.fingerprint(); }, cache_folder, compile_options);
        return DistilBert(config, max_batch, std::move(compiled));
    };
    if (is_gguf(path)) {
        const Gguf file = Gguf::open(path);
        config = DistilBertConfig::read(file);
        weights = distilbert_weights(config);
        find_weights(weights, file, distilbert_gguf_names());
        return loaded(file, stored_weights(weights, file, distilbert_gguf_names()));
    }
    constexpr const char* prefix = "distilbert.";
    config = DistilBertConfig::read(path / "config.json");
    const Safetensors file = Safetensors::open(path);
    weights = distilbert_weights(config);
    find_weights(weights, file, prefix, path);
    return loaded(file, stored_weights(weights, file, prefix));
}

std::span<const float> DistilBert::forward(std::span<const std::int32_t> ids) {
    const std::vector<std::int32_t> row(ids.begin(), ids.end());
    return forward({&row, 1});
}

std::span<const float> DistilBert::forward(std::span<const std::vector<std::int32_t>> rows) {
    std::size_t length = 0;
    for (const auto& row : rows) length = std::max(length, row.size());
    std::vector<std::vector<std::int32_t>> padded;
    std::vector<std::vector<bool>> masks;
    for (const auto& row : rows) {
        padded.push_back(row);
        padded.back().resize(length, 0);
        masks.emplace_back(row.size(), true).resize(length, false);
    }
    return forward(padded, masks);
}

std::span<const float> DistilBert::forward(std::span<const std::vector<std::int32_t>> rows,
                                           std::span<const std::vector<bool>> masks) {
    const auto count = static_cast<std::int64_t>(rows.size());
    if (count < 1 || count > max_batch_)
        throw Error(ErrorKind::argument, "distilbert",
                    std::to_string(count) + " rows, the model was made for 1 to " + std::to_string(max_batch_));
    const std::size_t length = rows[0].size();
    if (length == 0 || length > static_cast<std::size_t>(config_.positions))
        throw Error(ErrorKind::argument, "distilbert",
                    std::to_string(length) + " ids, expected 1 to " + std::to_string(config_.positions));
    if (masks.size() != rows.size()) throw Error(ErrorKind::argument, "distilbert", "as many masks as rows are needed");
    ids_.clear();
    mask_.clear();
    for (std::size_t r = 0; r < rows.size(); ++r) {
        if (rows[r].size() != length || masks[r].size() != length)
            throw Error(ErrorKind::argument, "distilbert", "rows and masks differ in length");
        for (const std::int32_t id : rows[r])
            if (id < 0 || id >= config_.vocabulary)
                throw Error(ErrorKind::argument, "distilbert",
                            "token id " + std::to_string(id) + " is not in the vocabulary of " +
                                std::to_string(config_.vocabulary));
        ids_.insert(ids_.end(), rows[r].begin(), rows[r].end());
        mask_.insert(mask_.end(), masks[r].begin(), masks[r].end());
    }
    compiled_.set("ids", ids_.data(), {count, static_cast<std::int64_t>(length)});
    compiled_.set("mask", static_cast<const void*>(mask_.data()), {count, static_cast<std::int64_t>(length)});
    compiled_.run(run_options);
    return compiled_.output("logits").as<float>();
}

}  // namespace cairn::inline v0::models
