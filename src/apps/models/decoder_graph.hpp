#pragma once

#include "apps/models/adapter_bank.hpp"
#include "cairn/composites.hpp"
#include "cairn/models/decoder.hpp"

#include <optional>
#include <string_view>

namespace cairn::inline v0::models {

/// Inputs, cache and outputs of a decoder's graph, as Decoder describes them.
class DecoderGraph {
public:
    /// Throws Error(argument) naming the model for options out of range: a capacity above `positions`, ...
    DecoderGraph(std::string_view model, std::int64_t positions, const DecoderOptions& options);

    Graph& graph() { return graph_; }
    const Tensor& ids() const { return ids_; }              ///< i32[B,T]
    const Tensor& positions() const { return positions_; }  ///< i32[B,T], or [1,T] with one row

    /// Attention of a layer: appends keys and values [B,heads,T,D] to its states; each query of q [B,H,T,D] attends to
    /// the positions up to its own. `options` give scale and window.
    Tensor attend(std::int64_t layer, const Tensor& q, const Tensor& keys, const Tensor& values,
                  AttentionOptions options);
    /// The positions of x [B,T,C] that have logits: the last one as [B,C], or all.
    Tensor with_logits(const Tensor& x) const;
    /// Makes the outputs of logits, and returns the graph.
    Graph finished(const Tensor& logits);

private:
    DecoderOptions options_;
    std::int64_t capacity_;
    Graph graph_;
    Dim batch_, tokens_, past_;
    Tensor ids_, positions_, key_mask_;
    std::optional<State> text_;
};

/// Compiles a decoder's graph. Splits T into 1, 2..12 and 13.. if the options have no splits, and the runs with
/// adapters from those without; with `greedy` the chosen token stays on the device.
CompiledGraph compile_decoder(const Graph& graph, const Context& context, const DecoderOptions& options,
                              const AdapterBank& adapters, CompileOptions compile_options);

/// The length of the cache: DecoderOptions::capacity, or `positions` by default.
std::int64_t capacity_of(std::int64_t positions, const DecoderOptions& options);

}  // namespace cairn::inline v0::models
