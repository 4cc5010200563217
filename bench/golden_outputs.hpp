#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

namespace bench {

/// A text and the logits behind it, some or all: where in the vocabulary, and what.
struct GoldenText {
    std::vector<std::int32_t> ids;
    std::vector<std::pair<std::size_t, double>> logits;
};
/// Texts and the logits of their classes. Rows that were padded are cut to what is not: padding is seen by nobody.
struct GoldenSentences {
    std::vector<std::vector<std::int32_t>> ids;
    std::vector<std::vector<double>> logits;
};

/// Read what tests/golden holds of a GPT-2 and of a DistilBERT, bundled or full-size. Throw cairn::Error(file).
GoldenText golden_text(const std::filesystem::path& file);
GoldenSentences golden_sentences(const std::filesystem::path& file);

/// |y - r| / |r| of what was added, in L2.
class Distance {
public:
    void add(double got, double expected);
    double relative() const;

private:
    double difference_ = 0, size_ = 0;
};

}  // namespace bench
