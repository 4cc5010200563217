#include "cairn/cairn.hpp"
#include "graph/interpreter/interpreter.hpp"
#include "graph/types/half.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <set>

// Comparison with ONNX's reference evaluator; golden/onnx_cases.py generated the cases.
namespace cairn::test {
namespace {

using Json = nlohmann::json;
using Tensors = std::vector<Tensor>;

IntList list(const Json& arguments, const char* name) { return IntList(arguments.at(name).get<std::vector<int>>()); }

Shape sizes(const Json& arguments, const char* name) {
    const auto numbers = arguments.at(name).get<std::vector<std::int64_t>>();
    return {numbers.begin(), numbers.end()};
}

ConvOptions conv_options(const Json& a) {
    ConvOptions options{list(a, "stride"), list(a, "padding"), list(a, "dilation"), a.at("groups").get<int>()};
    if (a.contains("output_padding")) options.output_padding = list(a, "output_padding");
    return options;
}

PoolOptions pool_options(const Json& a) {
    return {list(a, "stride"), list(a, "padding"), list(a, "dilation"), a.at("ceil_mode").get<bool>(),
            a.value("count_padding", false)};
}

using Call = std::function<Tensors(const Tensors& in, const Json& arguments)>;

// clang-format off
const std::map<std::string, Call> calls = {
    {"conv1d", [](const Tensors& in, const Json& a) { return Tensors{conv1d(in[0], in[1], in[2], conv_options(a))}; }},
    {"conv2d", [](const Tensors& in, const Json& a) { return Tensors{conv2d(in[0], in[1], in[2], conv_options(a))}; }},
    {"conv_transpose1d", [](const Tensors& in, const Json& a) { return Tensors{conv_transpose1d(in[0], in[1], in[2], conv_options(a))}; }},
    {"conv_transpose2d", [](const Tensors& in, const Json& a) { return Tensors{conv_transpose2d(in[0], in[1], in[2], conv_options(a))}; }},
    {"max_pool", [](const Tensors& in, const Json& a) { return Tensors{max_pool(in[0], list(a, "kernel"), pool_options(a))}; }},
    {"avg_pool", [](const Tensors& in, const Json& a) { return Tensors{avg_pool(in[0], list(a, "kernel"), pool_options(a))}; }},
    {"batch_norm", [](const Tensors& in, const Json& a) { return Tensors{batch_norm(in[0], in[1], in[2], in[3], in[4], a.at("eps"))}; }},
    {"group_norm", [](const Tensors& in, const Json& a) { return Tensors{group_norm(in[0], a.at("groups"), in[1], in[2], a.at("eps"))}; }},
    {"instance_norm", [](const Tensors& in, const Json& a) { return Tensors{instance_norm(in[0], in[1], in[2], a.at("eps"))}; }},
    {"upsample_nearest", [](const Tensors& in, const Json& a) { return Tensors{upsample_nearest(in[0], list(a, "scale"))}; }},
    {"upsample_linear", [](const Tensors& in, const Json& a) { return Tensors{upsample_linear(in[0], list(a, "scale"))}; }},
    {"resize_nearest", [](const Tensors& in, const Json& a) {
         return Tensors{resize_nearest(in[0], sizes(a, "size"), static_cast<CoordinateTransformation>(a.at("places").get<int>()),
                                       static_cast<ResizeRounding>(a.at("rounding").get<int>()))};
     }},
    {"resize_linear", [](const Tensors& in, const Json& a) {
         return Tensors{resize_linear(in[0], sizes(a, "size"), static_cast<CoordinateTransformation>(a.at("places").get<int>()))};
     }},
    {"round", [](const Tensors& in, const Json&) { return Tensors{round(in[0])}; }},
    {"silu", [](const Tensors& in, const Json&) { return Tensors{silu(in[0])}; }},
    {"gelu", [](const Tensors& in, const Json&) { return Tensors{gelu(in[0])}; }},
    {"gelu_tanh", [](const Tensors& in, const Json&) { return Tensors{gelu_tanh(in[0])}; }},
    {"swiglu", [](const Tensors& in, const Json&) { return Tensors{swiglu(in[0], in[1])}; }},
    {"geglu", [](const Tensors& in, const Json&) { return Tensors{geglu(in[0], in[1])}; }},
    {"sign", [](const Tensors& in, const Json&) { return Tensors{sign(in[0])}; }},
    {"clamp", [](const Tensors& in, const Json&) { return Tensors{clamp(in[0], in[1], in[2])}; }},
    {"min_reduce", [](const Tensors& in, const Json& a) { return Tensors{min_reduce(in[0], list(a, "axes"), a.at("keepdims"))}; }},
    {"any", [](const Tensors& in, const Json& a) { return Tensors{any(in[0], list(a, "axes"), a.at("keepdims"))}; }},
    {"all", [](const Tensors& in, const Json& a) { return Tensors{all(in[0], list(a, "axes"), a.at("keepdims"))}; }},
    {"prod", [](const Tensors& in, const Json& a) { return Tensors{prod(in[0], list(a, "axes"), a.at("keepdims"))}; }},
    {"argmin", [](const Tensors& in, const Json& a) { return Tensors{argmin(in[0], a.at("axis"))}; }},
    {"cumsum", [](const Tensors& in, const Json& a) { return Tensors{cumsum(in[0], a.at("axis"))}; }},
    {"topk", [](const Tensors& in, const Json& a) {
         const Sorted top = topk(in[0], a.at("k").get<int>(), a.at("axis"), a.at("largest"));
         return Tensors{top.values, top.indices};
     }},
    {"sort", [](const Tensors& in, const Json& a) {
         const Sorted sorted = sort(in[0], a.at("axis"), a.at("descending"));
         return Tensors{sorted.values, sorted.indices};
     }},
    {"argsort", [](const Tensors& in, const Json& a) { return Tensors{argsort(in[0], a.at("axis"), a.at("descending"))}; }},
    {"take_along_axis", [](const Tensors& in, const Json& a) { return Tensors{take_along_axis(in[0], in[1], a.at("axis"))}; }},
    {"split", [](const Tensors& in, const Json& a) { return split(in[0], sizes(a, "sizes"), a.at("axis")); }},
    {"chunk", [](const Tensors& in, const Json& a) { return chunk(in[0], a.at("parts"), a.at("axis")); }},
    {"tile", [](const Tensors& in, const Json& a) { return Tensors{tile(in[0], sizes(a, "times"))}; }},
    {"repeat", [](const Tensors& in, const Json& a) { return Tensors{repeat(in[0], a.at("times").get<int>(), a.at("axis"))}; }},
    {"stack", [](const Tensors& in, const Json& a) { return Tensors{stack(in, a.at("axis"))}; }},
    {"unsqueeze", [](const Tensors& in, const Json& a) { return Tensors{unsqueeze(in[0], a.at("axis"))}; }},
    {"squeeze", [](const Tensors& in, const Json& a) { return Tensors{squeeze(in[0], list(a, "axes"))}; }},
    {"one_hot", [](const Tensors& in, const Json& a) { return Tensors{one_hot(in[0], a.at("depth").get<int>(), DType::f32, a.at("axis"))}; }},
};
// clang-format on

interpreter::Value value_of(const Json& tensor) {
    std::vector<double> numbers;
    for (const Json& number : tensor.at("data"))
        numbers.push_back(number.is_string() ? std::strtod(number.get<std::string>().c_str(), nullptr)
                                             : number.get<double>());
    return interpreter::make_value(*parse_dtype(tensor.at("dtype").get<std::string>()),
                                   tensor.at("shape").get<std::vector<std::int64_t>>(), numbers);
}

std::uint16_t half_of(DType dtype, double value) {
    return dtype == DType::f16 ? types::f64_to_f16(value) : types::f64_to_bf16(value);
}

double element(const OutputView& view, std::size_t i) {
    switch (view.dtype) {
        case DType::f64: return view.as<double>()[i];
        case DType::f16: return types::f16_to_f32(view.as<std::uint16_t>()[i]);
        case DType::bf16: return types::bf16_to_f32(view.as<std::uint16_t>()[i]);
        default: return view.as<float>()[i];
    }
}

// The elements as bytes of the dtype.
std::vector<std::byte> bytes_of(const interpreter::Value& value) {
    std::vector<std::byte> bytes(value.size() * size_of(value.dtype));
    const auto fill = [&]<typename T>(T) {
        for (std::size_t i = 0; i < value.size(); ++i)
            reinterpret_cast<T*>(bytes.data())[i] =
                is_float(value.dtype) ? static_cast<T>(value.data[i]) : static_cast<T>(value.integers[i]);
    };
    switch (value.dtype) {
        case DType::f16:
        case DType::bf16:
            for (std::size_t i = 0; i < value.size(); ++i)
                reinterpret_cast<std::uint16_t*>(bytes.data())[i] = half_of(value.dtype, value.data[i]);
            break;
        case DType::f64: fill(double()); break;
        case DType::f32: fill(float()); break;
        case DType::i64: fill(std::int64_t()); break;
        case DType::i32: fill(std::int32_t()); break;
        case DType::i8: fill(std::int8_t()); break;
        default: fill(std::uint8_t()); break;
    }
    return bytes;
}

void expect_number(double got, double expected) {
    if (std::isnan(expected) || std::isinf(expected))
        EXPECT_TRUE(std::isnan(expected) ? std::isnan(got) : got == expected) << got << " instead of " << expected;
    else
        EXPECT_NEAR(got, expected, 2e-5 * std::max(1.0, std::fabs(expected)));
}

void expect_value(const interpreter::Value& got, const interpreter::Value& expected) {
    EXPECT_EQ(got.dtype, expected.dtype);
    ASSERT_EQ(got.shape, expected.shape);
    EXPECT_EQ(got.integers, expected.integers);
    for (std::size_t i = 0; i < expected.data.size(); ++i) expect_number(got.data[i], expected.data[i]);
}

void expect_output(const OutputView& got, const interpreter::Value& expected) {
    ASSERT_EQ(got.dtype, expected.dtype);
    ASSERT_EQ(std::vector<std::int64_t>(got.shape.begin(), got.shape.end()), expected.shape);
    const std::vector<std::byte> bytes = bytes_of(expected);
    for (std::size_t i = 0; i < expected.data.size(); ++i) expect_number(element(got, i), expected.data[i]);
    if (!is_float(got.dtype) && !bytes.empty()) { EXPECT_EQ(std::memcmp(got.data, bytes.data(), bytes.size()), 0); }
}

void try_case(const Json& test, const Context& context) {
    Graph graph;
    Tensors in;
    interpreter::Inputs inputs;
    for (const Json& tensor : test.at("inputs")) {
        const std::string name = "in" + std::to_string(in.size());
        const interpreter::Value value = value_of(tensor);
        in.push_back(graph.input(name, value.dtype, Shape(value.shape.begin(), value.shape.end())));
        inputs.tensors.emplace(name, value);
    }
    const Tensors out = calls.at(test.at("call"))(in, test.at("arguments"));
    ASSERT_EQ(out.size(), test.at("outputs").size());
    for (std::size_t i = 0; i < out.size(); ++i) graph.output("out" + std::to_string(i), out[i]);

    const auto reference = interpreter::interpret(*graph.data(), inputs).outputs;
    CompiledGraph compiled = compile(graph, context);
    std::map<std::string, std::vector<std::byte>> data;
    for (const auto& [name, value] : inputs.tensors) {
        data[name] = bytes_of(value);
        data[name].resize(data[name].size() + 64);  // gives an empty vector an address
        compiled.set(name, data[name].data(), value.shape);
    }
    compiled.run();
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::string name = "out" + std::to_string(i);
        const interpreter::Value expected = value_of(test.at("outputs")[i]);
        expect_value(reference.at(name), expected);
        expect_output(compiled.output(name), expected);
    }
}

Json all_cases() {
    std::ifstream file(CAIRN_SOURCE_DIR "/tests/golden/onnx_cases.json");
    return Json::parse(file);
}

// In shards, so that they run in parallel.
class Onnx : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Onnx, EveryCaseMatchesTheReferenceEvaluator) {
    constexpr std::size_t shards = 8;
    const Json cases = all_cases();
    const Context context;
    for (std::size_t i = GetParam(); i < cases.size() && !HasFailure(); i += shards) {
        const Json& test = cases[i];
        SCOPED_TRACE(test.at("call").get<std::string>() + " " + test.at("arguments").dump() + " " +
                     test.at("inputs").dump().substr(0, 400));
        try {
            try_case(test, context);
        } catch (const Error& error) { ADD_FAILURE() << error.what(); }
    }
}

INSTANTIATE_TEST_SUITE_P(Shards, Onnx, ::testing::Range<std::size_t>(0, 8));

TEST(Onnx, EveryCallHasACase) {
    std::set<std::string> seen;
    for (const Json& test : all_cases()) seen.insert(test.at("call"));
    for (const auto& [name, call] : calls) EXPECT_TRUE(seen.contains(name)) << "no case for " << name;
}

}  // namespace
}  // namespace cairn::test
