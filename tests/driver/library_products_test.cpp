#include "accuracy/kernel_check/check_kernels.hpp"
#include "cairn/cairn.hpp"
#include "device/context_impl.hpp"
#include "tests/driver/emulated_device.hpp"
#include "tests/errors/message.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

// Products by cuBLASLt, for which a stand-in computes: against their definitions, in programs with sizes that change,
// with and without captured graphs, without the library, and with calls that fail.
namespace cairn::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char *matmul_call = "cublasLtMatmul", *update_graph = "cuGraphExecUpdate_v2",
                     *instantiate = "cuGraphInstantiateWithFlags";

EmulatedDeviceOptions with_library() {
    EmulatedDeviceOptions options;
    options.has_cublaslt = true;
    return options;
}

class LibraryProducts : public testing::Test {
protected:
    LibraryProducts() {
        path = std::filesystem::path(CAIRN_BINARY_DIR) /
               (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + "_cublaslt.db");
        std::filesystem::remove(path);
    }
    void TearDown() override {
        context.reset();
        EXPECT_THAT(device.faults(), IsEmpty());
    }
    /// A Context in which products are computed by the library alone.
    const Context& pinned(ContextOptions options = {}, const std::string& kernel = "cuda.cublaslt.*") {
        options.timing_db = path;
        for (const char* problems : {"matmul | *", "fused *"})
            TimingDb(path).add_rule({kernel, problems, RuleAction::pin, "of this test"});
        context.emplace(device.context(std::move(options)));
        return *context;
    }
    const Kernel& kernel(const std::string& id) const { return *context->impl()->find(id); }
    std::string refusal(const std::string& id, const std::string& text) {
        if (!context) context.emplace(device.context());
        const auto symbols = Symbols::create();
        return kernel(id).accepts(parse_problem(text, *symbols));
    }

    EmulatedDevice device{with_library()};
    std::optional<Context> context;
    std::filesystem::path path;
};

/// Random numbers of a dtype that has them exactly.
std::vector<float> random_numbers(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<float> numbers(count);
    for (float& number : numbers) number = static_cast<float>(static_cast<int>(random() % 255) - 127) / 64.0F;
    return numbers;
}

/// `x w + b`, relu or not, in float64: `w` is [depth, columns].
std::vector<double> product(const std::vector<float>& x, const std::vector<float>& w, std::size_t depth,
                            const std::vector<float>& bias = {}) {
    const std::size_t rows = x.size() / depth, columns = w.size() / depth;
    std::vector<double> y(rows * columns);
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c) {
            for (std::size_t k = 0; k < depth; ++k)
                y[r * columns + c] += static_cast<double>(x[r * depth + k]) * w[k * columns + c];
            if (!bias.empty()) y[r * columns + c] = std::max(0.0, y[r * columns + c] + bias[c]);
        }
    return y;
}

constexpr std::size_t depth = 37, columns = 29;

/// `y = x w` for T rows; `z = relu(x w + b)` if `is_fused`.
Graph product_graph(bool is_fused = false) {
    Graph g("product");
    const Tensor x = g.input("x", DType::f32, {g.symbol("T", 0, 70), depth});
    const Tensor y = matmul(x, g.weight("w", DType::f32, {depth, columns}));
    g.output("y", is_fused ? relu(y + g.weight("b", DType::f32, {columns})) : y);
    return g;
}

struct Weights {
    std::vector<float> w = random_numbers(depth * columns, 1), b = random_numbers(columns, 2);

    void bind(CompiledGraph& compiled) const {
        compiled.bind([this](std::string_view name) {
            InputView view;
            view.data = name == "w" ? w.data() : b.data();
            view.shape = name == "w" ? std::vector<std::int64_t>{depth, columns} : std::vector<std::int64_t>{columns};
            return view;
        });
    }
};

std::vector<float> run(CompiledGraph& compiled, std::int64_t rows) {
    const std::vector<float> x = random_numbers(static_cast<std::size_t>(rows) * depth, 3);
    compiled.set("x", x.data(), {rows, depth});
    compiled.run();
    const auto y = compiled.output("y").as<float>();
    return {y.begin(), y.end()};
}

void expect_product(const std::vector<float>& y, std::int64_t rows, const Weights& weights, bool is_fused) {
    const std::vector<double> wanted = product(random_numbers(static_cast<std::size_t>(rows) * depth, 3), weights.w,
                                               depth, is_fused ? weights.b : std::vector<float>());
    ASSERT_EQ(y.size(), wanted.size());
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], wanted[i], 1e-4) << i;
}

TEST_F(LibraryProducts, EachRowComputesItsDefinition) {
    context.emplace(device.context());
    std::vector<kernel_check::KernelToCheck> kernels;
    std::map<std::string, int> settings;
    for (const Kernel& each : context->kernels().kernels) {
        if (!each.id.starts_with("cuda.cublaslt")) continue;
        const std::string id = each.id.substr(0, each.id.find('{'));
        ++settings[id];
        kernel_check::KernelToCheck& request = kernels.emplace_back(
            each, CheckOptions{.size_stride = each.id == id ? std::size_t{2} : std::size_t{6}},
            kernel_check::backend_of(each, *context->impl()), &context->impl()->cpu->host_threads());
        // The settings differ in the algorithm alone.
        if (each.id != id) request.kernel.samples.resize(1);
    }
    EXPECT_EQ(settings.size(), 8U);
    for (const auto& [id, count] : settings) EXPECT_EQ(count, 4) << id;
    for (const KernelReport& report : kernel_check::check_kernels(kernels, context->kernels().definitions)) {
        for (const std::string& fault : report.faults) ADD_FAILURE() << fault;
        EXPECT_GE(report.runs, 3) << report.kernel;
        EXPECT_EQ(report.not_checked, "");
    }
    const std::vector<std::uint64_t> used = device.cublaslt().algorithms();
    for (const std::uint64_t algorithm : {0, 1, 2}) EXPECT_THAT(used, Contains(algorithm));
    EXPECT_THAT(used, Each(testing::Le(2U))) << "of three proposals the fourth setting takes the last";
}

TEST_F(LibraryProducts, ProgramsOfChangingSizesGiveTheSameBitsInGraphsAndOneByOne) {
    const Weights weights;
    for (const bool is_fused : {false, true}) {
        std::vector<std::vector<float>> results[2];
        for (const bool graphs : {true, false}) {
            CompiledGraph compiled =
                compile(product_graph(is_fused), pinned({.cuda_graphs = graphs}), {.mode = Mode::cached});
            ASSERT_THAT(compiled.program(), HasSubstr("cuda.cublaslt." + std::string(is_fused ? "fused" : "matmul")));
            weights.bind(compiled);
            for (const std::int64_t rows : {3, 70, 0, 1, 3, 3, 33, 0, 2}) {
                SCOPED_TRACE(rows);
                results[graphs].push_back(run(compiled, rows));
                expect_product(results[graphs].back(), rows, weights, is_fused);
            }
        }
        EXPECT_EQ(results[0], results[1]);
    }
}

TEST_F(LibraryProducts, ARunThatChangesNothingCallsTheLibraryNotAgain) {
    const Weights weights;
    CompiledGraph compiled = compile(product_graph(), pinned(), {.mode = Mode::cached});
    weights.bind(compiled);
    run(compiled, 3);
    device.cublaslt().clear_calls();
    device.driver().clear_calls();
    for (int repeat = 0; repeat < 3; ++repeat) run(compiled, 3);
    EXPECT_THAT(device.cublaslt().calls(), IsEmpty());
    run(compiled, 5);
    EXPECT_EQ(device.cublaslt().count(matmul_call), 1);
    EXPECT_EQ(device.driver().count(update_graph), 1);
    EXPECT_EQ(device.driver().count(instantiate), 0);
    run(compiled, 5);
    EXPECT_EQ(device.cublaslt().count(matmul_call), 1);
}

TEST_F(LibraryProducts, RandomProductsAreRight) {
    std::mt19937_64 random(7);
    int by_library = 0;
    for (int trial = 0; trial < 24; ++trial) {
        const auto size = [&](std::int64_t most) {
            return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
        };
        const std::int64_t batches = trial % 3 == 0 ? 1 : size(4), m = trial % 5 == 0 ? 1 : size(40),
                           k = trial % 7 == 0 ? 1 : size(50), n = trial % 4 == 0 ? 1 : size(40);
        const bool a_transposed = random() % 2 == 0, b_transposed = random() % 2 == 0;
        SCOPED_TRACE(std::to_string(batches) + " of " + std::to_string(m) + ',' + std::to_string(k) + ',' +
                     std::to_string(n) + (a_transposed ? " a" : "") + (b_transposed ? " b" : ""));
        Graph g("random");
        const auto input = [&](const char* name, std::int64_t rows, std::int64_t width, bool is_transposed) {
            const Tensor given =
                g.input(name, DType::f32, {batches, is_transposed ? width : rows, is_transposed ? rows : width});
            return is_transposed ? transpose(given, {0, 2, 1}) : given;
        };
        g.output("y", matmul(input("a", m, k, a_transposed), input("b", k, n, b_transposed)));
        CompiledGraph compiled = compile(g, pinned(), {.mode = Mode::cached});
        // A product of vectors may also be something else than a product.
        if (compiled.program().find("cuda.cublaslt.matmul") != std::string::npos) ++by_library;
        const std::vector<float> a = random_numbers(static_cast<std::size_t>(batches * m * k), 1),
                                 b = random_numbers(static_cast<std::size_t>(batches * k * n), 2);
        compiled.set("a", a.data(), {batches, a_transposed ? k : m, a_transposed ? m : k});
        compiled.set("b", b.data(), {batches, b_transposed ? n : k, b_transposed ? k : n});
        compiled.run();
        const auto y = compiled.output("y").as<float>();
        for (std::int64_t batch = 0; batch < batches; ++batch)
            for (std::int64_t row = 0; row < m; ++row)
                for (std::int64_t column = 0; column < n; ++column) {
                    double sum = 0;
                    for (std::int64_t i = 0; i < k; ++i)
                        sum += static_cast<double>(a[static_cast<std::size_t>(
                                   batch * m * k + (a_transposed ? i * m + row : row * k + i))]) *
                               b[static_cast<std::size_t>(batch * k * n +
                                                          (b_transposed ? column * k + i : i * n + column))];
                    ASSERT_NEAR(y[static_cast<std::size_t>((batch * m + row) * n + column)], sum, 1e-4);
                }
    }
    EXPECT_GE(by_library, 18);
}

TEST_F(LibraryProducts, RoundedProductsNeedATolerance) {
    EXPECT_THAT(compile(product_graph(), pinned({}, "cuda.cublaslt_tf32.*"), {.mode = Mode::cached}).program(),
                Not(HasSubstr("cublaslt_tf32")));
    EXPECT_EQ(kernel("cuda.cublaslt_tf32.matmul.f32@1").error(Problem()), 0x1p-10);
}

TEST_F(LibraryProducts, ProductsOf16BitsAreComputedByTheirOwnRows) {
    for (const DType dtype : {DType::f16, DType::bf16}) {
        Graph g("half");
        const Tensor x = g.input("x", dtype, {g.symbol("T", 1, 20), 24});
        g.output("y", matmul(x, g.weight("w", dtype, {24, 16})));
        EXPECT_THAT(compile(g, pinned(), {.mode = Mode::cached}).program(),
                    HasSubstr("cuda.cublaslt.matmul." + std::string(to_string(dtype))));
    }
}

TEST_F(LibraryProducts, ARowSaysWhyItDoesNotAcceptAProblem) {
    const auto plain = [&](const std::string& problem) { return refusal("cuda.cublaslt.matmul.f32@1", problem); };
    const auto fused = [&](const std::string& problem) { return refusal("cuda.cublaslt.fused.f32@1", problem); };
    EXPECT_EQ(plain("matmul | f32[3,4] f32[4,5] -> f32[3,5]"), "");
    EXPECT_EQ(plain("matmul | f16[3,4] f16[4,5] -> f16[3,5]"), "needs operands of f32");
    EXPECT_EQ(plain("matmul | f32[3,4] f16[4,5] -> f32[3,5]"), "needs operands of f32");
    EXPECT_EQ(plain("matmul | f32[3,K] f32[K,5] -> f32[3,5] where K in 0..9"), "needs a depth of at least 1");
    EXPECT_EQ(plain("matmul | f32[3,4]:(8,2) f32[4,5] -> f32[3,5]"),
              "needs factors in order of rows or columns, without overlap");
    EXPECT_EQ(plain("matmul | f32[3,4]:(1,1) f32[4,5] -> f32[3,5]"),
              "needs factors in order of rows or columns, without overlap");
    EXPECT_EQ(plain("matmul | f32[3,4] f32[4,5] -> f32[3,5]:(1,3)"), "needs an output in order of rows");
    EXPECT_EQ(plain("matmul | f32[2,3,4,5]:(100,20,5,1) f32[2,3,5,6] -> f32[2,3,4,6]"), "needs batches at one stride");
    EXPECT_EQ(plain("matmul | f32[2,3,5]:(40,5,1) f32[2,5,6]:(0,6,1) -> f32[2,3,6]"), "needs rows at one stride");
    EXPECT_EQ(plain("matmul | f32[2,3,5] f32[2,5,6]:(0,6,1) -> f32[2,3,6]"), "");
    const std::string bias = "needs a body of a product, a bias and perhaps relu or gelu_tanh";
    EXPECT_EQ(
        fused("fused {3=matmul(0,1):f32 4=add(3,2):f32} | f32[3,4] f32[4,5] f32[3,5]:(0,1) -> f32[3,5] results (4)"),
        "");
    EXPECT_EQ(fused("fused {3=matmul(0,1):f32 4=add(3,2):f32} | f32[3,4] f32[4,5] f32[3,5] -> f32[3,5] results (4)"),
              "needs a bias that is one row without gaps");
    EXPECT_EQ(
        fused("fused {3=matmul(0,1):f32 4=mul(3,2):f32} | f32[3,4] f32[4,5] f32[3,5]:(0,1) -> f32[3,5] results (4)"),
        bias);
    EXPECT_EQ(fused("fused {3=matmul(0,1):f32 4=add(3,2):f32 5=gelu(4):f32} | f32[3,4] f32[4,5] f32[3,5]:(0,1) -> "
                    "f32[3,5] results (5)"),
              bias);
    EXPECT_EQ(fused("fused {3=matmul(0,1):f32 4=add(3,2):f32 5=relu(3):f32} | f32[3,4] f32[4,5] f32[3,5]:(0,1) -> "
                    "f32[3,5] results (5)"),
              bias);
    EXPECT_EQ(fused("fused {2=matmul(0,1):f32 3=relu(2):f32} | f32[3,4] f32[4,5] -> f32[3,5] results (3)"), bias);
    EXPECT_EQ(fused("fused columns=(0) {3=matmul(0,1):f32 4=add(3,2):f32} | f32[3,4] f32[4,5] f32[3,5]:(0,1) -> "
                    "f32[3,5] results (4)"),
              "needs two factors and one output with all columns");
}

TEST_F(LibraryProducts, NothingIsAskedForAProgramWithoutProducts) {
    context.emplace(device.context());
    Graph g("plain");
    g.output("y", exp(g.input("x", DType::f32, {8})));
    (void)compile(g, *context);
    EXPECT_THAT(device.cublaslt().calls(), IsEmpty());
    (void)compile(product_graph(), *context);
    EXPECT_EQ(device.cublaslt().count("cublasLtCreate"), 1);
}

TEST_F(LibraryProducts, EstimatedTimesDependOnTiles) {
    context.emplace(device.context());
    const auto operations = [&](const std::string& text) {
        const auto symbols = Symbols::create();
        return kernel("cuda.cublaslt.matmul.f32@1").cost(parse_problem(text, *symbols)).flops;
    };
    const double whole = operations("matmul | f32[1408,64] f32[64,1536] -> f32[1408,1536]");
    EXPECT_NEAR(whole / (2.0 * 1408 * 64 * 1536), 1, 0.01) << "132 tiles";
    EXPECT_NEAR(operations("matmul | f32[128,64] f32[64,128] -> f32[128,128]") / whole, 1, 0.01)
        << "as long as one tile";
    EXPECT_NEAR(operations("matmul | f32[1,64] f32[64,1] -> f32[1,1]") / whole, 1, 0.01);
}

TEST_F(LibraryProducts, ACallThatFailsIsNamedAndTheNextRunIsRight) {
    const Weights weights;
    CompiledGraph compiled = compile(product_graph(true), pinned(), {.mode = Mode::cached});
    weights.bind(compiled);
    expect_product(run(compiled, 3), 3, weights, true);
    int failures = 0;
    for (std::int64_t nth = 1;; ++nth) {
        SCOPED_TRACE(nth);
        const std::int64_t rows = 4 + nth % 2;
        device.cublaslt().fail("", nth, cairn::device::cuda::CublasltStatus::not_supported);
        const std::string text = message([&] { run(compiled, rows); });
        const std::string failed = device.cublaslt().failed_call();
        device.cublaslt().fail("", 0, {});
        if (failed.empty()) break;
        ++failures;
        EXPECT_THAT(text, AllOf(HasSubstr("fused by cuda.cublaslt.fused.f32@1: "), HasSubstr(failed + " failed with "),
                                HasSubstr("f32 product of [" + std::to_string(rows) + ",37] and [37,29] with a bias")));
        expect_product(run(compiled, rows), rows, weights, true);
        expect_product(run(compiled, 7), 7, weights, true);
    }
    EXPECT_GE(failures, 15);
}

TEST_F(LibraryProducts, WithoutAnAlgorithmAnotherKernelIsChosen) {
    device.cublaslt().propose(3, 0);
    context.emplace(device.context());
    const CompiledGraph compiled = compile(product_graph(), *context, {.mode = Mode::off});
    EXPECT_THAT(compiled.program(), Not(HasSubstr("cublaslt")));
}

TEST_F(LibraryProducts, ASavedProgramIsLoadedWithTheLibrary) {
    const Weights weights;
    const TempFolder folder;
    std::vector<float> wanted;
    {
        CompiledGraph made = compile(product_graph(), pinned(), {.mode = Mode::cached});
        weights.bind(made);
        made.save(folder / "m");
        wanted = run(made, 5);
    }
    CompiledGraph loaded = CompiledGraph::load(folder / "m", pinned());
    weights.bind(loaded);
    EXPECT_EQ(run(loaded, 5), wanted);
}

TEST(LibraryProductsWithoutTheLibrary, AreRefusedWithTheReason) {
    const TempFolder folder;
    {
        EmulatedDevice device(with_library());
        ContextOptions options;
        options.timing_db = folder / "t.db";
        TimingDb(options.timing_db).add_rule({"cuda.cublaslt.*", "matmul | *", RuleAction::pin, "of this test"});
        compile(product_graph(), device.context(options), {.mode = Mode::cached}).save(folder / "m");
    }
    EmulatedDeviceOptions options;
    options.cublaslt_folder = "/absent";
    EmulatedDevice device(options);
    {
        const Context context = device.context();
        CompiledGraph compiled = compile(product_graph(), context);
        EXPECT_THAT(compiled.program(), Not(HasSubstr("cublaslt")));
        EXPECT_THAT(why_not(compiled.explain(), "cuda.cublaslt.matmul.f32@1"),
                    HasSubstr("cuBLASLt was not found: /absent/libcublasLt.so.13: "));
        EXPECT_THAT(device_info(context, Device::cuda()).cublaslt_path, HasSubstr("cuBLASLt was not found: "));
        for (const char* const id : {"cuda.cublaslt.matmul.f32@1", "cuda.cublaslt.matmul.f32@1{algorithm=2}"}) {
            const KernelReport report = check_kernel(context, id);
            EXPECT_THAT(report.not_checked, HasSubstr("cuBLASLt was not found: ")) << id;
            EXPECT_THAT(report.faults, IsEmpty()) << id;
        }
        EXPECT_THAT(message([&] { (void)CompiledGraph::load(folder / "m", context); }),
                    AllOf(HasSubstr("cuda.cublaslt.matmul.f32@1 refuses ("), HasSubstr("cuBLASLt was not found: ")));
    }
    EXPECT_THAT(device.faults(), IsEmpty());
}

}  // namespace
}  // namespace cairn::test
