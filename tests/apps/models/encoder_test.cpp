#include "cairn/models/encoder.hpp"

#include "tests/apps/models/golden.hpp"
#include "tests/apps/models/reference_case.hpp"
#include "tests/io/weights/expect_error.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

// Small encoders of each kind and head with synthetic weights; tests/golden/encoder_cases.py has the reference.
namespace cairn::models {
namespace {

using test::case_named, test::case_names, test::encoder_cases;
using test::TempFolder;

EncoderConfig encoder_config_of(const nlohmann::json& c) {
    const TempFolder folder;
    EncoderConfig config = EncoderConfig::read(folder.write("config.json", c["config"].dump()));
    if (!c["pooling"].is_null()) {
        config.head = EncoderHead::pooling;
        config.pooling = c["pooling"] == "mean" ? Pooling::mean : Pooling::first;
        config.normalizes = c["normalizes"].get<bool>();
    }
    return config;
}

std::vector<std::vector<std::int32_t>> id_rows_of(const nlohmann::json& list) {
    return list.is_null() ? std::vector<std::vector<std::int32_t>>()
                          : list.get<std::vector<std::vector<std::int32_t>>>();
}

std::vector<std::vector<bool>> masks_of(const nlohmann::json& c) {
    std::vector<std::vector<bool>> masks;
    for (const auto& row : c["mask"]) {
        masks.emplace_back();
        for (const auto& element : row) masks.back().push_back(element != 0);
    }
    return masks;
}

class EncoderCase : public testing::TestWithParam<std::string> {};

TEST_P(EncoderCase, ComputesWhatTheReferenceDoes) {
    const nlohmann::json& c = case_named(encoder_cases(), GetParam());
    const EncoderConfig config = encoder_config_of(c);
    const std::vector<WeightSpec> tensors = test::tensors_of(c), weights = encoder_weights(config);
    const std::size_t unused = c["name"] == "bert_masked_untied" ? 1 : 0;  // the bias that the untied product replaces
    EXPECT_EQ(weights.size() + unused, tensors.size());
    Encoder model(config, weights, test::reference_source(tensors, weights), Context({.threads = 2}), 3,
                  {.verify = true});
    const std::span<const float> found = model.forward(id_rows_of(c["ids"]), masks_of(c), id_rows_of(c["types"]));
    EXPECT_LE(test::relative_difference(found, c["output"]), 4e-6);
}

INSTANTIATE_TEST_SUITE_P(All, EncoderCase, testing::ValuesIn(case_names(encoder_cases())),
                         [](const auto& info) { return info.param; });

TEST(Encoder, ShorterRowsArePaddedAndMasked) {
    for (const char* name : {"bert_mean", "roberta_sequence", "albert_mean", "distilbert_sequence"}) {
        const nlohmann::json& c = case_named(encoder_cases(), name);
        const EncoderConfig config = encoder_config_of(c);
        const std::vector<WeightSpec> tensors = test::tensors_of(c), weights = encoder_weights(config);
        Encoder model(config, weights, test::reference_source(tensors, weights), Context({.threads = 1}), 2);
        const std::vector<std::vector<std::int32_t>> rows{{2, 9, 40, 3}, {2, 7, 11, 5, 59, 8, 3}};
        const std::span<const float> both = model.forward(rows);
        const std::vector<float> first(both.begin(), both.begin() + static_cast<std::ptrdiff_t>(both.size() / 2));
        const std::span<const float> alone = model.forward(rows[0]);
        ASSERT_EQ(alone.size(), first.size()) << name;
        for (std::size_t i = 0; i < first.size(); ++i) EXPECT_NEAR(alone[i], first[i], 2e-6) << name;
    }
}

TEST(Encoder, LayersOfAlbertThatShareWeightsReadTheSameInputs) {
    const EncoderConfig config = encoder_config_of(case_named(encoder_cases(), "albert_hidden"));
    const Graph graph = encoder_graph(config, encoder_weights(config));
    const std::string text = to_string(graph);
    std::size_t count = 0;
    for (std::size_t at = text.find("weight \"albert.encoder"); at != text.npos;
         at = text.find("weight \"albert.encoder", at + 1))
        ++count;
    EXPECT_EQ(count, 18U) << "the projection, and 16 tensors of three layers";
}

TEST(Encoder, TokenTypesOfTwoTexts) {
    EXPECT_EQ(token_types(std::vector<std::int32_t>{2, 9, 3, 8, 7, 3}, 3),
              (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1}));
    EXPECT_EQ(token_types(std::vector<std::int32_t>{2, 9, 3}, 3), (std::vector<std::int32_t>{0, 0, 0}));
    EXPECT_EQ(token_types(std::vector<std::int32_t>{2, 9}, 3), (std::vector<std::int32_t>{0, 0}));
    EXPECT_TRUE(token_types({}, 3).empty());
}

TEST(Encoder, WrongCallsAreRefused) {
    const auto with = [](const char* name, const auto& call) {
        const nlohmann::json& c = case_named(encoder_cases(), name);
        const EncoderConfig config = encoder_config_of(c);
        const std::vector<WeightSpec> tensors = test::tensors_of(c), weights = encoder_weights(config);
        Encoder model(config, weights, test::reference_source(tensors, weights), Context({.threads = 1}), 2);
        call(model);
    };
    using Rows = std::vector<std::vector<std::int32_t>>;
    with("roberta_hidden", [](Encoder& model) {
        EXPECT_EQ(model.config().longest(), 22) << "24 positions, of which 0 and 1 are not used";
        EXPECT_THAT([&] { model.forward(std::vector<std::int32_t>(23, 5)); },
                    test::refused("23 ids, expected 1 to 22", ErrorKind::argument));
        EXPECT_EQ(model.forward(std::vector<std::int32_t>(22, 5)).size(), 22U * 24);
        EXPECT_THAT(
            [&] {
                model.forward(Rows{{2, 3}}, std::vector<std::vector<bool>>{{true, true}}, Rows{{0, 0}});
            },
            test::refused("the model has no token types", ErrorKind::argument));
    });
    with("bert_hidden", [](Encoder& model) {
        const std::vector<std::vector<bool>> mask{{true, true}};
        EXPECT_THAT(
            [&] {
                model.forward(Rows{{2, 60}});
            },
            test::refused("token id 60 is not in the vocabulary of 60", ErrorKind::argument));
        EXPECT_THAT(
            [&] {
                model.forward(Rows{{2, 3}}, mask, Rows{{0, 2}});
            },
            test::refused("token type 2 is not in the types of 2", ErrorKind::argument));
        EXPECT_THAT(
            [&] {
                model.forward(Rows{{2, 3}}, mask, Rows{{0}});
            },
            test::refused("rows, masks and token types differ in length", ErrorKind::argument));
        EXPECT_THAT(
            [&] {
                model.forward(Rows{{2, 3}}, {}, Rows{{0, 0}});
            },
            test::refused("as many masks as rows are needed", ErrorKind::argument));
        EXPECT_THAT(
            [&] {
                model.forward(Rows{{2, 3}, {2, 3}, {2, 3}});
            },
            test::refused("3 rows, the model was made for 1 to 2", ErrorKind::argument));
        EXPECT_THAT([&] { model.forward(Rows{}); }, test::refused("0 rows", ErrorKind::argument));
    });
}

}  // namespace
}  // namespace cairn::models
