#include "cairn/models/encoder.hpp"

#include "cairn/text/tokenizer.hpp"
#include "tests/apps/models/golden.hpp"

#include <gtest/gtest.h>

namespace cairn::models {
namespace {

using test::golden;
using test::largest_difference;
using test::model_folder;

const nlohmann::json& file() {
    static const nlohmann::json json = golden("sst2_distilbert.json");
    return json;
}

TEST(DistilBert, LogitsAndLabelsOfAllSentencesMatchTheReference) {
    const auto tokenizer = text::load_tokenizer(model_folder("sst2-distilbert"));
    Encoder model =
        Encoder::load(model_folder("sst2-distilbert"), Context({.threads = 2}), {.max_batch = 1}, {.verify = true});
    for (const auto& c : file()["cases"]) {
        const auto ids = tokenizer->encode(c["text"].get<std::string>(), {.max_length = 128});
        EXPECT_EQ(ids, c["ids"].get<std::vector<std::int32_t>>()) << c["text"];
        const std::span<const float> logits = model.forward(ids);
        EXPECT_LE(largest_difference(logits, c["logits"]), 2e-5) << c["text"];
        EXPECT_EQ(model.config().labels[logits[1] > logits[0] ? 1 : 0], c["label"].get<std::string>()) << c["text"];
    }
}

TEST(DistilBert, APaddedBatchGivesTheResultsOfSingleRows) {
    Encoder model = Encoder::load(model_folder("sst2-distilbert"), Context(), {.max_batch = 6}, {.verify = true});
    std::vector<std::vector<std::int32_t>> rows;
    for (const std::size_t i : file()["padded_batch"]["cases"].get<std::vector<std::size_t>>())
        rows.push_back(file()["cases"][i]["ids"].get<std::vector<std::int32_t>>());
    const std::span<const float> logits = model.forward(rows);
    for (std::size_t r = 0; r < rows.size(); ++r)
        EXPECT_LE(largest_difference(logits.subspan(2 * r, 2), file()["padded_batch"]["logits"][r]), 2e-5) << r;
}

TEST(DistilBert, EachStageCanBeSwitchedOff) {
    const auto& c = file()["cases"][3];
    for (const std::string& stage : stage_names()) {
        CompileOptions options;
        options.disable = {stage};
        options.verify = true;
        Encoder model = Encoder::load(model_folder("sst2-distilbert"), Context(), {.max_batch = 2}, options);
        EXPECT_LE(largest_difference(model.forward(c["ids"].get<std::vector<std::int32_t>>()), c["logits"]), 2e-5)
            << stage << " off";
    }
}

TEST(DistilBert, WrongCallsAreRefused) {
    Encoder model = Encoder::load(model_folder("sst2-distilbert"), Context(), {.max_batch = 1});
    EXPECT_THROW(model.forward(std::span<const std::int32_t>{}), Error);
    const std::vector<std::int32_t> many(129, 5), foreign{2, 8000, 3};
    EXPECT_THROW(model.forward(many), Error);
    EXPECT_THROW(model.forward(foreign), Error);
    EXPECT_THROW(model.forward(std::vector<std::vector<std::int32_t>>(2, {2, 3})), Error);
    const std::vector<std::int32_t> shortest{2, 3};
    EXPECT_EQ(model.forward(shortest).size(), 2U);
}

}  // namespace
}  // namespace cairn::models
