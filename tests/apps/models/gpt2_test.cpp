#include "cairn/models/gpt2.hpp"

#include "cairn/text/sampler.hpp"
#include "tests/apps/models/golden.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

namespace cairn::models {
namespace {

using test::golden;
using test::largest_difference;
using test::model_folder;

std::int32_t argmax(std::span<const float> logits) {
    return static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

using test::message;

const nlohmann::json& cases() {
    static const nlohmann::json file = golden("shakespeare_gpt2.json");
    return file;
}

TEST(Gpt2, LogitsAndGreedyTokensOfAllPromptsMatchTheReference) {
    for (const int threads : {1, 2}) {
        Gpt2 model = Gpt2::load(model_folder("shakespeare-gpt2"), Context({.threads = threads}), {}, {.verify = true});
        for (const auto& c : cases()["cases"]) {
            model.rewind();
            const auto ids = c["ids"].get<std::vector<std::int32_t>>();
            std::span<const float> logits = model.forward(ids);
            EXPECT_LE(largest_difference(logits, c["last_logits"]), 5e-5) << c["prompt"];
            std::vector<std::int32_t> greedy{argmax(logits)};
            while (greedy.size() < 48) greedy.push_back(argmax(model.forward({&greedy.back(), 1})));
            EXPECT_EQ(greedy, c["greedy_ids"].get<std::vector<std::int32_t>>()) << c["prompt"];
        }
    }
}

double mean_nll(std::span<const float> logits, const std::vector<std::int32_t>& ids, std::size_t vocabulary) {
    double total = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
        const auto row = logits.subspan(i * vocabulary, vocabulary);
        double sum = 0;
        const double largest = static_cast<double>(*std::max_element(row.begin(), row.end()));
        for (const float logit : row) sum += std::exp(static_cast<double>(logit) - largest);
        total += largest + std::log(sum) - static_cast<double>(row[static_cast<std::size_t>(ids[i + 1])]);
    }
    return total / static_cast<double>(ids.size() - 1);
}

TEST(Gpt2, TheLikelihoodOfThePassageMatchesTheReference) {
    Gpt2 model = Gpt2::load(model_folder("shakespeare-gpt2"), Context(), {.logits = Logits::all});
    const auto ids = cases()["passage"]["ids"].get<std::vector<std::int32_t>>();
    EXPECT_NEAR(mean_nll(model.forward(ids), ids, 1024), cases()["passage"]["mean_nll"].get<double>(), 1e-5);
}

TEST(Gpt2, PrefillInPartsGivesEqualLogits) {
    Gpt2 model = Gpt2::load(model_folder("shakespeare-gpt2"), Context());
    const auto& c = cases()["cases"].back();
    const auto ids = c["ids"].get<std::vector<std::int32_t>>();
    std::span<const float> logits;
    for (std::size_t at = 0, piece = 1; at < ids.size(); at += piece, piece = piece * 2 + 1) {
        piece = std::min(piece, ids.size() - at);
        logits = model.forward(std::span(ids).subspan(at, piece));
    }
    EXPECT_LE(largest_difference(logits, c["last_logits"]), 5e-5);
}

TEST(Gpt2, LeftPaddedRowsGiveTheResultsOfSingleRows) {
    Gpt2 model = Gpt2::load(model_folder("shakespeare-gpt2"), Context(), {.max_batch = 3}, {.verify = true});
    const auto all = cases()["cases"];
    const std::vector<std::size_t> pick{0, 2, 3};
    std::size_t longest = 0;
    for (const std::size_t i : pick) longest = std::max(longest, all[i]["ids"].size());
    std::vector<std::int32_t> ids, starts, expected_next;
    for (const std::size_t i : pick) {
        const auto row = all[i]["ids"].get<std::vector<std::int32_t>>();
        starts.push_back(static_cast<std::int32_t>(longest - row.size()));
        ids.insert(ids.end(), longest - row.size(), 0);
        ids.insert(ids.end(), row.begin(), row.end());
    }
    std::span<const float> logits = model.forward(ids, starts);
    for (std::size_t r = 0; r < pick.size(); ++r)
        EXPECT_LE(largest_difference(logits.subspan(r * 1024, 1024), all[pick[r]]["last_logits"]), 5e-5) << r;
    for (std::size_t step = 0; step + 1 < 8; ++step) {
        std::vector<std::int32_t> next;
        for (std::size_t r = 0; r < pick.size(); ++r) {
            next.push_back(argmax(logits.subspan(r * 1024, 1024)));
            EXPECT_EQ(next.back(), all[pick[r]]["greedy_ids"][step].get<std::int32_t>())
                << "row " << r << " step " << step;
        }
        logits = model.forward(next, starts);
    }
}

TEST(Gpt2, GeneratedTokensAreThoseOfTheReference) {
    Gpt2 model = Gpt2::load(model_folder("shakespeare-gpt2"), Context(), {.greedy = true}, {.verify = true});
    for (const auto& c : cases()["cases"]) {
        const auto ids = c["ids"].get<std::vector<std::int32_t>>();
        const auto expected = c["greedy_ids"].get<std::vector<std::int32_t>>();
        for (const std::vector<std::int64_t>& parts :
             {std::vector<std::int64_t>{48}, {1, 47}, {3, 1, 1, 20, 23}, {47, 1}}) {
            model.rewind();
            std::vector<std::int32_t> text;
            for (const std::int64_t part : parts) {
                const auto more = model.generate(text.empty() ? std::span(ids) : std::span<const std::int32_t>(), part);
                text.insert(text.end(), more.begin(), more.end());
            }
            EXPECT_EQ(text, expected) << c["prompt"];
            EXPECT_EQ(model.length(), static_cast<std::int64_t>(ids.size()) + 47);
        }
    }
    // A text goes on behind given tokens, too, and from an earlier length.
    const auto ids = cases()["cases"][0]["ids"].get<std::vector<std::int32_t>>();
    const auto expected = cases()["cases"][0]["greedy_ids"].get<std::vector<std::int32_t>>();
    model.rewind();
    model.generate(ids, 1);
    EXPECT_EQ(model.generate({expected.data(), 3}, 4), std::vector(expected.begin() + 3, expected.begin() + 7));
    model.rewind(static_cast<std::int64_t>(ids.size()));
    EXPECT_EQ(model.generate({expected.data(), 1}, 2), std::vector(expected.begin() + 1, expected.begin() + 3));
    Gpt2 other = model.instance();
    EXPECT_EQ(other.generate(ids, 5), std::vector(expected.begin(), expected.begin() + 5));
}

TEST(Gpt2, GenerateRefusesWhatItCannotDo) {
    const std::vector<std::int32_t> ids{1, 2, 3};
    Gpt2 model = Gpt2::load(model_folder("shakespeare-gpt2"), Context(), {.capacity = 8, .greedy = true});
    const auto fault = [&](std::span<const std::int32_t> given, std::int64_t count) {
        return message([&] { model.generate(given, count); });
    };
    EXPECT_THAT(fault({}, 1), testing::HasSubstr("there are no tokens"));
    EXPECT_THAT(fault(ids, 0), testing::HasSubstr("at least one token"));
    EXPECT_THAT(fault(ids, 7), testing::HasSubstr("9 tokens are more than the context of 8 holds"));
    EXPECT_THAT(fault(ids, INT64_MAX), testing::HasSubstr("as the context holds"));
    const std::int32_t outside = 1024, negative = -1;
    EXPECT_THAT(fault({&outside, 1}, 1), testing::HasSubstr("token id 1024"));
    EXPECT_THAT(fault({&negative, 1}, 1), testing::HasSubstr("token id -1"));
    EXPECT_THAT(message([&] { model.forward(ids); }), testing::HasSubstr("made for generate()"));
    EXPECT_EQ(model.length(), 0);
    EXPECT_EQ(model.generate(ids, 6).size(), 6U) << "the context is full";
    EXPECT_EQ(model.length(), 8);
    EXPECT_THAT(fault({}, 1), testing::HasSubstr("9 tokens"));
    // A run that is stopped leaves the text as it was.
    model.rewind(3);
    const auto expected = model.generate({&ids[2], 1}, 3);
    std::stop_source source;
    source.request_stop();
    model.run_options.stop = source.get_token();
    EXPECT_THROW(model.generate({}, 2), Cancelled);
    EXPECT_EQ(model.length(), 6);
    model.run_options = {};
    const auto more = model.generate({}, 2);
    model.rewind(3);
    std::vector<std::int32_t> all = expected;
    all.insert(all.end(), more.begin(), more.end());
    EXPECT_EQ(model.generate({&ids[2], 1}, 5), all);
    EXPECT_THAT(message([] { gpt2_graph({}, gpt2_weights({}), {.logits = Logits::all, .greedy = true}); }),
                testing::HasSubstr("greedy needs one row"));
    EXPECT_THAT(message([] { gpt2_graph({}, gpt2_weights({}), {.max_batch = 2, .greedy = true}); }),
                testing::HasSubstr("greedy needs one row"));
    Gpt2 plain = Gpt2::load(model_folder("shakespeare-gpt2"), Context());
    EXPECT_THAT(message([&] { plain.generate(ids, 1); }), testing::HasSubstr("DecoderOptions::greedy"));
}

TEST(Gpt2, EachStageCanBeSwitchedOff) {
    const auto& c = cases()["cases"][2];
    const auto ids = c["ids"].get<std::vector<std::int32_t>>();
    for (const std::string& stage : stage_names()) {
        CompileOptions options;
        options.disable = {stage};
        options.verify = true;
        Gpt2 model = Gpt2::load(model_folder("shakespeare-gpt2"), Context(), {}, options);
        std::span<const float> logits = model.forward(ids);
        EXPECT_LE(largest_difference(logits, c["last_logits"]), 5e-5) << stage << " off";
        for (int step = 0; step < 4; ++step) {
            const std::int32_t next = argmax(logits);
            EXPECT_EQ(next, c["greedy_ids"][static_cast<std::size_t>(step)].get<std::int32_t>()) << stage << " off";
            logits = model.forward({&next, 1});
        }
    }
}

TEST(Gpt2, ATunedModelGivesEqualResults) {
    const Context context;
    const auto& c = cases()["cases"][1];
    Gpt2 model = Gpt2::load(model_folder("shakespeare-gpt2"), context, {}, {.mode = Mode::normal, .tune_seconds = 1});
    EXPECT_LE(largest_difference(model.forward(c["ids"].get<std::vector<std::int32_t>>()), c["last_logits"]), 5e-5);
}

TEST(Gpt2, WrongCallsAreRefusedAndKeepTheCache) {
    Gpt2 model = Gpt2::load(model_folder("shakespeare-gpt2"), Context());
    const auto& c = cases()["cases"][0];
    const auto ids = c["ids"].get<std::vector<std::int32_t>>();
    model.forward(std::span(ids).first(ids.size() - 1));
    EXPECT_EQ(message([&] { model.forward({}); }), "[gpt2] there are no tokens");
    const std::int32_t wrong = 1024;
    EXPECT_EQ(message([&] { model.forward({&wrong, 1}); }), "[gpt2] token id 1024 is not in the vocabulary of 1024");
    const std::vector<std::int32_t> many(256, 1);
    EXPECT_EQ(message([&] { model.forward(many); }), "[gpt2] 258 tokens are more than the context of 256 holds");
    EXPECT_LE(largest_difference(model.forward({&ids.back(), 1}), c["last_logits"]), 5e-5);
    EXPECT_EQ(message([&] { model.rewind(300); }), "[rewind] past is 3 now; 300 is not in 0..3");
}

TEST(Gpt2, MissingAndMisshapenTensorsAreNamedAtOnce) {
    Gpt2Config config = Gpt2Config::read(model_folder("shakespeare-gpt2") + "/config.json");
    config.inner = 512;
    config.layers = 5;
    auto weights = gpt2_weights(config);
    const std::string folder = model_folder("shakespeare-gpt2");
    const Safetensors file = Safetensors::open(folder);
    const std::string text = message([&] { find_weights(weights, file, "transformer.", "model"); });
    EXPECT_NE(text.find("transformer.h.4.ln_1.weight is missing"), std::string::npos) << text;
    EXPECT_NE(text.find("transformer.h.0.mlp.c_fc.weight is [192,768], expected [192,512]"), std::string::npos) << text;
    EXPECT_NE(text.find("transformer.h.3.mlp.c_proj.weight is [768,192], expected [512,192]"), std::string::npos)
        << text;
}

}  // namespace
}  // namespace cairn::models
