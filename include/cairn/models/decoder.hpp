#pragma once

#include "cairn/compile.hpp"
#include "cairn/models/adapters.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What the decoder-only language models have in common: a compiled graph with a key/value cache.
namespace cairn::inline v0::models {

/// The positions for which logits are computed.
enum class Logits { last, all };

/// Options of the graphs of decoders.
struct DecoderOptions {
    Logits logits = Logits::last;  ///< positions with logits
    std::int64_t max_batch = 1;    ///< rows; above 1 the graph has an input `start`
    std::int64_t capacity = 0;     ///< length of the cache in positions, at most the config's; 0: the config's
    /// The graph chooses the most likely token itself: for Decoder::generate(), with one row and without logits.
    bool greedy = false;
    AdapterOptions adapters{};  ///< that the model may use
};

/// A compiled decoder with its key/value cache. Not thread-safe. Gpt2 and Llama are Decoders.
///
/// Its graph serves prefill and decode: T new tokens after `past` cached ones. Inputs: `ids` i32[B,T]; with max_batch
/// > 1 also `start` i32[B], the position in each row at which its text begins: rows are left-padded, tokens before
/// `start` are masked, and positions count from it. States `keys.i`, `values.i` f32[B,key heads,past,head width] grow
/// by T in each run. Output: `logits` f32[B,vocabulary] of the last position, or f32[B,T,vocabulary]. Symbols: B, T,
/// past.
///
/// With `greedy` the output is instead `next` i32[1,1], the most likely token after the last position (of equal ones
/// the lowest), and a state `text` i32[1,written] grows by it; where an id is negative, the last token of `text` is
/// read in its place. So the runs of a text follow each other without the host. The first element of `text` is no
/// token: it makes room for a symbol that is at least 1.
class CAIRN_API Decoder {
public:
    /// A decoder of a compiled graph of this form, with its weights bound. `model` names it in errors; `capacity` and
    /// the options are those of the graph, `adapters` those that its builder has matched with it.
    Decoder(std::string model, std::int64_t vocabulary, std::int64_t capacity, const DecoderOptions& options,
            CompiledGraph compiled, std::shared_ptr<AdapterBank> adapters = {});
    /// Appends tokens to the text and returns logits (of the last token, or of all of them, row after row), valid until
    /// the next call. Throws Error(argument) for no tokens, an id outside the vocabulary, or a text longer than the
    /// capacity; the cache is then unchanged.
    std::span<const float> forward(std::span<const std::int32_t> ids);
    /// Appends tokens to the text and continues it by `count` tokens, each the most likely one, which are returned. The
    /// last of them is not in the cache yet: without ids, the next call goes on behind it. On a GPU the runs are
    /// submitted one behind another, and only the last one is waited for. Requires DecoderOptions::greedy. Throws
    /// Error(argument) as forward() does, for count < 1, and without ids if there is no text to go on from.
    ///
    ///     std::vector<std::int32_t> text = model.generate(ids, 8);   // 8 tokens
    ///     text = model.generate({}, 8);                              // the next 8
    std::vector<std::int32_t> generate(std::span<const std::int32_t> ids, std::int64_t count);
    /// As forward() above, for several rows of equal length: `ids` holds starts.size() rows, and the text of row r
    /// begins at position starts[r]. Requires max_batch > 1.
    std::span<const float> forward(std::span<const std::int32_t> ids, std::span<const std::int32_t> starts);

    /// Number of tokens in the cache, and its capacity.
    std::int64_t length() const noexcept { return length_; }
    std::int64_t capacity() const noexcept { return capacity_; }
    /// Truncates the cache to its first `length` tokens. Throws Error(argument) if it has fewer.
    void rewind(std::int64_t length = 0);

    /// Exchanges the adapter of the following runs, of all rows; empty: none, which gives the bits of the model without
    /// adapters. Nothing is compiled or copied. Tokens in the cache keep the keys and values of the adapter they were
    /// read with: rewind() for another text. Throws Error(argument) for an unknown name and AdapterForm::merged; the
    /// adapter is then as before.
    ///
    ///     model.set_adapter("poems");
    void set_adapter(std::string_view name = {});
    /// The same with an adapter for each row of the following runs, which must have as many. Requires
    /// AdapterForm::rows.
    ///
    ///     model.set_adapters(std::vector<std::string>{"poems", "", "letters"});   // the second row has none
    void set_adapters(std::span<const std::string> names);
    /// Adds an adapter that changes no other projections than those of DecoderOptions::adapters, with at most
    /// AdapterOptions::max_rank, for set_adapter(). Requires AdapterForm::exchanged. Throws Error(file) naming all that
    /// does not fit, Error(argument) for a name that is taken.
    void add_adapter(const NamedAdapter& adapter);
    /// The names of all adapters.
    std::vector<std::string> adapter_names() const;
    /// AdapterForm::merged: the largest error of rounding a changed weight to its dtype, relative to the largest
    /// element of that weight; nothing if no adapter was merged by this object (weights of a cache folder were
    /// earlier).
    std::optional<double> merge_rounding() const;

    /// A second decoder with the same weights and its own cache, and the same adapter set.
    Decoder instance() const;

    /// The underlying compiled graph.
    CompiledGraph& compiled() noexcept { return compiled_; }
    /// Options for the runs of forward(): stop, progress, profile.
    RunOptions run_options;

private:
    std::span<const float> run(std::span<const std::int32_t> ids, std::int64_t rows);
    void submit(std::span<const std::int32_t> ids, std::int64_t count);
    void check(std::span<const std::int32_t> ids, std::int64_t added) const;
    [[noreturn]] void refuse(const std::string& what) const;

    std::string model_;
    std::int64_t vocabulary_ = 0;
    DecoderOptions options_;
    CompiledGraph compiled_;
    std::int64_t capacity_ = 0, length_ = 0, written_ = 0;
    std::shared_ptr<AdapterBank> adapters_;  // of this object alone
};

}  // namespace cairn::inline v0::models
