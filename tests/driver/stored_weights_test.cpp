#include "cairn/cairn.hpp"
#include "graph/types/half.hpp"
#include "tests/driver/runs_of_ids.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

/// Weights stored in 16 bits: packed in 16 bits, shared by all buckets, with the same values as in f32.
namespace cairn {
namespace {

constexpr std::int64_t width = 96, inner = 160, vocabulary = 1000;

/// An embedding, two products, and the transposed table.
Graph model(DType stored) {
    Graph g("model");
    const auto wide = [&](const Tensor& x) { return stored == DType::f32 ? x : cast(x, DType::f32); };
    const Tensor ids = g.input("ids", DType::i32, {g.symbol("T", 0, 64)});
    const Tensor table = g.weight("table", stored, {vocabulary, width});
    const Tensor up = wide(g.weight("up", stored, {width, inner}));
    const Tensor down = wide(g.weight("down", stored, {inner, width}));
    const Tensor h = relu(matmul(gather(wide(table), ids, 0), up));
    g.output("y", matmul(matmul(h, down), wide(transpose(table, {1, 0}))));
    return g;
}

using Memory = std::map<std::string, std::vector<std::byte>, std::less<>>;

/// Small integers, whose sums are exact in any order.
void bind(CompiledGraph& compiled, DType stored, Memory& memory) {
    compiled.bind([&](std::string_view name) {
        const std::vector<std::int64_t> shape = name == "table" ? std::vector{vocabulary, width}
                                                : name == "up"  ? std::vector{width, inner}
                                                                : std::vector{inner, width};
        std::vector<std::byte>& bytes = memory[std::string(name)];
        const std::size_t size = size_of(stored);
        bytes.resize(static_cast<std::size_t>(shape[0] * shape[1]) * size);
        for (std::size_t i = 0; i * size < bytes.size(); ++i) {
            const float value = static_cast<float>(i * 7 % 5) - 2;
            const std::uint16_t half = stored == DType::f16 ? types::f32_to_f16(value) : types::f32_to_bf16(value);
            if (stored == DType::f32)
                std::memcpy(bytes.data() + i * size, &value, size);
            else
                std::memcpy(bytes.data() + i * size, &half, size);
        }
        InputView view;
        view.data = bytes.data();
        view.shape = shape;
        view.dtype = stored;
        return view;
    });
}

std::vector<float> results(CompiledGraph& compiled, DType stored) {
    Memory memory;
    bind(compiled, stored, memory);
    return test::outputs_of_ids(compiled, vocabulary);
}

class StoredWeights : public testing::TestWithParam<DType> {};

TEST_P(StoredWeights, UseHalfTheBytesOfEqualWeights) {
    const Context context;
    CompileOptions options;
    options.splits = {{"T", {1, 12}}};
    CompiledGraph wide = compile(model(DType::f32), context, options);
    CompiledGraph narrow = compile(model(GetParam()), context, options);
    // The vocabulary ends within a panel, which is padded.
    EXPECT_EQ(narrow.memory().bound, 2 * (1024 * width + 2 * width * inner)) << narrow.explain();
    const std::vector<float> wanted = results(wide, DType::f32);
    EXPECT_EQ(wanted.size(), static_cast<std::size_t>(92 * vocabulary));
    EXPECT_EQ(results(narrow, GetParam()), wanted);

    const test::TempFolder folder;
    narrow.save(folder / "narrow.program");
    CompiledGraph loaded = CompiledGraph::load(folder / "narrow.program", context);
    EXPECT_EQ(loaded.memory().bound, narrow.memory().bound);
    EXPECT_EQ(results(loaded, GetParam()), wanted);
}

INSTANTIATE_TEST_SUITE_P(HalfDtypes, StoredWeights, testing::Values(DType::f16, DType::bf16),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace cairn
