// Files that store the same model under other names: each must give the logits of the ordinary file.
#include "cairn/models/checkpoint.hpp"

#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"
#include "tests/apps/models/tiny_model.hpp"
#include "tests/errors/message.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

namespace cairn::models {
namespace {

using test::message;
using test::TempFolder;
using test::tiny_distilbert;
using test::tiny_gpt2;
using test::TinyModel;
using testing::AllOf;
using testing::HasSubstr;

const std::vector<std::int32_t> ids{5, 900, 31, 4};

std::vector<float> gpt2_logits(const TinyModel& tiny) {
    const TempFolder folder;
    tiny.write(folder.path());
    Gpt2 model = Gpt2::load(folder.path(), Context({.threads = 1}), {}, {.mode = Mode::off});
    const auto logits = model.forward(ids);
    return {logits.begin(), logits.end()};
}

std::string gpt2_fault(const TinyModel& tiny) {
    return message([&] { gpt2_logits(tiny); });
}

std::vector<float> distilbert_logits(const TinyModel& tiny) {
    const TempFolder folder;
    tiny.write(folder.path());
    Encoder model = Encoder::load(folder.path(), Context({.threads = 1}), {.max_batch = 1}, {.mode = Mode::off});
    const auto logits = model.forward(std::vector<std::int32_t>{2, 7, 30, 3});
    return {logits.begin(), logits.end()};
}

void remove_prefix(TinyModel& tiny, const std::string& prefix) {
    for (TinyModel::Tensor& tensor : tiny.tensors)
        if (tensor.name.starts_with(prefix)) tensor.name = tensor.name.substr(prefix.size());
}

TinyModel with_head(float factor) {
    TinyModel tiny = tiny_gpt2();
    TinyModel::Tensor head = tiny.tensor("transformer.wte.weight");
    head.name = "lm_head.weight";
    for (float& value : head.values) value *= factor;
    tiny.tensors.push_back(head);
    return tiny;
}

TEST(Checkpoint, ATiedTensorMayBeStoredUnderEitherName) {
    const std::vector<float> expected = gpt2_logits(tiny_gpt2());
    TinyModel head_alone = tiny_gpt2();
    head_alone.tensor("transformer.wte.weight").name = "lm_head.weight";
    EXPECT_EQ(gpt2_logits(head_alone), expected);
    EXPECT_EQ(gpt2_logits(with_head(1)), expected) << "under both names";
    remove_prefix(head_alone, "transformer.");
    EXPECT_EQ(gpt2_logits(head_alone), expected);
    TinyModel bare = tiny_gpt2();
    remove_prefix(bare, "transformer.");
    EXPECT_EQ(gpt2_logits(bare), expected);
}

TEST(Checkpoint, AnUntiedFileHasBoth) {
    TinyModel untied = with_head(2);
    EXPECT_THAT(gpt2_fault(untied),
                HasSubstr("transformer.wte.weight and lm_head.weight differ, but the config ties them"));
    untied.config["tie_word_embeddings"] = false;
    std::vector<float> expected = gpt2_logits(tiny_gpt2());
    for (float& value : expected) value *= 2;
    const std::vector<float> logits = gpt2_logits(untied);
    ASSERT_EQ(logits.size(), expected.size());
    for (std::size_t i = 0; i < logits.size(); ++i) EXPECT_NEAR(logits[i], expected[i], 1e-3) << i;
    untied.erase("transformer.wte.weight");
    EXPECT_THAT(gpt2_fault(untied), HasSubstr("transformer.wte.weight is missing"));
    TinyModel headless = tiny_gpt2();
    headless.config["tie_word_embeddings"] = false;
    EXPECT_THAT(gpt2_fault(headless),
                AllOf(HasSubstr("lm_head.weight is missing"), HasSubstr("the file has 16 tensors")));
}

TEST(Checkpoint, AMissingTensorIsNamedWithTheNearestNames) {
    TinyModel tiny = tiny_gpt2();
    tiny.tensor("transformer.ln_f.weight").name = "model.ln_f.weight";
    EXPECT_THAT(gpt2_fault(tiny), AllOf(HasSubstr("transformer.ln_f.weight is missing; the file has 16 tensors, the "
                                                  "nearest to transformer.ln_f.weight are "),
                                        HasSubstr("model.ln_f.weight")));
    tiny = tiny_gpt2();
    tiny.config["n_layer"] = 50;
    EXPECT_THAT(gpt2_fault(tiny), AllOf(HasSubstr("transformer.h.1.ln_1.weight is missing; "),
                                        HasSubstr("transformer.h.49.mlp.c_proj.bias is missing; the file has 16")));
}

TEST(Checkpoint, DistilBertWithoutItsPrefixAndWithOlderNamesOfNorms) {
    const std::vector<float> expected = distilbert_logits(tiny_distilbert());
    TinyModel bare = tiny_distilbert();
    remove_prefix(bare, "distilbert.");
    EXPECT_EQ(distilbert_logits(bare), expected);
    bare.tensor("embeddings.LayerNorm.weight").name = "embeddings.LayerNorm.gamma";
    bare.tensor("embeddings.LayerNorm.bias").name = "embeddings.LayerNorm.beta";
    EXPECT_EQ(distilbert_logits(bare), expected);
    TinyModel older = tiny_distilbert();
    older.tensor("distilbert.embeddings.LayerNorm.weight").name = "distilbert.embeddings.LayerNorm.gamma";
    EXPECT_EQ(distilbert_logits(older), expected);
}

TEST(Checkpoint, DistilBertWithoutNamesOfItsLabels) {
    const std::vector<float> expected = distilbert_logits(tiny_distilbert());
    TinyModel tiny = tiny_distilbert();
    tiny.config.erase("id2label");
    EXPECT_EQ(distilbert_logits(tiny), expected);
    tiny.config["num_labels"] = 2;
    EXPECT_EQ(distilbert_logits(tiny), expected);
    tiny.config["num_labels"] = 3;
    EXPECT_THAT(message([&] { distilbert_logits(tiny); }), HasSubstr("classifier.weight is [2,8], expected [3,8]"));
}

TEST(Checkpoint, TheSourceGivesTheTensorUnderTheNameOfTheModel) {
    TinyModel tiny = tiny_gpt2();
    tiny.tensor("transformer.wte.weight").name = "lm_head.weight";
    const TempFolder folder;
    tiny.write(folder.path());
    const Safetensors file = Safetensors::open(folder.path());
    const std::vector<WeightSpec> weights = gpt2_weights(Gpt2Config::read(folder / "config.json"));
    EXPECT_EQ(name_in_file(weights[0], file, "transformer."), "lm_head.weight");
    EXPECT_EQ(name_in_file(std::string("transformer.wte.weight"), file, "transformer."), "transformer.wte.weight");
    const InputView view = stored_weights(weights, file, "transformer.")("transformer.wte.weight");
    EXPECT_EQ(view.shape, (std::vector<std::int64_t>{1024, 8}));
    view.release(view.owner);
}

}  // namespace
}  // namespace cairn::models
