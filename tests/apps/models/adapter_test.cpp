#include "apps/models/lora_adapter.hpp"
#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"
#include "cairn/models/llama.hpp"
#include "tests/apps/models/adapter_folder.hpp"
#include "tests/apps/models/golden.hpp"
#include "tests/apps/models/reference_case.hpp"
#include "tests/apps/models/tiny_model.hpp"
#include "tests/io/weights/expect_error.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

// Adapters of small models with synthetic weights; tests/golden/adapter_cases.py has the reference.
namespace cairn::models {
namespace {

using nlohmann::json;
using test::adapter_cases, test::adapter_named, test::adapter_tensors, test::write_adapter;
using test::case_named, test::relative_difference, test::refused, test::TempFolder;

const Context& context() {
    static const Context shared({.threads = 2});
    return shared;
}

template <typename Config>
Config config_of(const json& c) {
    const TempFolder folder;
    return Config::read(folder.write("config.json", c["config"].dump()));
}

/// Each bucket has its fastest kernels, whatever the others keep: without an adapter those of the model.
const CompileOptions independent{.seconds_per_kept_byte = 0};

std::vector<float> copied(std::span<const float> values) { return {values.begin(), values.end()}; }

/// A decoder of a case, and what its source needs.
template <typename Model, typename Config, std::vector<WeightSpec> (*weights_of)(const Config&)>
struct DecoderCase {
    DecoderCase(const char* name, const AdapterOptions& adapters, DecoderOptions options)
        : reference(case_named(adapter_cases(), name)),
          tensors(test::tensors_of(reference)),
          weights(weights_of(config_of<Config>(reference))),
          model(config_of<Config>(reference), weights, test::reference_source(tensors, weights), context(),
                (options.adapters = adapters, options), independent) {}
    std::vector<float> output() {
        model.rewind();
        return copied(model.forward(reference["ids"].get<std::vector<std::int32_t>>()));
    }

    const json& reference;
    std::vector<WeightSpec> tensors, weights;
    Model model;
};

struct GptCase : DecoderCase<Gpt2, Gpt2Config, gpt2_weights> {
    explicit GptCase(const AdapterOptions& adapters, DecoderOptions options = {.logits = Logits::all, .capacity = 16})
        : DecoderCase("gpt2", adapters, std::move(options)) {}
};

struct LlamaCase : DecoderCase<Llama, LlamaConfig, llama_weights> {
    explicit LlamaCase(const AdapterOptions& adapters, DecoderOptions options = {.logits = Logits::all, .capacity = 16})
        : DecoderCase("llama", adapters, std::move(options)) {}
};

struct BertCase {
    explicit BertCase(const AdapterOptions& adapters)
        : reference(case_named(adapter_cases(), "bert")),
          tensors(test::tensors_of(reference)),
          weights(encoder_weights(config_of<EncoderConfig>(reference))),
          model(config_of<EncoderConfig>(reference), weights, test::reference_source(tensors, weights), context(), 4,
                independent, adapters) {}
    std::vector<float> output() {
        // Rows and types of tests/golden/encoder_cases.py.
        const std::vector<std::vector<std::int32_t>> ids{
            {2, 7, 11, 5, 59, 8, 30, 31, 3}, {2, 9, 40, 3, 13, 3, 0, 0, 0}, {0, 2, 12, 0, 44, 17, 17, 3, 0}};
        std::vector<std::vector<bool>> masks;
        for (const auto& row : ids) {
            masks.emplace_back();
            for (const std::int32_t id : row) masks.back().push_back(id != 0);
        }
        const std::vector<std::vector<std::int32_t>> types{
            {0, 0, 0, 0, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 1, 1, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0}};
        return copied(model.forward(ids, masks, types));
    }

    const json& reference;
    std::vector<WeightSpec> tensors, weights;
    Encoder model;
};

/// All adapters of a case in folders, but those that replace modules as a whole.
std::vector<NamedAdapter> adapters_of(const TempFolder& folder, const json& reference) {
    std::vector<NamedAdapter> list;
    for (const json& each : reference["adapters"])
        if (each["name"] != "saved") list.push_back({each["name"].get<std::string>(), write_adapter(folder, each)});
    return list;
}

template <typename Case>
void expect_exchanged(const char* name) {
    const TempFolder folder;
    const json& reference = case_named(adapter_cases(), name);
    const std::vector<NamedAdapter> list = adapters_of(folder, reference);
    Case plain({});
    const std::vector<float> base = plain.output();
    EXPECT_LE(relative_difference(base, reference["output"]), 4e-6);

    Case changed({list, AdapterForm::exchanged});
    EXPECT_LE(relative_difference(changed.output(), adapter_named(reference, list[0].name)["output"]), 4e-6)
        << "the first adapter is set";
    changed.model.set_adapter();
    EXPECT_EQ(changed.output(), base) << "without an adapter the bits are those of the model";
    for (const NamedAdapter& each : list) {
        changed.model.set_adapter(each.name);
        EXPECT_LE(relative_difference(changed.output(), adapter_named(reference, each.name)["output"]), 4e-6)
            << each.name;
    }
    EXPECT_THAT([&] { changed.model.set_adapter("none"); },
                refused("there is no adapter \"none\"; there are " + list[0].name, ErrorKind::argument));
    EXPECT_LE(relative_difference(changed.output(), adapter_named(reference, list.back().name)["output"]), 4e-6)
        << "a name that is refused changes nothing";
    changed.model.set_adapter("");
    EXPECT_EQ(changed.output(), base);
}

TEST(Adapters, ComputeWhatTheReferenceDoesWhenExchanged) {
    expect_exchanged<GptCase>("gpt2");
    expect_exchanged<LlamaCase>("llama");
    expect_exchanged<BertCase>("bert");
}

template <typename Case>
void expect_merged(const char* name) {
    const TempFolder folder;
    const json& reference = case_named(adapter_cases(), name);
    for (const json& each : reference["adapters"]) {
        if (each["name"] == "head") continue;  // the weight is the embedding too
        Case merged({{{each["name"].get<std::string>(), write_adapter(folder, each)}}, AdapterForm::merged});
        EXPECT_LE(relative_difference(merged.output(), each["output"]), 6e-6) << each["name"];
        EXPECT_EQ(merged.model.merge_rounding(), 0) << "sums of f32 are not rounded again";
        EXPECT_THAT([&] { merged.model.set_adapter(); },
                    refused("the adapter is merged with the weights", ErrorKind::argument));
    }
}

TEST(Adapters, ComputeWhatTheReferenceDoesWhenMerged) {
    expect_merged<GptCase>("gpt2");
    expect_merged<LlamaCase>("llama");
    expect_merged<BertCase>("bert");
}

TEST(Adapters, RowsOfABatchHaveAdaptersOfTheirOwn) {
    const TempFolder folder;
    const json& reference = case_named(adapter_cases(), "llama");
    const std::vector<NamedAdapter> list = adapters_of(folder, reference);
    ASSERT_EQ(list.size(), 4U);
    LlamaCase single({}), alone({list, AdapterForm::exchanged}, {.capacity = 16});
    LlamaCase rows({list, AdapterForm::rows}, {.max_batch = 4, .capacity = 16});
    const std::vector<std::int32_t> text{3, 17, 9, 41, 5}, starts{0, 0, 0, 0};
    std::vector<std::int32_t> ids;
    for (int row = 0; row < 4; ++row) ids.insert(ids.end(), text.begin(), text.end());
    for (const std::vector<std::string>& names :
         {std::vector<std::string>{"linear", "", "regex", "attention"}, {"", "", "", "layers"}, {"", "", "", ""}}) {
        rows.model.rewind();
        rows.model.set_adapters(names);
        const std::vector<float> all = copied(rows.model.forward(ids, starts));
        for (std::size_t row = 0; row < 4; ++row) {
            alone.model.rewind();
            alone.model.set_adapter(names[row]);
            const std::vector<float> expected = copied(alone.model.forward(text));
            ASSERT_EQ(all.size(), 4 * expected.size());
            for (std::size_t i = 0; i < expected.size(); ++i)
                EXPECT_NEAR(all[row * expected.size() + i], expected[i], 2e-5) << names[row] << " in row " << row;
        }
    }
    rows.model.rewind();
    rows.model.set_adapter("regex");
    const std::vector<float> same = copied(rows.model.forward(ids, starts));
    alone.model.rewind();
    alone.model.set_adapter("regex");
    const std::vector<float> expected = copied(alone.model.forward(text));
    for (std::size_t i = 0; i < same.size(); ++i) EXPECT_NEAR(same[i], expected[i % expected.size()], 2e-5);

    rows.model.set_adapters(std::vector<std::string>{"regex", "linear"});
    rows.model.rewind();
    EXPECT_THAT([&] { rows.model.forward(ids, starts); },
                refused("4 rows, but adapters were set for 2", ErrorKind::argument));
    EXPECT_THAT(
        [&] {
            rows.model.set_adapters(std::vector<std::string>{"regex", "verse"});
        },
        refused("there is no adapter \"verse\"", ErrorKind::argument));
    EXPECT_THAT([&] { alone.model.set_adapters(std::vector<std::string>{"regex"}); },
                refused("rows of their own adapters need AdapterForm::rows", ErrorKind::argument));
}

TEST(Adapters, TextsOfOneCallHaveAdaptersOfTheirOwn) {
    const TempFolder folder;
    const json& reference = case_named(adapter_cases(), "bert");
    BertCase rows({adapters_of(folder, reference), AdapterForm::rows});
    const std::vector<std::string> names{"dense", "", "query"};
    rows.model.set_adapters(names);
    const std::vector<float> found = rows.output();
    ASSERT_EQ(found.size(), 9U) << "three rows of three logits";
    for (std::size_t row = 0; row < 3; ++row) {
        const json& expected =
            names[row].empty() ? reference["output"] : adapter_named(reference, names[row])["output"];
        for (std::size_t i = 0; i < 3; ++i)
            EXPECT_NEAR(found[row * 3 + i], expected[row * 3 + i].get<double>(), 1e-5) << names[row];
    }
}

TEST(Adapters, ACacheFolderIsForTheMergedWeights) {
    const TempFolder folder;
    test::tiny_gpt2().write(folder.path());
    const auto load = [&](AdapterForm form, double scale) {
        const LoraUpdate update{.module = "transformer.h.0.mlp.c_fc",
                                .rank = 1,
                                .in = 8,
                                .out = 32,
                                .a = std::vector<float>(8, 0.5f),
                                .b = std::vector<float>(32, 1.0f)};
        return Gpt2::load(folder.path(), context(),
                          {.adapters = {{{"own", LoraAdapter("own", {update}), scale}}, form}}, {}, folder / "cache");
    };
    const std::vector<std::int32_t> ids{3, 17, 9};
    const auto logits = [&](Gpt2 model) { return copied(model.forward(ids)); };
    const std::vector<float> exchanged = logits(load(AdapterForm::exchanged, 1));
    std::filesystem::remove_all(folder / "cache");
    const std::vector<float> merged = logits(load(AdapterForm::merged, 1));
    ASSERT_EQ(merged.size(), exchanged.size());
    for (std::size_t i = 0; i < merged.size(); ++i) EXPECT_NEAR(merged[i], exchanged[i], 1e-4);
    Gpt2 cached = load(AdapterForm::merged, 1);
    EXPECT_FALSE(cached.merge_rounding().has_value()) << "the packed weights are those of the first start";
    EXPECT_EQ(copied(cached.forward(ids)), merged);
    EXPECT_NE(logits(load(AdapterForm::merged, 0.5)), merged) << "another scale is another weight";
}

TEST(Adapters, QuantizedWeightsAreNotMerged) {
    const LlamaConfig config{.vocabulary = 50,
                             .positions = 16,
                             .width = 32,
                             .heads = 2,
                             .key_heads = 2,
                             .head_width = 16,
                             .layers = 1,
                             .inner = 32};
    std::vector<WeightSpec> weights = llama_weights(config);
    for (WeightSpec& spec : weights)
        if (spec.name.ends_with("q_proj.weight"))
            spec.dtype = DType::u8, spec.block_type = "Q8_0", spec.block_shape = {32, 1, 34};
    const LoraUpdate update{.module = "model.layers.0.self_attn.q_proj",
                            .rank = 1,
                            .in = 32,
                            .out = 32,
                            .a = std::vector<float>(32, 1.0f),
                            .b = std::vector<float>(32, 1.0f)};
    const LoraAdapter own("own", {update});
    EXPECT_THAT(
        [&] {
            llama_graph(config, weights, {.adapters = {{{"a", own}}, AdapterForm::merged}});
        },
        refused("own does not fit this llama: model.layers.0.self_attn.q_proj.weight is in blocks of Q8_0, to "
                "which an adapter cannot be merged"));
    const std::string text = to_string(llama_graph(config, weights, {.adapters = {{"a", own}}}));
    EXPECT_THAT(text, testing::HasSubstr("input \"lora_A.model.layers.0.self_attn.q_proj\" : f32[adapted,32]"));
}

TEST(Adapters, AScaleOfZeroLeavesTheBitsOfTheModel) {
    const TempFolder folder;
    json adapter = adapter_named(case_named(adapter_cases(), "gpt2"), "all");
    const auto path = write_adapter(folder, adapter);
    adapter["name"] = "zero";
    adapter["config"]["lora_alpha"] = 0;
    const auto zero = write_adapter(folder, adapter);
    const std::vector<float> base = GptCase({}).output();
    EXPECT_NE(GptCase({{"a", path}}).output(), base);
    EXPECT_EQ(GptCase({{"a", path, 0}}).output(), base);
    EXPECT_EQ(GptCase({{"a", zero}}).output(), base);
    EXPECT_EQ(GptCase({{{"a", zero}}, AdapterForm::merged}).output(), base);
    EXPECT_EQ(GptCase({{{"a", zero}}, AdapterForm::rows}).output(), base);
}

TEST(Adapters, AnotherAdapterIsAddedLater) {
    const TempFolder folder;
    const json& reference = case_named(adapter_cases(), "gpt2");
    const auto path = [&](const char* name) { return write_adapter(folder, adapter_named(reference, name)); };
    GptCase model({{{"all", path("all")}}, AdapterForm::exchanged, 4});
    model.model.add_adapter({"patterns", path("patterns")});
    EXPECT_THAT(model.model.adapter_names(), testing::ElementsAre("all", "patterns"));
    model.model.set_adapter("patterns");
    EXPECT_LE(relative_difference(model.output(), adapter_named(reference, "patterns")["output"]), 4e-6);
    Gpt2 second = model.model.instance();
    EXPECT_LE(relative_difference(second.forward(reference["ids"].get<std::vector<std::int32_t>>()),
                                  adapter_named(reference, "patterns")["output"]),
              4e-6)
        << "an instance has the same adapter";
    EXPECT_THAT(
        [&] {
            model.model.add_adapter({"patterns", path("plain")});
        },
        refused("each adapter needs a name of its own, got \"patterns\"", ErrorKind::argument));
    EXPECT_THAT(
        [&] {
            model.model.add_adapter({"head", path("head")});
        },
        refused("lm_head has rank 1, the model was made for none there"));

    GptCase narrow({{"plain", path("plain")}});
    EXPECT_THAT(
        [&] {
            narrow.model.add_adapter({"patterns", path("patterns")});
        },
        refused("transformer.h.0.attn.c_attn has rank 4, the model was made for at most 2"));
    EXPECT_LE(relative_difference(narrow.output(), adapter_named(reference, "plain")["output"]), 4e-6);
    EXPECT_THAT(([&] {
                    GptCase({{{"all", path("all")}}, AdapterForm::exchanged, 2});
                }),
                refused("all has rank 3, more than max_rank 2", ErrorKind::argument));
}

TEST(Adapters, NarrowElementsAreWidened) {
    const TempFolder folder;
    const json& adapter = adapter_named(case_named(adapter_cases(), "bert"), "query");
    for (const DType dtype : {DType::f16, DType::bf16}) {
        const LoraAdapter read(write_adapter(folder, "narrow", adapter["config"], adapter_tensors(adapter), dtype));
        ASSERT_EQ(read.updates().size(), 6U);
        EXPECT_EQ(read.rank(), 2);
        EXPECT_EQ(read.updates()[0].scale, 2);
        const std::vector<float> exact = adapter_tensors(adapter)[0].values;
        double largest = 0;
        for (std::size_t i = 0; i < exact.size(); ++i)
            largest = std::max(largest, std::abs(static_cast<double>(read.updates()[0].a[i] - exact[i])));
        if (dtype == DType::f16) {
            EXPECT_EQ(largest, 0) << "the elements have 11 bits";
        } else {
            EXPECT_GT(largest, 0);
            EXPECT_LE(largest, 1e-3);
        }
    }
    const std::vector<std::uint16_t> halves{0x0001, 0x8400, 0x3c00, 0xfbff, 0x7c00};
    const std::vector<float> wide = floats_of({.data = halves.data(), .dtype = DType::f16, .shape = {5}}, "", "");
    EXPECT_THAT(wide, testing::ElementsAre(5.9604645e-8f, -6.1035156e-5f, 1.0f, -65504.0f, INFINITY));
}

TEST(Adapters, MergedWeightsOfNarrowDtypesAreRounded) {
    const TempFolder folder;
    const json& reference = case_named(adapter_cases(), "bert");
    const json& adapter = adapter_named(reference, "query");
    for (const DType dtype : {DType::bf16, DType::f64}) {
        const EncoderConfig config = config_of<EncoderConfig>(reference);
        std::vector<WeightSpec> tensors = test::tensors_of(reference), weights = encoder_weights(config);
        for (WeightSpec& spec : weights) spec.dtype = dtype;
        const WeightSource source = test::reference_source(tensors, weights);
        const WeightSource narrow = [&](std::string_view name) {
            InputView view = source(name);
            auto* values = static_cast<std::vector<float>*>(view.owner);
            const std::size_t size = size_of(dtype);
            auto* stored = new std::vector<std::byte>(values->size() * size);
            for (std::size_t i = 0; i < values->size(); ++i) {
                const double wide = (*values)[i];
                // The upper half of an f32 is a bf16, rounded toward zero.
                const std::byte* from = dtype == DType::f64 ? reinterpret_cast<const std::byte*>(&wide)
                                                            : reinterpret_cast<const std::byte*>(&(*values)[i]) + 2;
                std::copy_n(from, size, stored->data() + i * size);
            }
            delete values;
            view.data = stored->data();
            view.dtype = dtype;
            view.owner = stored;
            view.release = [](void* owner) { delete static_cast<std::vector<std::byte>*>(owner); };
            return view;
        };
        const AdapterOptions merged{{{"query", write_adapter(folder, adapter)}}, AdapterForm::merged};
        Encoder model(config, weights, narrow, context(), 1, {}, merged);
        ASSERT_TRUE(model.merge_rounding().has_value());
        if (dtype == DType::f64) {
            EXPECT_EQ(*model.merge_rounding(), 0);
        } else {
            EXPECT_GT(*model.merge_rounding(), 1e-4);
            EXPECT_LE(*model.merge_rounding(), 1.0 / 256);
        }
    }
}

TEST(Adapters, AdaptersOfOtherModelsAreRefused) {
    const TempFolder folder;
    const json &gpt2 = case_named(adapter_cases(), "gpt2"), &llama = case_named(adapter_cases(), "llama");
    const auto foreign = write_adapter(folder, adapter_named(llama, "attention"));
    EXPECT_THAT(([&] {
                    GptCase({{"a", foreign}});
                }),
                refused("does not fit this gpt2: model.layers.0.self_attn.q_proj is no projection of the model"));
    const json& plain = adapter_named(gpt2, "plain");
    std::vector<test::AdapterTensor> tensors = adapter_tensors(plain);
    tensors[0].shape = {2, 20};
    tensors[0].values.resize(40);
    tensors[3].shape = {70, 2};
    tensors[3].values.resize(140);
    const auto shapes = write_adapter(folder, "shapes", plain["config"], tensors);
    EXPECT_THAT(([&] {
                    GptCase({{"a", shapes}});
                }),
                refused("transformer.h.0.attn.c_attn is for a weight [72,20], the model's is [72,24]; "
                        "transformer.h.1.attn.c_attn is for a weight [70,24], the model's is [72,24]"));
    json config = plain["config"];
    config["target_modules"] = {"c_attn", "query", "value"};
    const auto targets = write_adapter(folder, "targets", config, adapter_tensors(plain));
    EXPECT_THAT(([&] {
                    GptCase({{"a", targets}});
                }),
                refused("target_modules names query, which the model does not have; "
                        "target_modules names value, which the model does not have"));
    tensors = adapter_tensors(plain);
    tensors.resize(2);
    const auto layers = write_adapter(folder, "layers", plain["config"], tensors);
    EXPECT_THAT(([&] {
                    GptCase({{"a", layers}});
                }),
                refused("transformer.h.1.attn.c_attn has no lora_A and lora_B, as other layers have"));
    const json& saved = adapter_named(case_named(adapter_cases(), "bert"), "saved");
    const auto whole = write_adapter(folder, saved);
    EXPECT_THAT(([&] {
                    BertCase({{"a", whole}});
                }),
                refused("classifier.weight is saved as a whole (modules_to_save), which AdapterForm::merged alone"));
    EXPECT_THAT(([&] {
                    GptCase({{{"a", whole}}, AdapterForm::merged});
                }),
                refused("classifier.bias is no tensor of the model"));
    const auto head = write_adapter(folder, adapter_named(gpt2, "head"));
    EXPECT_THAT(([&] {
                    GptCase({{{"a", head}}, AdapterForm::merged});
                }),
                refused("lm_head has the weight of transformer.wte.weight, to which an adapter cannot be merged"));
    EXPECT_THAT(([&] {
                    GptCase({{"a", head}, {"a", head}});
                }),
                refused("each adapter needs a name of its own, got \"a\"", ErrorKind::argument));
    EXPECT_THAT(([&] {
                    GptCase({{{"a", head}, {"b", head}}, AdapterForm::merged});
                }),
                refused("one adapter can be merged, got 2", ErrorKind::argument));
    EXPECT_THAT([] { GptCase({}).model.set_adapter("a"); },
                refused("there is no adapter \"a\"; the model was made without adapters", ErrorKind::argument));
    EXPECT_THAT(([&] {
                    GptCase({{"a", head, INFINITY}});
                }),
                refused("the scale of a is not finite", ErrorKind::argument));
}

}  // namespace
}  // namespace cairn::models
