#include "apps/models/decoder_graph.hpp"

namespace cairn::inline v0::models {
namespace {

void check(std::string_view model, std::int64_t positions, std::int64_t capacity, const DecoderOptions& options) {
    const auto refuse = [&](const std::string& what) { throw Error(ErrorKind::argument, model, what); };
    if (capacity < 1 || capacity > positions)
        refuse("capacity must be in 1.." + std::to_string(positions) + ", got " + std::to_string(capacity));
    if (options.max_batch < 1) refuse("max_batch must be at least 1");
    if (options.greedy && (options.max_batch > 1 || options.logits != Logits::last))
        refuse("greedy needs one row and the last position's logits");
}

}  // namespace

std::int64_t capacity_of(std::int64_t positions, const DecoderOptions& options) {
    return options.capacity == 0 ? positions : options.capacity;
}

DecoderGraph::DecoderGraph(std::string_view model, std::int64_t positions, const DecoderOptions& options)
    : options_(options), capacity_(capacity_of(positions, options)), graph_(std::string(model)) {
    check(model, positions, capacity_, options);
    batch_ = graph_.symbol("B", 1, options.max_batch);
    tokens_ = graph_.symbol("T", 1, capacity_);
    past_ = graph_.symbol("past", 0, capacity_ - 1);
    ids_ = graph_.input("ids", DType::i32, {batch_, tokens_});
    if (options.greedy) {
        const Dim written = graph_.symbol("written", 1, capacity_);
        text_.emplace(graph_.state("text", DType::i32, {batch_, written}, 1, capacity_ + 1));
        ids_ = where(ids_ < 0, slice(text_->read(), 1, written - 1, written), ids_);
    }
    positions_ = reshape(iota(graph_, tokens_, DType::i32, past_), {1, tokens_});
    if (options.max_batch > 1) {
        const Tensor start = reshape(graph_.input("start", DType::i32, {batch_}), {batch_, 1});
        positions_ = max(positions_ - start, 0);
        key_mask_ = reshape(iota(graph_, past_ + tokens_), {1, past_ + tokens_}) >= start;
    }
}

Tensor DecoderGraph::attend(std::int64_t layer, const Tensor& q, const Tensor& keys, const Tensor& values,
                            AttentionOptions options) {
    const Shape live{batch_, keys.dim(1), past_, keys.dim(3)};
    State all_keys = graph_.state("keys." + std::to_string(layer), DType::f32, live, 2, capacity_);
    State all_values = graph_.state("values." + std::to_string(layer), DType::f32, live, 2, capacity_);
    options.causal = true;
    const Tensor k = all_keys.append(keys), v = all_values.append(values);
    return key_mask_.empty() ? attention(q, k, v, options) : attention(q, k, v, key_mask_, options);
}

Tensor DecoderGraph::with_logits(const Tensor& x) const {
    if (options_.logits == Logits::all) return x;
    return reshape(slice(x, 1, tokens_ - 1, tokens_), {batch_, x.dim(2)});
}

Graph DecoderGraph::finished(const Tensor& logits) {
    const Tensor named = name(logits, "logits");
    if (!text_) {
        graph_.output("logits", named);
        return graph_;
    }
    const Tensor next = name(reshape(argmax(named, -1), {batch_, 1}), "next");
    text_->append(next);
    graph_.output("next", next);
    return graph_;
}

CompiledGraph compile_decoder(const Graph& graph, const Context& context, const DecoderOptions& options,
                              const AdapterBank& adapters, CompileOptions compile_options) {
    if (compile_options.splits.empty()) compile_options.splits = {{"T", {1, 12}}};
    compile_options.splits = adapters.with_splits(std::move(compile_options.splits));
    // A result in the host's memory would have to be waited for.
    if (options.greedy)
        if (const std::vector<DeviceRates>& devices = context.kernels().devices; !devices.empty())
            compile_options.output_devices.emplace("next", devices.front().device);
    return compile(graph, context, compile_options);
}

}  // namespace cairn::inline v0::models
