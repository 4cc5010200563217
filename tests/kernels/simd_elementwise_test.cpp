#include "kernels/cpu/reference/registration.hpp"
#include "kernels/cpu/simd/elementwise/block_program.hpp"
#include "tests/kernels/simd_case.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cairn::test {
namespace {

const Kernel& reference(const std::string& definition) {
    static const std::vector<Kernel> kernels = [] {
        std::vector<Kernel> made;
        kernels::cpu::reference::add_elementwise(made);
        return made;
    }();
    return find(kernels, definition);
}

/// Generates random bodies. Each op keeps values near 1, so that rounding errors stay small; comparisons read only
/// inputs, which both sides represent exactly.
class BodyMaker {
public:
    explicit BodyMaker(std::mt19937& random) : random_(random) {}

    Problem make() {
        Problem problem;
        problem.definition = "elementwise";
        const DType kinds[] = {DType::f32, DType::f32, DType::f32, DType::f64, DType::f16,    DType::bf16,
                               DType::i32, DType::i64, DType::i8,  DType::u8,  DType::boolean};
        const Shape shape = random_shape();
        const int inputs = 1 + pick(4);
        for (int i = 0; i < inputs; ++i) {
            problem.inputs.push_back({kinds[pick(std::size(kinds))], shape, random_strides(shape), "", false});
            dtypes_.push_back(problem.inputs.back().dtype);
        }
        inputs_ = inputs;
        const int steps = 1 + pick(12);
        for (int i = 0; i < steps; ++i) {
            problem.body.push_back(step());
            dtypes_.push_back(problem.body.back().dtype);
        }
        const int outputs = 1 + pick(3);
        for (int i = 0; i < outputs; ++i) {
            const int value = i == 0 ? static_cast<int>(dtypes_.size()) - 1 : pick(dtypes_.size());
            problem.results.push_back(value);
            problem.outputs.push_back(
                {dtypes_[static_cast<std::size_t>(value)], shape, output_strides(shape), "", false});
        }
        return problem;
    }

private:
    int pick(std::size_t n) { return static_cast<int>(random_() % n); }

    Shape random_shape() {
        const std::int64_t sizes[] = {1, 2, 3, 7, 33, 130, 600};
        Shape shape;
        const int rank = pick(4);
        std::int64_t count = 1;
        for (int i = 0; i < rank; ++i) {
            const std::int64_t size = sizes[pick(std::size(sizes))];
            if (count * size > 20000) continue;
            count *= size;
            shape.push_back(size);
        }
        if (pick(40) == 0 && !shape.empty()) shape[0] = 0;
        return shape;
    }
    std::vector<Dim> random_strides(const Shape& shape) {
        std::vector<Dim> strides = dense_strides(shape);
        switch (pick(5)) {
            case 0:  // some axes repeat
                for (Dim& stride : strides) stride = pick(2) == 0 ? Dim(0) : stride;
                break;
            case 1:  // axes in another order, with a gap
                if (shape.size() > 1) {
                    Dim stride = 1;
                    for (std::size_t axis = 0; axis < shape.size(); ++axis)
                        strides[axis] = stride, stride = stride * (shape[axis] + 1);
                }
                break;
            case 2:  // every second element
                for (Dim& stride : strides) stride = stride * 2;
                break;
            default: break;
        }
        return strides;
    }
    std::vector<Dim> output_strides(const Shape& shape) {
        std::vector<Dim> strides = dense_strides(shape);
        if (pick(4) == 0 && !shape.empty()) strides[0] = strides[0] * 2;
        return strides;
    }

    std::vector<int> values_of(DType dtype, bool inputs_only = false) {
        std::vector<int> values;
        for (std::size_t i = 0; i < (inputs_only ? static_cast<std::size_t>(inputs_) : dtypes_.size()); ++i) {
            if (dtypes_[i] == dtype) values.push_back(static_cast<int>(i));
        }
        return values;
    }

    Step step() {
        const int value = pick(dtypes_.size());
        const DType dtype = dtypes_[static_cast<std::size_t>(value)];
        const std::vector<int> same = values_of(dtype);
        const auto other = [&] { return same[static_cast<std::size_t>(pick(same.size()))]; };
        const std::vector<int> conditions = values_of(DType::boolean);
        const std::vector<int> exact = values_of(dtype, true);
        switch (pick(8)) {
            case 0: {
                // Floats to floats only: computed values may differ in their last place, which truncation would make a
                // difference of one.
                const DType floats[] = {DType::f32, DType::f64, DType::f16, DType::bf16},
                            all[] = {DType::i8,      DType::u8,  DType::i32, DType::i64,
                                     DType::boolean, DType::f32, DType::f16};
                const bool safe = !is_float(dtype) || value < inputs_;
                return {"cast", {value}, safe ? all[pick(std::size(all))] : floats[pick(std::size(floats))], 0};
            }
            case 1: return {"const", {}, dtype, std::round(16 * std::sin(static_cast<double>(pick(100)))) / 8};
            case 2:
                if (!conditions.empty())
                    return {"where",
                            {conditions[static_cast<std::size_t>(pick(conditions.size()))], value, other()},
                            dtype,
                            0};
                break;
            case 3:
                if (!exact.empty()) {
                    const char* names[] = {"lt", "le", "gt", "ge", "eq", "ne"};
                    const int a = exact[static_cast<std::size_t>(pick(exact.size()))],
                              b = exact[static_cast<std::size_t>(pick(exact.size()))];
                    return {names[dtype == DType::boolean ? 4 + pick(2) : pick(6)], {a, b}, DType::boolean, 0};
                }
                break;
            default: break;
        }
        if (dtype == DType::boolean) {
            const char* names[] = {"logical_and", "logical_or", "logical_xor"};
            if (pick(4) == 0) return {"logical_not", {value}, dtype, 0};
            return {names[pick(3)], {value, other()}, dtype, 0};
        }
        if (is_float(dtype) && pick(2) == 0) {
            const char* names[] = {"tanh", "sin", "cos", "erf", "neg", "abs"};
            return {names[pick(std::size(names))], {value}, dtype, 0};
        }
        const char* names[] = {"min", "max", "add", "sub", "mul", "div"};
        return {names[pick(is_float(dtype) ? 4 : 6)], {value, other()}, dtype, 0};
    }

    std::mt19937& random_;
    std::vector<DType> dtypes_;
    int inputs_ = 0;
};

/// 16-bit steps may keep more digits than the reference, which rounds at each step.
double tolerance(const Problem& problem) {
    double worst = 1e-12;
    const auto note = [&](DType dtype) {
        const double eps = dtype == DType::bf16  ? 0x1p-8
                           : dtype == DType::f16 ? 0x1p-11
                           : dtype == DType::f32 ? 0x1p-24
                                                 : 0;
        worst = std::max(worst, 200 * eps);
    };
    for (const TensorDesc& input : problem.inputs) note(input.dtype);
    for (const Step& step : problem.body) note(step.dtype);
    return worst;
}

void expect_close(const SimdCase& actual, const SimdCase& expected, const std::string& text) {
    for (std::size_t o = 0; o < expected.outputs.size(); ++o) {
        const double bound = tolerance(expected.problem);
        double scale = 1;
        for (std::int64_t i = 0; i < expected.outputs[o].size(); ++i)
            scale = std::max(scale, std::fabs(expected.outputs[o].get(i)));
        const bool exact = !is_float(expected.problem.outputs[o].dtype);
        for (std::int64_t i = 0; i < expected.outputs[o].size(); ++i) {
            const double a = actual.outputs[o].get(i), e = expected.outputs[o].get(i);
            ASSERT_TRUE(exact ? a == e : std::fabs(a - e) <= bound * scale)
                << text << "\noutput " << o << " element " << i << ": " << a << " for " << e;
        }
        EXPECT_EQ(actual.outputs[o].first_touched_gap(), -1) << text;
    }
}

class SimdElementwise : public SimdLevel {};

TEST_P(SimdElementwise, RandomBodiesEqualTheReference) {
    std::mt19937 random(7);
    const Kernel& kernel = find(kernels_of(GetParam()), "elementwise");
    for (int round = 0; round < 400; ++round) {
        SimdCase expected(BodyMaker(random).make());
        for (Operand& input : expected.inputs) input.fill(random);
        SimdCase actual = expected;
        for (Operand& output : actual.outputs) output = output.copy();
        expected.run(reference("elementwise"));
        actual.run(kernel, 1 + round % 3);
        expect_close(actual, expected, to_string(expected.problem));
        if (testing::Test::HasFailure()) return;
    }
}

// Each output overwrites an input of its dtype and layout, as a memory plan may decide.
TEST_P(SimdElementwise, OutputsMayOverwriteInputs) {
    const Kernel& kernel = find(kernels_of(GetParam()), "elementwise");
    const std::string texts[] = {
        "elementwise {2=add(0,1):f32 3=mul(2,0):f32} | f32[9,70] f32[9,70]:(0,1) -> f32[9,70] f32[9,70] results (2,3)",
        "elementwise {2=mul(1,1):f32 3=add(0,2):f32} | f32[9,700] f32[9,700] -> f32[9,700] f32[9,700] results (3,0)",
        "elementwise {2=cast(0):f64 3=sin(2):f64 4=cast(3):f16} | f16[3000] f64[3000] -> f16[3000] f64[3000] results "
        "(4,3)",
    };
    for (const std::string& text : texts) {
        for (int members = 1; members <= 3; ++members) {
            std::mt19937 random(3);
            SimdCase expected(text);
            for (Operand& input : expected.inputs) input.fill(random);
            SimdCase apart = expected;
            apart.outputs = {expected.outputs[0].copy(), expected.outputs[1].copy()};
            apart.run(kernel, members);
            SimdCase over = expected;
            over.inputs = {expected.inputs[0].copy(), expected.inputs[1].copy()};
            over.outputs[0].share(over.inputs[0]);
            over.outputs[1] = expected.outputs[1].copy();
            over.run(kernel, members);
            EXPECT_TRUE(over.outputs[0].same_bits(apart.outputs[0])) << text;
            EXPECT_TRUE(over.outputs[1].same_bits(apart.outputs[1])) << text;
        }
    }
}

TEST_P(SimdElementwise, TeamsOfAnySizeGiveTheSameBits) {
    std::mt19937 random(5);
    SimdCase one(
        "elementwise {2=add(0,1):f32 3=gelu(2):f32} | f32[77,333] f32[77,333]:(0,1) -> f32[77,333] results (3)");
    for (Operand& input : one.inputs) input.fill(random);
    SimdCase three = one;
    three.outputs[0] = one.outputs[0].copy();
    one.run(find(kernels_of(GetParam()), "elementwise"), 1);
    three.run(find(kernels_of(GetParam()), "elementwise"), 3);
    EXPECT_TRUE(three.outputs[0].same_bits(one.outputs[0]));
}

// Every bit pattern of the 16-bit floats through f32 and back, and extreme numbers into each integer type.
TEST_P(SimdElementwise, CastsEqualTheReference) {
    for (const char* half : {"f16", "bf16"}) {
        const std::string text = std::string("cast | ") + half + "[65536] -> f32[65536]";
        SimdCase c(text);
        for (int i = 0; i < 65536; ++i)
            reinterpret_cast<std::uint16_t*>(c.inputs[0].arg().data)[i] = static_cast<std::uint16_t>(i);
        SimdCase expected = c;
        expected.outputs[0] = c.outputs[0].copy();
        c.run(find(kernels_of(GetParam()), "cast"));
        expected.run(reference("cast"));
        for (int i = 0; i < 65536; ++i) {
            const double a = c.outputs[0].get(i), e = expected.outputs[0].get(i);
            ASSERT_TRUE(a == e || (std::isnan(a) && std::isnan(e))) << half << " " << i;
        }
    }
    const double numbers[] = {0,
                              -0.0,
                              0.5,
                              -0.5,
                              1.5,
                              127.9,
                              128,
                              -128.9,
                              -129,
                              255.9,
                              256,
                              2147483647,
                              2147483648.0,
                              -2147483648.0,
                              -2147483649.0,
                              9.2233720368547758e18,
                              -9.2233720368547758e18,
                              1e30,
                              -1e30,
                              INFINITY,
                              -INFINITY,
                              NAN,
                              65519,
                              65520,
                              1e-8,
                              2.98e-8,
                              3.0e-8,
                              1.0009765625,
                              1.00048828125001};
    for (const char* from : {"f64", "f32", "f16"}) {
        for (const char* to : {"f64", "f32", "f16", "bf16", "i64", "i32", "i8", "u8", "bool"}) {
            SimdCase c("cast | " + std::string(from) + "[29] -> " + to + "[29]");
            for (int i = 0; i < 29; ++i) c.inputs[0].set(i, numbers[i]);
            SimdCase expected = c;
            expected.outputs[0] = c.outputs[0].copy();
            c.run(find(kernels_of(GetParam()), "cast"));
            expected.run(reference("cast"));
            for (int i = 0; i < 29; ++i) {
                const double a = c.outputs[0].get(i), e = expected.outputs[0].get(i);
                EXPECT_TRUE(a == e || (std::isnan(a) && std::isnan(e)))
                    << from << " " << numbers[i] << " to " << to << ": " << a << " for " << e;
            }
        }
    }
}

// Every byte. Bodies of bytes only stay in bytes; with a wider value, equal bytes may be different numbers.
TEST_P(SimdElementwise, BytesEqualTheReference) {
    for (const char* text :
         {"elementwise {1=cast(0):u8} | i8[256] -> u8[256] results (1)",
          "elementwise {1=cast(0):i8} | u8[256] -> i8[256] results (1)",
          "elementwise {1=cast(0):bool 2=logical_not(1):bool 3=cast(2):i8 4=where(1,0,3):i8} | i8[256] -> bool[256] "
          "i8[256] results (2,4)",
          "elementwise {1=cast(0):i32 2=cast(1):i8} | i8[256] -> i8[256] results (2)",
          "elementwise {2=cast(0):i32 3=cast(1):i32 4=eq(2,3):bool} | i8[256] u8[256] -> bool[256] results (4)"}) {
        SimdCase c(text);
        for (Operand& input : c.inputs)
            for (int i = 0; i < 256; ++i) input.arg().data[i] = static_cast<std::byte>(i);
        SimdCase expected = c;
        for (Operand& output : expected.outputs) output = output.copy();
        c.run(find(kernels_of(GetParam()), "elementwise"));
        expected.run(reference("elementwise"));
        for (std::size_t o = 0; o < c.outputs.size(); ++o)
            EXPECT_TRUE(c.outputs[o].same_bits(expected.outputs[o])) << text;
    }
}

TEST(SimdElementwiseRows, RefusalsHaveReasons) {
    const Kernel& kernel = find(kernels_of("baseline"), "elementwise");
    const auto refusal = [&](const std::string& text) {
        return kernel.accepts(parse_problem(text, *Symbols::create()));
    };
    EXPECT_EQ(refusal("elementwise {1=exp(0):i32} | i32[4] -> i32[4] results (1)"),
              "exp of integers is left to other kernels");
    Problem problem = parse_problem("elementwise {1=exp(0):f32} | f32[4] -> f32[4] results (1)", *Symbols::create());
    EXPECT_EQ(kernel.accepts(problem), "");
    problem.results[0] = 9;
    EXPECT_EQ(kernel.accepts(problem), "a result names no value of the body");
    problem.body[0].operands[0] = 2;
    EXPECT_EQ(kernel.accepts(problem), "a step reads a value that does not come before it");
    EXPECT_EQ(refusal("elementwise {1=exp(0):f32} | f32[4] -> f16[4] results (1)"),
              "an output's dtype is not its value's");
    EXPECT_EQ(refusal("elementwise {1=add(0,0):f32} | f32[4]@panel32 -> f32[4] results (1)"),
              "needs plain memory, not panel32");
}

INSTANTIATE_TEST_SUITE_P(Levels, SimdElementwise, testing::ValuesIn(level_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cairn::test
