#include "cairn/cairn.hpp"
#include "tests/autotune/policy/inexact_product.hpp"
#include "tests/driver/own_kernels.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

/// Error budgets scaled by what verifications of earlier programs of a graph have measured.
namespace cairn {
namespace {

constexpr std::int64_t side = 64, usual_rows = 3;

/// A product of f32 that errs by 2e-3 to 3e-3 and states `error`.
Kernel product(const std::string& id, double error, double bytes) {
    Kernel kernel = test::inexact_product();
    kernel.id = "test." + id + ".matmul.f32@1";
    kernel.error = [error](const Problem&) { return error; };
    kernel.cost = [bytes](const Problem&) { return Cost{1, bytes, 1}; };
    return kernel;
}

/// The same, with an error of another 8e-3.
Kernel worse_product(const std::string& id, double error, double bytes) {
    Kernel kernel = product(id, error, bytes);
    kernel.run = [](const Args& args, Team& team) {
        if (team.rank() != 0) return;
        test::inexact_product().run(args, team);
        const TensorArg& y = args.outputs[0];
        for (std::int64_t r = 0; r < y.shape[0]; ++r)
            for (std::int64_t c = 0; c < y.shape[1]; ++c)
                reinterpret_cast<float*>(y.data)[r * y.strides[0] + c * y.strides[1]] *= c % 2 == 0 ? 1.008F : 0.992F;
    };
    return kernel;
}

/// A product of f32 that errs by f32's rounding and states 1e-4.
Kernel tight_product() {
    Kernel kernel = product("tight", 1e-4, 800);
    kernel.run = [](const Args& args, Team& team) {
        if (team.rank() != 0) return;
        const TensorArg &x = args.inputs[0], &w = args.inputs[1], &y = args.outputs[0];
        const auto at = [](const TensorArg& t, std::int64_t r, std::int64_t c) -> float& {
            return reinterpret_cast<float*>(t.data)[r * t.strides[0] + c * t.strides[1]];
        };
        for (std::int64_t r = 0; r < y.shape[0]; ++r)
            for (std::int64_t c = 0; c < y.shape[1]; ++c) {
                double sum = 0;
                for (std::int64_t k = 0; k < x.shape[1]; ++k)
                    sum += static_cast<double>(at(x, r, k)) * static_cast<double>(at(w, k, c));
                at(y, r, c) = static_cast<float>(sum);
            }
    };
    return kernel;
}

/// The cheaper a kernel, the larger its stated error.
std::vector<Kernel> kernels() {
    return {product("gross", 5e-2, 100), product("coarse", 1.5e-2, 200), product("fine", 1e-2, 400), tight_product()};
}

/// x w - c.
Graph difference() {
    Graph g("difference");
    const Dim n = g.symbol("N", 1, 32);
    const Tensor x = g.input("x", DType::f32, {n, side}), w = g.weight("w", DType::f32, {side, side});
    g.output("y", matmul(x, w) - g.input("c", DType::f32, {n, side}));
    return g;
}

enum class Inputs : std::uint8_t { normal, zeros, amplifying };

class VerificationRecordTest : public testing::Test {
protected:
    /// The kernel that computes the product: `coarse`; `exact` for one of the library.
    static std::string kernel_of(const CompiledGraph& model) {
        const std::string program = model.program();
        const std::size_t at = program.find("test.");
        return at == std::string::npos ? "exact" : program.substr(at + 5, program.find('.', at + 5) - at - 5);
    }
    CompiledGraph compiled(const Context& context, CompileOptions options = {.mode = Mode::cached}) const {
        options.tolerance = Tolerance::relative(tolerance);
        CompiledGraph model = compile(difference(), context, options);
        model.bind([this](std::string_view) {
            InputView view;
            view.data = weight.data();
            view.shape = {side, side};
            return view;
        });
        return model;
    }
    /// Compiles, runs and returns the kernel that was chosen.
    std::string run(const Context& context, Inputs inputs, const CompileOptions& options = {.mode = Mode::cached},
                    std::int64_t n = usual_rows) {
        CompiledGraph model = compiled(context, options);
        std::string kernel = kernel_of(model);
        run(model, inputs, n);
        return kernel;
    }
    void run(CompiledGraph& model, Inputs inputs, std::int64_t n = usual_rows) {
        const auto count = static_cast<std::size_t>(n * side);
        x.assign(count, 0);
        c.assign(count, 0);
        if (inputs != Inputs::zeros) std::copy_n(weight.begin(), count, x.begin());
        if (inputs == Inputs::amplifying)  // y is a hundredth of the product
            for (std::size_t i = 0; i < count; ++i) {
                double sum = 0;
                for (std::size_t k = 0; k < side; ++k)
                    sum +=
                        static_cast<double>(x[i / side * side + k]) * static_cast<double>(weight[k * side + i % side]);
                c[i] = static_cast<float>(0.99 * sum);
            }
        model.set("x", x, {n, side});
        model.set("c", c, {n, side});
        model.run();
    }

    const Context context = test::context_with(kernels());
    double tolerance = 1e-2;
    std::vector<float> x, c;
    std::vector<float> weight = [] {
        std::mt19937 random(1);
        std::uniform_real_distribution<float> real(-0.2F, 0.2F);
        std::vector<float> values(side * side);
        for (float& value : values) value = real(random);
        return values;
    }();
};

TEST_F(VerificationRecordTest, AdmitsLargerStatedErrorsAfterSmallMeasuredOnes) {
    EXPECT_EQ(run(context, Inputs::normal), "fine");
    EXPECT_EQ(run(context, Inputs::normal), "coarse")
        << "less than a third of the tolerance was measured where all was stated";
    CompiledGraph model = compiled(context);
    EXPECT_EQ(kernel_of(model), "coarse") << "a program at its scaled budget keeps it";
    const Explanation explanation = model.explain();
    ASSERT_EQ(explanation.buckets[0].errors.size(), 1U);
    EXPECT_DOUBLE_EQ(explanation.buckets[0].errors[0].tolerance, 1e-2);
    EXPECT_DOUBLE_EQ(explanation.buckets[0].errors[0].error, 1.5e-2);
    EXPECT_GT(explanation.buckets[0].errors[0].scale, 1.5);
    EXPECT_LT(explanation.buckets[0].errors[0].scale, 5);
    ASSERT_EQ(explanation.notes.size(), 1U);
    EXPECT_NE(explanation.notes[0].find("verified runs (all sizes) erred"), std::string::npos) << explanation.notes[0];
    run(model, Inputs::normal);
    EXPECT_FALSE(model.verified_errors()[0].fell_back);
}

TEST_F(VerificationRecordTest, ChoosesATighterProgramAfterOneBeyondTheTolerance) {
    CompiledGraph model = compiled(context);
    ASSERT_EQ(kernel_of(model), "fine");
    run(model, Inputs::amplifying);
    ASSERT_TRUE(model.verified_errors()[0].fell_back);
    CompiledGraph tighter = compiled(context);
    EXPECT_EQ(kernel_of(tighter), "tight");
    run(tighter, Inputs::amplifying);
    EXPECT_FALSE(tighter.verified_errors()[0].fell_back);
    EXPECT_EQ(run(context, Inputs::normal), "tight") << "the largest error is not forgotten";
}

TEST_F(VerificationRecordTest, KeepsAProgramThatStatedTooLittleAndKeptTheTolerance) {
    tolerance = 4e-3;
    const Context understated = test::context_with({product("understated", 1e-4, 100)});
    for (int i = 0; i < 3; ++i) EXPECT_EQ(run(understated, Inputs::normal), "understated");
}

TEST_F(VerificationRecordTest, AdmitsFourTimesWhatWasVerifiedAndEightTimesTheTolerance) {
    tolerance = 0.1;
    const Context overstated = test::context_with({product("fine", 0.1, 400), worse_product("coarse", 0.39, 300),
                                                   product("gross", 0.79, 200), product("grosser", 0.81, 100)});
    EXPECT_EQ(run(overstated, Inputs::normal), "fine");
    EXPECT_EQ(run(overstated, Inputs::normal), "coarse") << "a 37th of the stated error was measured";
    EXPECT_EQ(run(overstated, Inputs::normal), "gross");
    EXPECT_EQ(run(overstated, Inputs::normal), "gross");
}

TEST_F(VerificationRecordTest, IsExactAfterAnInfiniteError) {
    std::fill(weight.begin(), weight.end(), 0.0F);
    weight[0] = 1;
    CompiledGraph model = compiled(context);
    x.assign(side, 3.4e38F);  // rounds to infinity in bf16
    c.assign(side, 0);
    model.set("x", x, {1, side});
    model.set("c", c, {1, side});
    model.run();
    ASSERT_TRUE(model.verified_errors()[0].fell_back);
    ASSERT_TRUE(std::isinf(model.verified_errors()[0].error));
    EXPECT_EQ(kernel_of(compiled(context)), "exact");
    CompileOptions split{.mode = Mode::cached};
    split.splits = {{"N", {8}}};
    CompiledGraph of_buckets = compiled(context, split);
    of_buckets.set("x", x, {1, side});
    of_buckets.set("c", c, {1, side});
    of_buckets.run();
    const CompiledGraph of_one = compiled(context, split);
    EXPECT_NE(kernel_of(of_one), "exact") << "the other bucket was not run";
    for (const ExplainedBucket& bucket : of_one.explain().buckets)
        for (const ExplainedError& error : bucket.errors) EXPECT_FALSE(std::isnan(error.tolerance));
}

TEST_F(VerificationRecordTest, DisregardsInputsThatExerciseNothing) {
    EXPECT_EQ(run(context, Inputs::zeros), "fine");
    EXPECT_EQ(run(context, Inputs::zeros), "fine");
    EXPECT_EQ(run(context, Inputs::normal), "fine");
    EXPECT_EQ(run(context, Inputs::normal), "coarse");
}

TEST_F(VerificationRecordTest, IsKeptByBucketAndTolerance) {
    CompileOptions split{.mode = Mode::cached};
    split.splits = {{"N", {8}}};
    EXPECT_EQ(run(context, Inputs::normal, split, 20), "fine");
    CompiledGraph model = compiled(context, split);
    EXPECT_NE(model.program().find("test.fine"), std::string::npos) << "of 1..8";
    EXPECT_NE(model.program().find("test.coarse"), std::string::npos) << "of 9..32";
    EXPECT_EQ(kernel_of(compiled(context)), "fine") << "of all sizes";
    CompileOptions looser{.mode = Mode::cached};
    looser.output_tolerances = {{"y", Tolerance::relative(1.4e-2)}};
    EXPECT_EQ(kernel_of(compiled(context, looser)), "fine");
}

TEST_F(VerificationRecordTest, IsKeptInTheDatabaseFile) {
    const test::TempFolder folder;
    ContextOptions options;
    options.timing_db = folder / "timings.db";
    options.extra.kernels = kernels();
    EXPECT_EQ(run(Context(options), Inputs::normal), "fine");
    EXPECT_EQ(run(Context(options), Inputs::normal), "coarse");
    EXPECT_EQ(TimingFile(options.timing_db, TimingFile::Use::read).check(), std::vector<std::string>());
    EXPECT_EQ(TimingFile(options.timing_db, TimingFile::Use::read).info().errors, 1);
}

TEST_F(VerificationRecordTest, DoesNotChangeACompileWithoutDatabase) {
    CompileOptions off;
    off.mode = Mode::off;
    EXPECT_EQ(run(context, Inputs::normal), "fine");
    EXPECT_EQ(run(context, Inputs::normal, off), "fine");
    EXPECT_EQ(run(test::context_with(kernels()), Inputs::normal, off), "fine") << "and it records nothing";
}

TEST_F(VerificationRecordTest, IsInALock) {
    const test::TempFolder folder;
    EXPECT_EQ(run(context, Inputs::normal), "fine");
    compiled(context).write_lock(folder / "lock");
    CompileOptions replay;
    replay.mode = Mode::replay;
    replay.lock = folder / "lock";
    EXPECT_EQ(run(test::context_with(kernels()), Inputs::normal, replay), "coarse");
}

TEST_F(VerificationRecordTest, DoesNotFailTheRunThatItCannotRecord) {
    ContextOptions options;
    options.timing_db = "/nowhere/timings.db";
    options.extra.kernels = kernels();
    bool is_running = false;
    options.log = [&](LogLevel, std::string_view) {
        if (is_running) throw std::runtime_error("log");
    };
    CompiledGraph model = compiled(Context(options));
    is_running = true;
    run(model, Inputs::normal);
    EXPECT_TRUE(model.verified_errors()[0].verified);
}

}  // namespace
}  // namespace cairn
