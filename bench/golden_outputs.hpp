#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

namespace bench {

/// A text and logits after it, some or all of the vocabulary: pairs of vocabulary index and value.
struct GoldenText {
    std::vector<std::int32_t> ids;
    std::vector<std::pair<std::size_t, double>> logits;
};
/// Texts and the logits of their classes, without padding: masked positions do not affect the logits.
struct GoldenSentences {
    std::vector<std::vector<std::int32_t>> ids;
    std::vector<std::vector<double>> logits;
};

/// Read the reference outputs of a GPT-2 or DistilBERT from a file of tests/golden, bundled or full-size model, at
/// least one text. Throw cairn::Error(file).
std::vector<GoldenText> golden_texts(const std::filesystem::path& file);
GoldenSentences golden_sentences(const std::filesystem::path& file);

/// Relative L2 distance |y - r| / |r| of the added values y from the expected values r.
class RelativeError {
public:
    void add(double got, double expected);
    double relative() const;

private:
    double difference_ = 0, size_ = 0;
};

}  // namespace bench
