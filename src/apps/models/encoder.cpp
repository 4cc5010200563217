#include "apps/models/encoder_check.hpp"
#include "apps/models/encoder_names.hpp"
#include "apps/models/model_file.hpp"
#include "apps/models/saved_model.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace cairn::inline v0::models {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::argument, "encoder", what); }

EncoderConfig with_options(EncoderConfig config, const EncoderOptions& options) {
    config.head = options.head.value_or(config.head);
    config.pooling = options.pooling.value_or(config.pooling);
    config.normalizes = options.normalizes.value_or(config.normalizes);
    return config;
}

/// Appends a row of `length` elements in 0..count - 1. Throws for another one: `token id 9 is not in the vocabulary of
/// 8`.
void append(std::vector<std::int32_t>& all, const std::vector<std::int32_t>& row, std::size_t length,
            std::int64_t count, const char* what, const char* set) {
    if (row.size() != length) refuse("rows, masks and token types differ in length");
    for (const std::int32_t element : row)
        if (element < 0 || element >= count)
            refuse(std::string(what) + ' ' + std::to_string(element) + " is not in the " + set + " of " +
                   std::to_string(count));
    all.insert(all.end(), row.begin(), row.end());
}

CompiledGraph compile_encoder(const Graph& graph, const Context& context, const AdapterBank& adapters,
                              CompileOptions options) {
    options.splits = adapters.with_splits(std::move(options.splits));
    return compile(graph, context, options);
}

}  // namespace

Encoder::Encoder(EncoderConfig config, std::int64_t max_batch, CompiledGraph compiled,
                 std::shared_ptr<AdapterBank> adapters)
    : config_(std::move(config)),
      max_batch_(max_batch),
      compiled_(std::move(compiled)),
      adapters_(std::move(adapters)) {
    adapters_->set_inputs(compiled_);
}

Encoder::Encoder(const EncoderConfig& config, const std::vector<WeightSpec>& weights, const WeightSource& source,
                 const Context& context, std::int64_t max_batch, const CompileOptions& compile_options,
                 const AdapterOptions& options)
    : Encoder([&] {
          auto adapters = std::make_shared<AdapterBank>(encoder_modules(config.type), options);
          CompiledGraph compiled = compile_encoder(encoder_graph(config, weights, max_batch, *adapters), context,
                                                   *adapters, compile_options);
          compiled.bind(adapters->merged(source, weights), compile_options.progress, compile_options.stop);
          return Encoder(config, max_batch, std::move(compiled), std::move(adapters));
      }()) {}

Encoder Encoder::load(const std::filesystem::path& path, const Context& context, const EncoderOptions& options,
                      CompileOptions compile_options, const std::filesystem::path& cache_folder) {
    const ModelFile file(path);
    const EncoderConfig config = with_options(file.config<EncoderConfig>(), options);
    auto adapters = std::make_shared<AdapterBank>(encoder_modules(config.type), options.adapters);
    CompiledGraph compiled =
        load_compiled(file, encoder_weights(config), std::string(EncoderNames::of(config.type).prefix),
                      encoder_gguf_names(config.type), std::move(compile_options), cache_folder, adapters.get(),
                      [&](const std::vector<WeightSpec>& weights, const CompileOptions& how) {
                          return compile_encoder(encoder_graph(config, weights, options.max_batch, *adapters), context,
                                                 *adapters, how);
                      });
    return {config, options.max_batch, std::move(compiled), std::move(adapters)};
}

std::span<const float> Encoder::forward(std::span<const std::int32_t> ids) {
    const std::vector<std::int32_t> row(ids.begin(), ids.end());
    return forward({&row, 1});
}

std::span<const float> Encoder::forward(std::span<const std::vector<std::int32_t>> rows) {
    std::size_t length = 0;
    for (const auto& row : rows) length = std::max(length, row.size());
    std::vector<std::vector<std::int32_t>> padded;
    std::vector<std::vector<bool>> masks;
    for (const auto& row : rows) {
        padded.push_back(row);
        padded.back().resize(length, config_.padding_id);
        masks.emplace_back(row.size(), true).resize(length, false);
    }
    return forward(padded, masks);
}

std::span<const float> Encoder::forward(std::span<const std::vector<std::int32_t>> rows,
                                        std::span<const std::vector<bool>> masks) {
    return forward(rows, masks, {});
}

std::span<const float> Encoder::forward(std::span<const std::vector<std::int32_t>> rows,
                                        std::span<const std::vector<bool>> masks,
                                        std::span<const std::vector<std::int32_t>> types) {
    const auto count = static_cast<std::int64_t>(rows.size());
    if (count < 1 || count > max_batch_)
        refuse(std::to_string(count) + " rows, the model was made for 1 to " + std::to_string(max_batch_));
    const std::size_t length = rows[0].size();
    if (length == 0 || length > static_cast<std::size_t>(config_.longest()))
        refuse(std::to_string(length) + " ids, expected 1 to " + std::to_string(config_.longest()));
    if (masks.size() != rows.size()) refuse("as many masks as rows are needed");
    if (!types.empty() && config_.token_types < 2) refuse("the model has no token types");
    if (!types.empty() && types.size() != rows.size()) refuse("as many rows of token types as of ids are needed");
    ids_.clear();
    types_.clear();
    mask_.clear();
    for (std::size_t r = 0; r < rows.size(); ++r) {
        append(ids_, rows[r], length, config_.vocabulary, "token id", "vocabulary");
        if (masks[r].size() != length) refuse("rows, masks and token types differ in length");
        mask_.insert(mask_.end(), masks[r].begin(), masks[r].end());
        if (!types.empty()) append(types_, types[r], length, config_.token_types, "token type", "types");
    }
    const std::array<std::int64_t, 2> shape{count, static_cast<std::int64_t>(length)};
    compiled_.set("ids", ids_.data(), shape);
    compiled_.set("mask", static_cast<const void*>(mask_.data()), shape);
    if (config_.token_types > 1) {
        types_.resize(ids_.size());
        compiled_.set("types", types_.data(), shape);
    }
    adapters_->before_run(compiled_, count);
    compiled_.run(run_options);
    return compiled_.output(output_name(config_.head)).as<float>();
}

void Encoder::set_adapter(std::string_view name) { adapters_->set(compiled_, name); }
void Encoder::set_adapters(std::span<const std::string> names) { adapters_->set(compiled_, names); }
void Encoder::add_adapter(const NamedAdapter& adapter) { adapters_->add(adapter); }
std::vector<std::string> Encoder::adapter_names() const { return adapters_->names(); }
std::optional<double> Encoder::merge_rounding() const { return adapters_->rounding(); }

std::vector<std::int32_t> token_types(std::span<const std::int32_t> ids, std::int32_t separator) {
    std::vector<std::int32_t> types(ids.size(), 1);
    const auto end = std::find(ids.begin(), ids.end(), separator);
    const auto first = ids.end() == end ? ids.size() : static_cast<std::size_t>(end - ids.begin()) + 1;
    std::fill_n(types.begin(), first, 0);
    return types;
}

}  // namespace cairn::inline v0::models
