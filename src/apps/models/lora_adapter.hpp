#pragma once

#include "cairn/models/adapters.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace cairn::inline v0::models {

/// A module that an adapter replaces as a whole: `modules_to_save` of PEFT.
struct SavedTensor {
    std::string name;  ///< of the weight or bias: `classifier.weight`
    std::vector<std::int64_t> shape;
    std::vector<float> values;
};

struct LoraAdapter::State {
    std::string origin;  ///< the path, for errors
    std::vector<LoraUpdate> updates;
    std::vector<SavedTensor> saved;
    /// The names, or ends of names, of the modules that the config lists; empty if it has a pattern instead.
    std::vector<std::string> targets;
    bool changes_all_layers = false;  ///< no layer is left out of what `targets` name
    std::string architecture;         ///< of a GGUF file, whose names the updates have; empty otherwise
    std::string fingerprint;          ///< of the contents
};

/// Reads a folder of PEFT; updates are not checked.
LoraAdapter::State read_peft(const std::filesystem::path& folder);
/// Reads a `.gguf` file of an adapter; updates are not checked.
LoraAdapter::State read_gguf_adapter(const std::filesystem::path& path);

/// The elements of a view of floats as f32. Releases the view. Throws Error(file) with `name` for another dtype.
std::vector<float> floats_of(const InputView& view, const std::string& origin, const std::string& name);

/// Collects faults, to be told at once: the first twelve, and how many more there are.
class FaultList {
public:
    void add(const std::string& text) {
        if (count_++ < most) text_ += (text_.empty() ? "" : "; ") + text;
    }
    bool empty() const { return count_ == 0; }
    std::string text() const {
        return count_ <= most ? text_ : text_ + "; and " + std::to_string(count_ - most) + " more";
    }

private:
    static constexpr std::size_t most = 12;
    std::string text_;
    std::size_t count_ = 0;
};

}  // namespace cairn::inline v0::models
