#include "apps/models/lora_adapter.hpp"
#include "cairn/error.hpp"
#include "cairn/gguf.hpp"

#include <map>
#include <optional>

/// Adapters of llama.cpp: `general.type` adapter, tensors NAME.weight.lora_a [R, K] and NAME.weight.lora_b [N, R].
namespace cairn::inline v0::models {
namespace {

struct Pair {
    const Gguf::Tensor *a = nullptr, *b = nullptr;
};

}  // namespace

LoraAdapter::State read_gguf_adapter(const std::filesystem::path& path) {
    const Gguf file = Gguf::open(path);
    const auto refuse = [&](ErrorKind kind, const std::string& what) {
        throw Error(kind, "adapter", path.string() + ": " + what);
    };
    const auto need = [&](const char* key, const std::string& wanted) {
        const std::string found = file.has(key) ? file.text(key) : "absent";
        if (found != wanted) refuse(ErrorKind::unsupported, std::string(key) + " is " + found + ", expected " + wanted);
    };
    need("general.type", "adapter");
    need("adapter.type", "lora");
    LoraAdapter::State state;
    state.origin = path.string();
    state.architecture = file.text("general.architecture");
    state.fingerprint = file.fingerprint();
    const double alpha = file.number("adapter.lora.alpha");

    std::map<std::string, Pair> pairs;
    FaultList faults;
    for (const Gguf::Tensor& tensor : file.tensors()) {
        const std::string_view name = tensor.name, end = ".weight.lora_a";
        const bool is_pair = name.size() > end.size() && (name.ends_with(end) || name.ends_with(".weight.lora_b"));
        if (!is_pair || tensor.shape.size() != 2) {
            faults.add(tensor.name + " is no matrix of an adapter");
            continue;
        }
        Pair& pair = pairs[tensor.name.substr(0, name.size() - end.size())];
        (name.ends_with('a') ? pair.a : pair.b) = &tensor;
    }
    for (const auto& [module, pair] : pairs) {
        if (pair.a == nullptr || pair.b == nullptr) {
            faults.add(module + (pair.a == nullptr ? ".weight.lora_a" : ".weight.lora_b") + " is missing");
            continue;
        }
        LoraUpdate update{.module = module, .rank = pair.a->shape[0], .in = pair.a->shape[1], .out = pair.b->shape[0]};
        if (pair.b->shape[1] != update.rank) {
            faults.add(module + " has rank " + std::to_string(update.rank) + " in lora_a and " +
                       std::to_string(pair.b->shape[1]) + " in lora_b");
            continue;
        }
        // As llama.cpp: without an alpha the product is not scaled.
        if (alpha != 0) update.scale = alpha / static_cast<double>(update.rank);
        update.a = floats_of(file.view(pair.a->name), state.origin, pair.a->name);
        update.b = floats_of(file.view(pair.b->name), state.origin, pair.b->name);
        state.updates.push_back(std::move(update));
    }
    if (!faults.empty()) refuse(ErrorKind::file, faults.text());
    return state;
}

}  // namespace cairn::inline v0::models
