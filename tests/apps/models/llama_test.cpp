#include "cairn/models/llama.hpp"

#include "tests/apps/models/golden.hpp"
#include "tests/apps/models/reference_case.hpp"
#include "tests/io/weights/expect_error.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

// Small Llamas and relatives with synthetic weights; tests/golden/decoder_cases.py has the reference.
namespace cairn::models {
namespace {

using nlohmann::json;
using test::case_named, test::case_names, test::decoder_cases, test::relative_difference;
using test::refused;
using test::TempFolder;

LlamaConfig read_llama(const json& config) {
    const TempFolder folder;
    return LlamaConfig::read(folder.write("config.json", config.dump()));
}

/// A model of a case, and what its source needs.
struct Loaded {
    explicit Loaded(const json& c, const DecoderOptions& options, const CompileOptions& compile = {})
        : config(read_llama(c["config"])),
          tensors(test::tensors_of(c)),
          weights(llama_weights(config)),
          model(config, weights, test::reference_source(tensors, weights), Context({.threads = 2}), options, compile) {}

    LlamaConfig config;
    std::vector<WeightSpec> tensors, weights;
    Llama model;
};

/// The reference's logits of `count` positions from `first` on.
json logits_of(const json& c, std::size_t first, std::size_t count) {
    const std::size_t width = c["logits"].size() / c["ids"].size();
    json logits = json::array();
    for (std::size_t i = first * width; i < (first + count) * width; ++i) logits.push_back(c["logits"][i]);
    return logits;
}

class LlamaCase : public testing::TestWithParam<std::string> {};

TEST_P(LlamaCase, ComputesTheLogitsOfTheReferenceInPrefillAndDecode) {
    const json& c = case_named(decoder_cases(), GetParam());
    Loaded loaded(c, {.logits = Logits::all, .capacity = 16}, {.verify = true});
    EXPECT_EQ(loaded.weights.size(), loaded.tensors.size());
    const auto ids = c["ids"].get<std::vector<std::int32_t>>();
    EXPECT_LE(relative_difference(loaded.model.forward(ids), c["logits"]), 4e-6);
    loaded.model.rewind();
    EXPECT_LE(relative_difference(loaded.model.forward(std::span(ids).first(3)), logits_of(c, 0, 3)), 4e-6)
        << "a prompt of 3";
    for (std::size_t at = 3; at < ids.size(); ++at)
        EXPECT_LE(relative_difference(loaded.model.forward({&ids[at], 1}), logits_of(c, at, 1)), 4e-6)
            << "the token at " << at;
}

INSTANTIATE_TEST_SUITE_P(All, LlamaCase, testing::ValuesIn(case_names(decoder_cases())),
                         [](const auto& info) { return info.param; });

TEST(Llama, LeftPaddedRowsHaveTheLogitsOfSingleRows) {
    for (const char* name : {"llama", "gemma3"}) {
        const json& c = case_named(decoder_cases(), name);
        Loaded several(c, {.max_batch = 2, .capacity = 16}), single(c, {.capacity = 16});
        const std::vector<std::int32_t> ids{3, 17, 9, 41, 5, 0, 0, 0, 28, 49}, starts{0, 3};
        const std::span<const float> found = several.model.forward(ids, starts);
        const std::vector<float> both(found.begin(), found.end());
        for (std::size_t row = 0; row < 2; ++row) {
            single.model.rewind();
            const std::size_t start = static_cast<std::size_t>(starts[row]);
            const std::span<const float> alone =
                single.model.forward(std::span(ids).subspan(5 * row + start, 5 - start));
            for (std::size_t i = 0; i < alone.size(); ++i)
                EXPECT_NEAR(both[row * alone.size() + i], alone[i], 2e-5) << name << " row " << row;
        }
    }
}

TEST(Llama, GenerateChoosesTheTokensOfTheLargestLogits) {
    const json& c = case_named(decoder_cases(), "llama_tied");
    Loaded greedy(c, {.capacity = 32, .greedy = true}), plain(c, {.capacity = 32});
    const std::vector<std::int32_t> prompt{3, 17, 9};
    std::vector<std::int32_t> expected;
    for (std::span<const std::int32_t> fresh = prompt; expected.size() < 8; fresh = {&expected.back(), 1}) {
        const std::span<const float> logits = plain.model.forward(fresh);
        expected.push_back(static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin()));
    }
    EXPECT_EQ(greedy.model.generate(prompt, 8), expected);
    Llama other = plain.model.instance();
    EXPECT_EQ(other.length(), 0);
    EXPECT_EQ(plain.model.length(), 10);
    EXPECT_THAT([&] { other.generate(prompt, 1); },
                refused("[llama] generate() needs DecoderOptions::greedy", ErrorKind::argument));
}

TEST(Llama, BothNotationsOfRotaryScalingAreRead) {
    const json& c = case_named(decoder_cases(), "llama_scaled");
    const LlamaConfig expected = read_llama(c["config"]);
    ASSERT_EQ(expected.rope_factors.size(), 2U);
    EXPECT_EQ(expected.rope_base, 500);
    json older = c["config"];
    older["rope_scaling"] = older["rope_parameters"];
    older["rope_scaling"].erase("rope_theta");
    older["rope_theta"] = 500.0;
    older.erase("rope_parameters");
    EXPECT_EQ(read_llama(older).rope_factors, expected.rope_factors);
    EXPECT_EQ(read_llama(older).rope_base, 500);
    json gemma = case_named(decoder_cases(), "gemma3")["config"];
    const LlamaConfig modern = read_llama(gemma);
    gemma.erase("rope_parameters");
    gemma.erase("layer_types");
    gemma.update({{"rope_theta", 1000.0},
                  {"rope_local_base_freq", 100.0},
                  {"sliding_window_pattern", 3},
                  {"rope_scaling", {{"rope_type", "linear"}, {"factor", 2.0}}}});
    const LlamaConfig old = read_llama(gemma);
    EXPECT_EQ(old.is_local, modern.is_local);
    EXPECT_EQ(old.rope_base, modern.rope_base);
    EXPECT_EQ(old.local_rope_base, modern.local_rope_base);
    EXPECT_EQ(old.rope_factors, modern.rope_factors);
}

TEST(Llama, WhatIsNotSupportedIsNamed) {
    const auto expect = [](const json& changes, const std::string& what, ErrorKind kind = ErrorKind::unsupported) {
        json config = case_named(decoder_cases(), "llama")["config"];
        config.update(changes);
        EXPECT_THAT([&] { read_llama(config); }, refused(what, kind));
    };
    expect({{"model_type", "mixtral"}},
           "model_type is \"mixtral\", expected one of llama, mistral, qwen2, qwen3, gemma3_text");
    expect({{"rope_parameters", {{"rope_type", "yarn"}}}}, "rotary scaling of type yarn is not supported");
    expect({{"rope_parameters", {{"rope_type", "linear"}, {"factor", 0}}}}, "factor must be above 0", ErrorKind::file);
    expect({{"rope_parameters", 3}}, "entry \"rope_parameters\" must be an object, got 3", ErrorKind::file);
    expect({{"rope_parameters", {{"rope_type", "llama3"}, {"high_freq_factor", 1}}}}, "out of range", ErrorKind::file);
    expect({{"num_key_value_heads", 4}}, "num_attention_heads is no multiple of num_key_value_heads", ErrorKind::file);
    expect({{"head_dim", 5}}, "the width of a head is odd", ErrorKind::file);
    expect({{"hidden_act", "snake"}}, "activation \"snake\" is not known");
    expect({{"layer_types", {"full_attention"}}}, "must name all layers", ErrorKind::file);
    expect({{"layer_types", {"full_attention", "chunked_attention", "full_attention"}}},
           "layers of type chunked_attention are not supported");
    expect({{"layer_types", {"full_attention", "sliding_attention", "full_attention"}}},
           "entry \"sliding_window\" must be at least 1", ErrorKind::file);
    json gemma = case_named(decoder_cases(), "gemma3")["config"];
    gemma["final_logit_softcapping"] = 30;
    EXPECT_THAT([&] { read_llama(gemma); },
                refused("final_logit_softcapping is not supported", ErrorKind::unsupported));
}

TEST(Llama, AConfigOfTheCallerIsChecked) {
    const auto fault = [](const std::function<void(LlamaConfig&)>& spoil, const std::string& what) {
        LlamaConfig config;
        spoil(config);
        EXPECT_THAT([&] { llama_weights(config); }, refused(what, ErrorKind::argument));
        EXPECT_THAT([&] { llama_graph(config, {}); }, refused(what, ErrorKind::argument));
    };
    fault([](auto& c) { c.key_heads = 2; }, "heads 9 is no multiple of key heads 2");
    fault([](auto& c) { c.head_width = 7; }, "head width must be even, got 7");
    fault([](auto& c) { c.norm_epsilon = -1; }, "norm_epsilon must be a finite number of at least 0");
    fault([](auto& c) { c.rope_base = 0; }, "rope_base must be a finite number above 0");
    fault([](auto& c) { c.rope_factors = {1}; }, "1 rope factors, expected one for each pair of a head");
    fault([](auto& c) { c.is_local = {true}; }, "is_local must name all layers or none");
    fault([](auto& c) { c.is_local.assign(30, true); }, "window must be in 1..2147483647, got 0");
    EXPECT_THAT([] { llama_graph({}, llama_weights({}), {.capacity = 8193}); },
                refused("[llama] capacity must be in 1..8192, got 8193", ErrorKind::argument));
}

}  // namespace
}  // namespace cairn::models
