#include "cairn/cairn.hpp"
#include "graph/types/half.hpp"
#include "tests/io/weights/expect_error.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// Matrices of GPTQ and AWQ, packed here bit by bit as their files are.
namespace cairn::test {
namespace {

constexpr std::int64_t rows = 96, columns = 16, groups = 3;

/// Random codes, zeros and scales, and what they mean.
struct Quantized {
    int bits;
    std::vector<int> codes, zeros, group_of_row;
    std::vector<std::uint16_t> scales;

    Quantized(int bits, bool is_in_order) : bits(bits) {
        std::uint32_t state = 7;
        const auto next = [&](int below) {
            state = state * 1664525 + 1013904223;
            return static_cast<int>((state >> 16) % static_cast<std::uint32_t>(below));
        };
        for (std::int64_t i = 0; i < rows * columns; ++i) codes.push_back(next(1 << bits));
        for (std::int64_t i = 0; i < groups * columns; ++i) {
            zeros.push_back(next(1 << bits));
            scales.push_back(types::f32_to_f16(static_cast<float>(next(2000) - 1000) / 4096));
        }
        for (std::int64_t k = 0; k < rows; ++k)
            group_of_row.push_back(is_in_order ? static_cast<int>(k / (rows / groups)) : next(groups));
    }
    std::vector<float> elements(int added_to_zeros) const {
        std::vector<float> found;
        for (std::int64_t k = 0; k < rows; ++k)
            for (std::int64_t n = 0; n < columns; ++n) {
                const auto g = static_cast<std::size_t>(group_of_row[static_cast<std::size_t>(k)] * columns + n);
                const int code = codes[static_cast<std::size_t>(k * columns + n)];
                found.push_back(static_cast<float>(code - zeros[g] - added_to_zeros) * types::f16_to_f32(scales[g]));
            }
        return found;
    }
};

/// Puts each code of a matrix [R, C] at its bit: `place(r, c)` gives the index of its word and the position in it.
template <typename F>
std::vector<std::int32_t> packed(const std::vector<int>& codes, std::int64_t width, int bits, F place) {
    std::vector<std::uint32_t> words(codes.size() * static_cast<std::size_t>(bits) / 32);
    for (std::size_t i = 0; i < codes.size(); ++i) {
        const auto [word, position] = place(static_cast<std::int64_t>(i) / width, static_cast<std::int64_t>(i) % width);
        words[static_cast<std::size_t>(word)] |= static_cast<std::uint32_t>(codes[i])
                                                 << (bits * static_cast<int>(position));
    }
    return {words.begin(), words.end()};
}

using Place = std::pair<std::int64_t, std::int64_t>;
auto by_rows(int bits) {
    return [bits](std::int64_t r, std::int64_t c) { return Place(r / (32 / bits) * columns + c, r % (32 / bits)); };
}
auto by_columns(int bits) {
    return [bits](std::int64_t r, std::int64_t c) { return Place((r * columns + c) / (32 / bits), c % (32 / bits)); };
}
/// Nibble i of a word of AWQ is column 0, 2, 4, 6, 1, 3, 5, 7 of its eight.
Place of_awq(std::int64_t r, std::int64_t c) { return {(r * columns + c) / 8, c % 8 / 2 + c % 2 * 4}; }

/// The elements that a graph computes of these weights.
std::vector<float> computed(const Graph& g, const std::map<std::string, InputView, std::less<>>& weights,
                            const CompileOptions& options) {
    CompiledGraph compiled = compile(g, Context(), options);
    compiled.bind([&](std::string_view name) { return weights.find(name)->second; });
    compiled.run();
    const auto found = compiled.output("y").as<float>();
    return {found.begin(), found.end()};
}

InputView view(DType dtype, std::vector<std::int64_t> shape, const void* data) {
    InputView made;
    made.dtype = dtype, made.shape = std::move(shape), made.data = data;
    return made;
}

TEST(DequantizeWords, OfGptqGiveItsElements) {
    for (const int bits : {2, 4, 8})
        for (const bool is_in_order : {true, false})
            for (const bool less_by_one : {true, false})
                for (const CompileOptions& options :
                     {CompileOptions(), CompileOptions{.disable = {"simplify", "expand", "fuse", "elementwise"}}}) {
                    const Quantized q(bits, is_in_order);
                    const std::int64_t in_word = 32 / bits;
                    const auto codes = packed(q.codes, columns, bits, by_rows(bits)),
                               zeros = packed(q.zeros, columns, bits, by_columns(bits));
                    const std::vector<std::int32_t> of_rows(q.group_of_row.begin(), q.group_of_row.end());
                    Graph g;
                    const Tensor c = g.weight("codes", DType::i32, {rows / in_word, columns}),
                                 z = g.weight("zeros", DType::i32, {groups, columns / in_word}),
                                 s = g.weight("scales", DType::f16, {groups, columns});
                    const GptqFormat format{bits, less_by_one};
                    g.output("y", is_in_order
                                      ? dequantize_gptq(c, z, s, format)
                                      : dequantize_gptq(c, z, s, g.weight("groups", DType::i32, {rows}), format));
                    const auto found = computed(g,
                                                {{"codes", view(DType::i32, {rows / in_word, columns}, codes.data())},
                                                 {"zeros", view(DType::i32, {groups, columns / in_word}, zeros.data())},
                                                 {"scales", view(DType::f16, {groups, columns}, q.scales.data())},
                                                 {"groups", view(DType::i32, {rows}, of_rows.data())}},
                                                options);
                    EXPECT_EQ(found, q.elements(less_by_one ? 1 : 0)) << bits << is_in_order << less_by_one;
                }
}

TEST(DequantizeWords, OfAwqGiveItsElements) {
    const Quantized q(4, true);
    const auto codes = packed(q.codes, columns, 4, of_awq), zeros = packed(q.zeros, columns, 4, of_awq);
    Graph g;
    g.output("y", dequantize_awq(g.weight("codes", DType::i32, {rows, columns / 8}),
                                 g.weight("zeros", DType::i32, {groups, columns / 8}),
                                 g.weight("scales", DType::f16, {groups, columns})));
    EXPECT_EQ(computed(g,
                       {{"codes", view(DType::i32, {rows, columns / 8}, codes.data())},
                        {"zeros", view(DType::i32, {groups, columns / 8}, zeros.data())},
                        {"scales", view(DType::f16, {groups, columns}, q.scales.data())}},
                       {}),
              q.elements(0));
}

TEST(DequantizeWords, WrongOperandsAreNamed) {
    Graph g;
    const Tensor codes = g.weight("codes", DType::i32, {12, 16}), zeros = g.weight("zeros", DType::i32, {3, 2}),
                 scales = g.weight("scales", DType::f16, {3, 16}), groups = g.weight("groups", DType::i32, {95}),
                 floats = g.weight("floats", DType::f32, {12, 16}), narrow = g.weight("narrow", DType::i32, {3, 4});
    const auto refused = [](auto call, const std::string& text) {
        try {
            call();
            ADD_FAILURE() << "no error: " << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::graph);
            EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
            EXPECT_NE(std::string(error.what()).find("dequantize_words_test.cpp:"), std::string::npos) << error.what();
        }
    };
    refused(
        [&] {
            dequantize_gptq(codes, zeros, scales, GptqFormat{3, true});
        },
        "[dequantize_gptq] knows codes of 2, 4 and 8 bits: 3 bits");
    refused([&] { dequantize_gptq(floats, zeros, scales); },
            "needs codes and zeros of i32 and scales of floats: codes f32[12,16], zeros i32[3,2], scales f16[3,16]");
    refused([&] { dequantize_gptq(codes, narrow, scales); }, "needs zeros i32[G,N/8] for scales [G,N]");
    refused([&] { dequantize_gptq(zeros, zeros, scales); }, "needs codes i32[K/8,N] for scales [G,N]: codes i32[3,2]");
    refused([&] { dequantize_gptq(codes, zeros, scales, groups); },
            "needs the group of each of 96 rows as i32: groups i32[95]");
    const Tensor five = g.weight("five", DType::f16, {5, 16}), of_five = g.weight("of_five", DType::i32, {5, 2});
    refused([&] { dequantize_gptq(codes, of_five, five); },
            "needs rows in equal groups, or the group of each: 96 rows, scales f16[5,16]");
    refused([&] { dequantize_awq(codes, zeros, scales); }, "[dequantize_awq] needs codes i32[K,N/8] for scales [G,N]");
    refused([&] { dequantize_awq(g.weight("cube", DType::i32, {2, 3, 4}), zeros, scales); }, "needs matrices");
}

}  // namespace
}  // namespace cairn::test
