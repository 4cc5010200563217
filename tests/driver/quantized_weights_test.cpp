#include "cairn/cairn.hpp"
#include "graph/types/half.hpp"
#include "tests/driver/relative_distance.hpp"
#include "tests/driver/runs_of_ids.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

/// Weights in blocks of a quantized file: products and embeddings read their codes, which every program shares.
namespace cairn::quantized {
namespace {

constexpr std::int64_t vocabulary = 1000, width = 96, inner = 160;

/// Blocks of q8_0 of a matrix [rows, columns].
Tensor blocks(Graph& g, std::string name, std::int64_t rows, std::int64_t columns) {
    return g.weight(std::move(name), DType::u8, {rows, columns / 32, 34});
}

/// An embedding, two products with gamma between, and the transposed table.
Graph model() {
    Graph g("model");
    const Tensor ids = g.input("ids", DType::i32, {g.symbol("T", 0, 64)});
    const Tensor table = dequantize_q8_0(blocks(g, "table", vocabulary, width));
    const Tensor up = dequantize_q8_0(blocks(g, "up", inner, width));
    const Tensor down = dequantize_q8_0(blocks(g, "down", width, inner));
    const Tensor gamma = g.weight("gamma", DType::f32, {width});
    const Tensor x = gather(table, ids, 0) * gamma;
    const Tensor h = relu(matmul(x, transpose(up, {1, 0})));
    g.output("y", matmul(matmul(h, transpose(down, {1, 0})), transpose(table, {1, 0})));
    return g;
}

using Memory = std::map<std::string, std::vector<std::byte>, std::less<>>;

/// Small codes and scales of powers of two, whose sums are exact in any order.
InputView weight(Memory& memory, std::string_view name) {
    InputView view;
    std::vector<std::byte>& bytes = memory[std::string(name)];
    if (name == "gamma") {
        bytes.resize(width * sizeof(float));
        for (std::int64_t i = 0; i < width; ++i) {
            const float value = i % 2 == 0 ? 2.0f : 0.5f;
            std::memcpy(bytes.data() + i * 4, &value, sizeof value);
        }
        view.shape = {width};
        view.dtype = DType::f32;
    } else {
        view.shape = name == "table" ? std::vector<std::int64_t>{vocabulary, width / 32, 34}
                     : name == "up"  ? std::vector<std::int64_t>{inner, width / 32, 34}
                                     : std::vector<std::int64_t>{width, inner / 32, 34};
        view.dtype = DType::u8;
        const std::size_t count = static_cast<std::size_t>(view.shape[0] * view.shape[1]);
        bytes.resize(count * 34);
        for (std::size_t block = 0; block < count; ++block) {
            const std::uint16_t scale = types::f32_to_f16(block % 3 == 0 ? 0.5f : 1.0f);
            std::memcpy(bytes.data() + block * 34, &scale, sizeof scale);
            for (std::size_t i = 0; i < 32; ++i)
                bytes[block * 34 + 2 + i] = static_cast<std::byte>(static_cast<int>((block * 3 + i * 7) % 5) - 2);
        }
    }
    view.data = bytes.data();
    return view;
}

std::vector<float> results(CompiledGraph& compiled, const PackedFile* packed = nullptr) {
    Memory memory;
    const auto source = [&](std::string_view name) { return weight(memory, name); };
    packed == nullptr ? compiled.bind(source) : compiled.bind(source, *packed);
    return test::outputs_of_ids(compiled, vocabulary);
}

CompileOptions options() {
    CompileOptions options;
    options.splits = {{"T", {1, 12}}};
    return options;
}

Context reference_context() {
    ContextOptions options;
    options.reference_only = true;
    return Context(options);
}

std::vector<float> exact_results() {
    CompiledGraph compiled = compile(model(), reference_context(), options());
    return results(compiled);
}

// All programs and both uses of the table read the same codes: 34 bytes for 32 elements, rows padded to whole panels.
TEST(QuantizedWeights, AreKeptAsCodesThatAllProgramsShare) {
    const Context context;
    CompiledGraph compiled = compile(model(), context, options());
    EXPECT_EQ(compiled.memory().bound, 34 * (1024 * width + 2 * inner * width) / 32) << compiled.explain();
    const std::vector<float> wanted = exact_results();
    ASSERT_EQ(wanted.size(), static_cast<std::size_t>(92 * vocabulary));
    EXPECT_EQ(results(compiled), wanted);

    const test::TempFolder folder;
    compiled.save(folder / "codes.program");
    CompiledGraph loaded = CompiledGraph::load(folder / "codes.program", context);
    EXPECT_EQ(loaded.memory().bound, compiled.memory().bound);
    EXPECT_EQ(results(loaded), wanted);
}

TEST(QuantizedWeights, IntegersAreMultipliedWithinATolerance) {
    const auto has = [](const CompiledGraph& compiled, const char* kernels) {
        return compiled.program().find(kernels) != std::string::npos;
    };
    const Context context({.tile_registers = false});
    const std::vector<float> wanted = exact_results();
    for (const double tolerance : {0.0, 1e-5, 1e-3, 0.3}) {
        CompileOptions loose = options();
        if (tolerance > 0) loose.tolerance = Tolerance::relative(tolerance);
        CompiledGraph compiled = compile(model(), context, loose);
        const bool has_bytes = tolerance == 0.3 && context.features().includes(levels::avx512_vnni);
        EXPECT_EQ(has(compiled, " cpu.panel_i8_"), has_bytes) << tolerance << compiled.explain();
        if (!has_bytes) { EXPECT_EQ(has(compiled, " cpu.panel_i16_"), tolerance >= 1e-3) << tolerance; }
        const std::vector<float> got = results(compiled);
        ASSERT_EQ(got.size(), wanted.size());
        const double error = test::relative_distance(got, wanted);
        EXPECT_EQ(error > 0, tolerance >= 1e-3) << "rows are rounded";
        EXPECT_LT(error, has_bytes ? 0.05 : 1e-3);
        EXPECT_EQ(compiled.verified_errors().empty(), error == 0);
        for (const VerifiedError& row : compiled.verified_errors()) {
            EXPECT_TRUE(row.verified && !row.fell_back) << row.bucket << row.error;
            EXPECT_LE(row.error, row.expected);
        }
    }
}

TEST(QuantizedWeights, TileRegistersMultiplyBf16Parts) {
    const Context context;
    const bool has_tiles = context.features().includes(levels::amx_bf16);
    const std::vector<float> wanted = exact_results();
    for (const double tolerance : {0.0, 1e-3, 0.3}) {
        CompileOptions loose = options();
        if (tolerance > 0) loose.tolerance = Tolerance::relative(tolerance);
        CompiledGraph compiled = compile(model(), context, loose);
        const std::string kernels = tolerance == 0     ? " cpu.panel_bf16x6_"
                                    : tolerance < 0.01 ? " cpu.panel_bf16x3_"
                                                       : " cpu.panel_bf16_";
        EXPECT_EQ(compiled.program().find(kernels) != std::string::npos, has_tiles) << tolerance << compiled.explain();
        const std::vector<float> got = results(compiled);
        ASSERT_EQ(got.size(), wanted.size());
        EXPECT_LE(test::relative_distance(got, wanted), tolerance == 0 ? 0 : tolerance / 10);
        for (const VerifiedError& row : compiled.verified_errors()) {
            EXPECT_TRUE(row.verified && !row.fell_back) << row.bucket << row.error;
            EXPECT_LE(row.error, row.expected);
        }
    }
}

TEST(QuantizedWeights, ThePackedFileKeepsTheCodes) {
    const test::TempFolder folder;
    const PackedFile file{folder / "weights.packed", "version 1"};
    const std::vector<float> wanted = exact_results();
    for (const bool is_first : {true, false}) {
        CompiledGraph compiled = compile(model(), Context(), options());
        EXPECT_EQ(results(compiled, &file), wanted) << is_first;
    }
    const auto bytes = std::filesystem::file_size(file.path);
    EXPECT_LT(bytes, 34 * (1024 * width + 2 * inner * width) / 32 + 16384);
}

TEST(QuantizedWeights, AreWidenedWithoutPacking) {
    CompileOptions plain = options();
    plain.disable = {"pack"};
    CompiledGraph compiled = compile(model(), Context(), plain);
    EXPECT_GE(compiled.memory().bound, 4 * (vocabulary * width + 2 * inner * width));
    EXPECT_EQ(results(compiled), exact_results());
}

// Blocks along the rows of the weight [K, N], and stacked matrices, have no layout of codes.
TEST(QuantizedWeights, OtherMatricesAreWidened) {
    Graph g("others");
    const Tensor x = g.input("x", DType::f32, {g.symbol("T", 1, 20), 64}), w = dequantize_q8_0(blocks(g, "w", 64, 96));
    const Tensor stacked = dequantize_q8_0(g.weight("stacked", DType::u8, {2, 96, 2, 34}));
    g.output("plain", matmul(x, w));
    g.output("first", matmul(x, transpose(squeeze(slice(stacked, 0, 0, 1), {0}), {1, 0})));
    Memory memory;
    const auto bind = [&](std::string_view name) {
        InputView view = weight(memory, "table");
        view.shape = name == "w" ? std::vector<std::int64_t>{64, 3, 34} : std::vector<std::int64_t>{2, 96, 2, 34};
        return view;
    };
    CompiledGraph compiled = compile(g, Context()), exact = compile(g, reference_context());
    for (CompiledGraph* each : {&compiled, &exact}) {
        each->bind(bind);
        std::vector<float> values(7 * 64);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 9) - 4;
        each->set("x", values.data(), {7, 64});
        each->run();
    }
    for (const char* name : {"plain", "first"}) {
        const auto made = compiled.output(name).as<float>(), wanted = exact.output(name).as<float>();
        EXPECT_TRUE(std::equal(made.begin(), made.end(), wanted.begin(), wanted.end())) << name;
    }
}

/// A type of GGUF blocks, and the bytes in which a program keeps 32 of its elements.
struct TypeOfBlocks {
    const char* name;
    std::int64_t bytes, elements, kept;
};

class BlocksOfAFile : public testing::TestWithParam<TypeOfBlocks> {};

// Any bytes: every code, and scales of all magnitudes, with NaN and infinities among them.
TEST_P(BlocksOfAFile, KeepTheirElementsInPanelsOfCodes) {
    constexpr std::int64_t rows = 64, blocks = 8;
    const TypeOfBlocks& type = GetParam();
    const std::int64_t columns = blocks * type.elements;
    Graph g("blocks");
    const Tensor table = dequantize(g.weight("w", DType::u8, {rows, blocks, type.bytes}), type.name);
    const Tensor ids = g.input("ids", DType::i32, {rows}),
                 x = g.input("x", DType::f32, {g.symbol("T", 1, 20), columns});
    g.output("rows", gather(table, ids, 0));
    g.output("y", matmul(x, transpose(table, {1, 0})));
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(rows * blocks * type.bytes));
    std::uint32_t state = 1;
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
    std::vector<std::int32_t> order(rows);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i * 5 % rows);

    CompileOptions small;
    small.seconds_per_kept_byte = 1e-6;
    CompiledGraph compiled = compile(g, Context(), small), exact = compile(g, reference_context());
    EXPECT_EQ(compiled.memory().bound, rows * columns / 32 * type.kept) << compiled.explain();
    for (CompiledGraph* each : {&compiled, &exact}) {
        each->bind([&](std::string_view) {
            InputView view;
            view.data = bytes.data();
            view.shape = {rows, blocks, type.bytes};
            view.dtype = DType::u8;
            return view;
        });
        each->set("ids", order.data(), {rows});
    }
    for (const std::int64_t count : {1, 5, 20}) {
        std::vector<float> values(static_cast<std::size_t>(count * columns));
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 17) / 8 - 1;
        for (CompiledGraph* each : {&compiled, &exact}) {
            each->set("x", values.data(), {count, columns});
            each->run();
        }
        const auto made = compiled.output("rows").as<float>(), wanted = exact.output("rows").as<float>();
        for (std::size_t i = 0; i < wanted.size(); ++i)
            if (std::isnan(wanted[i]))
                EXPECT_TRUE(std::isnan(made[i])) << i;
            else
                EXPECT_EQ(std::bit_cast<std::uint32_t>(made[i]), std::bit_cast<std::uint32_t>(wanted[i])) << i;
        const auto y = compiled.output("y").as<float>(), exact_y = exact.output("y").as<float>();
        for (std::size_t i = 0; i < y.size(); ++i) {
            const std::size_t row = i % rows,
                              position = static_cast<std::size_t>(
                                  std::find(order.begin(), order.end(), static_cast<std::int32_t>(row)) -
                                  order.begin());
            double magnitude = 0;
            for (std::size_t k = 0; k < static_cast<std::size_t>(columns); ++k)
                magnitude += std::fabs(static_cast<double>(wanted[position * static_cast<std::size_t>(columns) + k]) *
                                       values[i / rows * static_cast<std::size_t>(columns) + k]);
            if (magnitude > 1e38) continue;  // the order of sums decides whether they overflow
            if (!std::isfinite(exact_y[i]))
                EXPECT_TRUE(std::isnan(exact_y[i]) ? std::isnan(y[i]) : y[i] == exact_y[i]) << i;
            else
                EXPECT_NEAR(y[i], exact_y[i], 2e-6 * magnitude) << i;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Types, BlocksOfAFile,
                         testing::Values(TypeOfBlocks{"Q8_0", 34, 32, 34}, TypeOfBlocks{"Q4_0", 18, 32, 18},
                                         TypeOfBlocks{"Q4_1", 20, 32, 24}, TypeOfBlocks{"Q5_0", 22, 32, 34},
                                         TypeOfBlocks{"Q5_1", 24, 32, 40}, TypeOfBlocks{"Q2_K", 84, 256, 32},
                                         TypeOfBlocks{"Q3_K", 110, 256, 40}, TypeOfBlocks{"Q4_K", 144, 256, 24},
                                         TypeOfBlocks{"Q5_K", 176, 256, 40}, TypeOfBlocks{"Q6_K", 210, 256, 40},
                                         TypeOfBlocks{"IQ4_NL", 18, 32, 34}, TypeOfBlocks{"MXFP4", 17, 32, 40}),
                         [](const auto& info) { return std::string(info.param.name); });

// A locked choice holds the layout of the codes too.
TEST(QuantizedWeights, AreReplayedFromALock) {
    const test::TempFolder folder;
    CompiledGraph compiled = compile(model(), Context(), options());
    compiled.write_lock(folder / "model.lock");
    CompileOptions locked = options();
    locked.mode = Mode::replay;
    locked.lock = folder / "model.lock";
    CompiledGraph again = compile(model(), Context(), locked);
    EXPECT_EQ(again.memory().bound, compiled.memory().bound);
    EXPECT_EQ(results(again), exact_results());
}

}  // namespace
}  // namespace cairn::quantized
