// Node cases of ONNX, corrupted at random, and operators with any inputs and attributes: they are imported or refused
// by a cairn::Error.
#include "cairn/error.hpp"
#include "cairn/onnx/import.hpp"
#include "io/onnx_operators/operators.hpp"
#include "tests/io/json_reader/json_mutator.hpp"
#include "tests/io/onnx_file/onnx_bytes.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

std::string bytes_of_model(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Changes one or two bytes to numbers of one byte, which leaves most messages whole: other sizes, attributes, types
/// and names.
std::string with_other_numbers(std::string bytes, Mutator& mutator) {
    for (std::size_t left = 1 + mutator.below(2); left > 0; --left) {
        char& byte = bytes[mutator.below(bytes.size())];
        const std::size_t kind = mutator.below(4);
        byte = static_cast<char>(kind == 0   ? byte + 1
                                 : kind == 1 ? byte - 1
                                 : kind == 2 ? static_cast<char>(mutator.below(4))
                                             : static_cast<char>(mutator.below(128)));
    }
    return bytes;
}

class MutatedImports : public testing::TestWithParam<std::size_t> {};

TEST_P(MutatedImports, AreImportedOrRefused) {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(CAIRN_ONNX_CASES)) folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    const TempFolder temp;
    Mutator mutator(GetParam());
    int imported = 0, rounds = 0;
    // Each shard takes other cases.
    for (std::size_t i = GetParam(); i < folders.size(); i += 8) {
        const std::string whole = bytes_of_model(folders[i] / "model.onnx");
        if (whole.size() > 20'000) continue;
        for (int round = 0; round < 6; ++round, ++rounds) {
            const std::string bytes = round % 3 == 2 ? mutator.mutate(whole) : with_other_numbers(whole, mutator);
            const fs::path file = temp.write("m.onnx", bytes);
            try {
                onnx::import(onnx::Model::open(file), {.unroll_limit = 16});
                ++imported;
            } catch (const InternalError& error) {
                ADD_FAILURE() << folders[i] << " round " << round << ": " << error.what();
            } catch (const Error&) {
            } catch (const std::exception& error) {
                ADD_FAILURE() << folders[i] << " round " << round << ": " << error.what();
            }
        }
    }
    EXPECT_GT(imported, rounds / 40);
    EXPECT_LT(imported, rounds);
}

INSTANTIATE_TEST_SUITE_P(Shards, MutatedImports, testing::Range(std::size_t{0}, std::size_t{8}));

/// Attributes that many operators have.
constexpr std::array<std::string_view, 24> attribute_names{
    "axis",     "axes",  "perm",  "to",   "keepdims",  "kernel_shape", "strides",     "pads",
    "group",    "mode",  "alpha", "k",    "num_heads", "hidden_size",  "batch_dims",  "blocksize",
    "equation", "shape", "value", "size", "dtype",     "block_size",   "num_outputs", "direction"};

Message any_attribute(Mutator& mutator) {
    const std::string_view name = attribute_names[mutator.below(attribute_names.size())];
    constexpr std::array<std::int64_t, 8> numbers{0, 1, -1, 2, 3, 100, INT64_MAX, INT64_MIN};
    const auto number = [&] { return numbers[mutator.below(numbers.size())]; };
    switch (mutator.below(4)) {
        case 0: return Message().text(1, name).float32(2, 0.5F).number(20, 1);
        case 1: return Message().text(1, name).text(4, "constant").number(20, 3);
        case 2: return Message().text(1, name).packed(8, {number(), number()}).number(20, 7);
        default: return attribute(name, number());
    }
}

/// Names of values of every kind: inputs, initializers, and absent.
constexpr std::array<std::string_view, 16> value_names{"",       "x",     "row",   "cube", "ids",   "flags",
                                                       "scalar", "empty", "one",   "list", "minus", "half",
                                                       "bytes",  "names", "large", "truth"};

Message graph_with_all_values(const Message& node) {
    using onnx::ElementType;
    const auto raw = [](std::size_t bytes, char fill = '\1') { return std::string(bytes, fill); };
    Message graph;
    graph.message(1, node);
    graph.message(5, tensor("one", ElementType::i64, {}, std::string("\1\0\0\0\0\0\0\0", 8)));
    graph.message(5, tensor("list", ElementType::i64, {2}, std::string("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16)));
    graph.message(5, tensor("minus", ElementType::i64, {1}, raw(8, '\xff')));
    graph.message(5, tensor("half", ElementType::f32, {}, std::string("\0\0\0\x3f", 4)));
    graph.message(5, tensor("bytes", ElementType::u8, {2, 3}, raw(6)));
    graph.message(5, tensor("large", ElementType::i64, {1}, raw(8, '\x7f')));
    graph.message(5, tensor("truth", ElementType::boolean, {}, raw(1)));
    graph.message(5, tensor("empty", ElementType::f32, {0, 2}, ""));
    graph.message(5, Message().packed(1, {1}).number(2, 8).text(8, "names").text(6, "a"));
    const auto input = [&](std::string_view name, int type, const std::vector<std::string>& dims) {
        Message shape;
        for (const std::string& dim : dims)
            shape.message(
                1, dim[0] >= '0' && dim[0] <= '9' ? Message().number(1, std::stoll(dim)) : Message().text(2, dim));
        graph.message(
            11, Message().text(1, name).message(2, Message().message(1, Message().number(1, type).message(2, shape))));
    };
    input("x", 1, {"2", "3"});
    input("row", 1, {"N"});
    input("cube", 1, {"1", "2", "N", "4"});
    input("ids", 7, {"2", "3"});
    input("flags", 9, {"N"});
    input("scalar", 1, {});
    return graph.message(12, value("y", {}));
}

class EveryOperator : public testing::TestWithParam<std::size_t> {};

TEST_P(EveryOperator, IsImportedOrRefusesItsInputs) {
    const TempFolder temp;
    Mutator mutator(100 + GetParam());
    const std::vector<onnx::Operator> all = onnx::all_operators();
    int imported = 0;
    for (std::size_t i = GetParam(); i < all.size(); i += 4)
        for (int round = 0; round < 20; ++round) {
            std::vector<std::string> inputs;
            for (std::size_t left = mutator.below(8) == 0 ? mutator.below(7) : 1 + mutator.below(3); left > 0; --left)
                inputs.emplace_back(value_names[mutator.below(value_names.size())]);
            std::vector<Message> attributes;
            for (std::size_t left = mutator.below(2); left > 0; --left) attributes.push_back(any_attribute(mutator));
            std::vector<std::string> outputs{"y"};
            if (mutator.below(4) == 0) outputs.emplace_back("y2");
            const Message each = node(all[i].name, inputs, outputs, attributes).text(7, all[i].domain);
            Message whole = Message().number(1, 8).message(7, graph_with_all_values(each));
            whole.message(8, Message().number(2, std::max(7, all[i].since)));
            if (!all[i].domain.empty())
                whole.message(8, Message().text(1, all[i].domain).number(2, std::max(1, all[i].since)));
            const fs::path file = temp.write("m.onnx", whole.bytes());
            try {
                onnx::import(onnx::Model::open(file), {.unroll_limit = 16});
                ++imported;
            } catch (const InternalError& error) {
                ADD_FAILURE() << all[i].name << ": " << error.what();
            } catch (const Error&) {
            } catch (const std::exception& error) { ADD_FAILURE() << all[i].name << ": " << error.what(); }
        }
    EXPECT_GT(imported, 30);
}

INSTANTIATE_TEST_SUITE_P(Shards, EveryOperator, testing::Range(std::size_t{0}, std::size_t{4}));

}  // namespace
}  // namespace cairn::test
