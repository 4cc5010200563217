#include "cairn/cairn.hpp"
#include "tests/io/weights/expect_error.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

// Quantized blocks beside the elements that the Python package gguf gives; golden/gguf_blocks.py made both.
namespace cairn::test {
namespace {

using Json = nlohmann::json;

std::string from_hex(const std::string& text) {
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); i += 2)
        bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
    return bytes;
}

struct BlocksCase {
    std::string type;
    std::vector<std::int64_t> shape;
    std::string bytes;
    std::vector<std::uint32_t> elements;  // as bits
};

std::vector<BlocksCase> blocks_cases() {
    std::ifstream file(CAIRN_SOURCE_DIR "/tests/golden/gguf_blocks.json");
    std::vector<BlocksCase> cases;
    for (const Json& json : Json::parse(file)) {
        BlocksCase& made = cases.emplace_back();
        made.type = json.at("type");
        made.shape = json.at("shape").get<std::vector<std::int64_t>>();
        made.bytes = from_hex(json.at("bytes"));
        const std::string elements = from_hex(json.at("elements"));
        made.elements.resize(elements.size() / 4);
        std::memcpy(made.elements.data(), elements.data(), elements.size());
    }
    return cases;
}

class Dequantize : public testing::TestWithParam<BlocksCase> {};

TEST_P(Dequantize, GivesTheElementsOfTheReferencePackage) {
    const BlocksCase& blocks = GetParam();
    const Shape shape(blocks.shape.begin(), blocks.shape.end());
    const std::vector<CompileOptions> all_options{
        {}, {.disable = {"fuse", "elementwise"}}, {.disable = {"simplify", "expand", "search", "pack"}}};
    for (const CompileOptions& options : all_options)
        for (const bool is_weight : {false, true}) {
            Graph g;
            Shape sized = shape;
            if (!is_weight) sized[0] = g.symbol("N", 0, 9);
            const Tensor x = is_weight ? g.weight("x", DType::u8, shape) : g.input("x", DType::u8, sized);
            const Tensor y = dequantize(x, blocks.type);
            EXPECT_EQ(to_string(y.shape()),
                      to_string(Shape{sized[0], static_cast<std::int64_t>(blocks.elements.size()) / blocks.shape[0]}));
            g.output("y", y);
            CompiledGraph compiled = compile(g, Context(), options);
            InputView view;
            view.dtype = DType::u8, view.shape = blocks.shape, view.data = blocks.bytes.data();
            compiled.bind([&](std::string_view) { return view; });
            if (!is_weight) compiled.set("x", blocks.bytes.data(), blocks.shape);
            compiled.run();
            const auto found = compiled.output("y").as<float>();
            ASSERT_EQ(found.size(), blocks.elements.size());
            for (std::size_t i = 0; i < found.size(); ++i)
                ASSERT_EQ(std::bit_cast<std::uint32_t>(found[i]), blocks.elements[i])
                    << "element " << i << " is " << found[i] << ", not " << std::bit_cast<float>(blocks.elements[i]);
        }
}

INSTANTIATE_TEST_SUITE_P(Types, Dequantize, testing::ValuesIn(blocks_cases()),
                         [](const auto& blocks) { return blocks.param.type; });

// Each byte, as its sign, exponent and mantissa say.
TEST(DequantizeFloats, OfEightBitsGiveTheirValues) {
    std::vector<std::uint8_t> bytes;
    for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<std::uint8_t>(byte));
    const auto decoded = [](int byte, int mantissa_bits, int bias, bool has_infinities) {
        const int magnitude = byte & 127, exponent = magnitude >> mantissa_bits, ones = 127 >> mantissa_bits;
        const int mantissa = magnitude - (exponent << mantissa_bits), full = 1 << mantissa_bits;
        double value = exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                                     : std::ldexp(full + mantissa, exponent - bias - mantissa_bits);
        if (has_infinities && exponent == ones) value = mantissa == 0 ? HUGE_VAL : std::nan("");
        if (!has_infinities && magnitude == 127) value = std::nan("");
        return static_cast<float>(byte < 128 ? value : -value);
    };
    Graph g;
    const Tensor x = g.weight("x", DType::u8, {2, 128});
    g.output("e4m3", dequantize_f8_e4m3(x));
    g.output("e5m2", dequantize_f8_e5m2(x));
    CompiledGraph compiled = compile(g, Context());
    InputView view;
    view.dtype = DType::u8, view.shape = {2, 128}, view.data = bytes.data();
    compiled.bind([&](std::string_view) { return view; });
    compiled.run();
    for (int byte = 0; byte < 256; ++byte)
        for (const bool is_e4m3 : {true, false}) {
            const float wanted = is_e4m3 ? decoded(byte, 3, 7, false) : decoded(byte, 2, 15, true);
            const float found = compiled.output(is_e4m3 ? "e4m3" : "e5m2").as<float>()[static_cast<std::size_t>(byte)];
            if (std::isnan(wanted))
                EXPECT_TRUE(std::isnan(found)) << byte;
            else
                EXPECT_EQ(std::bit_cast<std::uint32_t>(found), std::bit_cast<std::uint32_t>(wanted)) << byte;
        }
    EXPECT_EQ(compiled.output("e4m3").as<float>()[126], 448);
}

TEST(DequantizeErrors, NameTheTypeTheShapeAndTheBytes) {
    Graph g;
    const Tensor bytes = g.input("x", DType::u8, {4, 2, 18}), floats = g.input("y", DType::f32, {4, 2, 18}),
                 line = g.input("z", DType::u8, {34});
    EXPECT_THAT([&] { dequantize_q8_0(bytes); },
                refused("[dequantize_q8_0] needs blocks u8[..,34]: blocks u8[4,2,18]", ErrorKind::graph));
    EXPECT_THAT([&] { dequantize_q4_0(floats); },
                refused("[dequantize_q4_0] needs blocks u8[..,18]: blocks f32[4,2,18]", ErrorKind::graph));
    EXPECT_THAT([&] { dequantize_q8_0(line); }, refused("needs blocks u8[..,34]: blocks u8[34]", ErrorKind::graph));
    EXPECT_THAT([&] { dequantize(bytes, "IQ1_S"); },
                refused("[dequantize] type IQ1_S is not known; known are Q8_0, Q4_0,", ErrorKind::unsupported));
}

}  // namespace
}  // namespace cairn::test
