#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>

#include "cairn/problem.hpp"
#include "random_size.hpp"

namespace cairn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

Problem parse(std::string_view text) { return parse_problem(text, *Symbols::create()); }

TEST(ProblemText, DocumentedFormsRoundTrip) {
    for (const auto* text :
         {"layer_norm eps=1e-05 | f32[B,T,768] f32[768]! f32[768]! -> f32[B,T,768] where B in 1..8, T in 2..12",
          "elementwise {2=add(0,1):f32 3=tanh(2):f32} | f32[T,768] f32[T,768]:(0,1)! -> f32[T,768] results (3) where T "
          "in 1..12",
          "matmul | f32[T,768]:(2304,1) f32[768,768]@panel32! -> f32[T,768] where T in 13..1024",
          "sum axes=(-1) keep=(1) | f32[] -> f32[]", "iota | -> i64[0]",
          "elementwise {} | f32[4] -> f32[4] results (0)",
          "slice start=(N) end=(3 + 2*N) step=() | f16[1024]:(2) -> f16[3 + N]:(2) where N in 0..100",
          "elementwise {0=const(-0):bf16 1=const(inf):f64 2=const(nan):f32} | -> f32[] results (2,0)"}) {
        EXPECT_EQ(to_string(parse(text)), text);
    }
}

TEST(ProblemText, ParsesEveryField) {
    const auto problem = parse(
        "layer_norm eps=1e-05 axes=(-1,N) | f32[N,768]:(1536,1) bf16[768]@panel.x! -> f32[N,768] where N in 2..12");
    EXPECT_EQ(problem.definition, "layer_norm");
    EXPECT_EQ(problem.attributes.number("eps"), 1e-5);
    EXPECT_EQ(problem.attributes.dims("axes")[0], Dim(-1));
    ASSERT_EQ(problem.inputs.size(), 2u);
    EXPECT_EQ(problem.inputs[0].strides[0], Dim(1536));
    EXPECT_FALSE(problem.inputs[0].bound);
    EXPECT_TRUE(problem.inputs[1].bound);
    EXPECT_EQ(problem.inputs[1].layout, "panel.x");
    EXPECT_EQ(problem.inputs[1].dtype, DType::bf16);
    EXPECT_EQ(problem.outputs[0].shape[0].lower_bound(), 2);
    EXPECT_EQ(symbols_of(problem), problem.outputs[0].shape[0].symbols());
    const auto sized = at_sizes(problem, std::vector<std::int64_t>{7});
    EXPECT_EQ(to_string(sized),
              "layer_norm eps=1e-05 axes=(-1,7) | f32[7,768]:(1536,1) bf16[768]@panel.x! -> f32[7,768]");
    EXPECT_EQ(symbols_of(sized), nullptr);
}

TEST(ProblemText, FreeNumbersAndSymbolsWithoutARange) {
    const auto symbols = Symbols::create();
    symbols->add("D", 3, 9);
    const auto problem = parse_problem("layer_norm eps=? | f32[R,D] f32[D] f32[D]", *symbols);
    EXPECT_TRUE(std::isnan(problem.attributes.number("eps")));
    EXPECT_EQ(problem.inputs[0].shape[0].upper_bound(), 1048576);
    EXPECT_EQ(problem.inputs[0].shape[1].upper_bound(), 9);
    EXPECT_TRUE(problem.outputs.empty());
}

TEST(ProblemText, AttributesReportWrongAccesses) {
    const auto problem = parse("x eps=0.5 axis=(2) list=(1,N) |");
    EXPECT_EQ(problem.attributes.integer("axis"), 2);
    EXPECT_TRUE(problem.attributes.has("list"));
    EXPECT_FALSE(problem.attributes.has("lis"));
    const auto fails = [](const std::string& text) {
        return Throws<Error>(
            AllOf(Property(&Error::kind, ErrorKind::argument), Property(&Error::what, HasSubstr(text))));
    };
    EXPECT_THAT([&] { (void)problem.attributes.number("none"); },
                fails("'none' should be a number; there is no attribute"));
    EXPECT_THAT([&] { (void)problem.attributes.number("axis"); }, fails("it is the list (2)"));
    EXPECT_THAT([&] { (void)problem.attributes.dims("eps"); }, fails("it is the number 0.5"));
    EXPECT_THAT([&] { (void)problem.attributes.integer("list"); }, fails("it is (1,N)"));
    EXPECT_THAT([&] { (void)problem.attributes.integer("eps"); }, fails("it is the number 0.5"));
}

class RandomProblem {
public:
    explicit RandomProblem(std::uint64_t seed) : random_(seed) {}

    Problem make() {
        Problem problem;
        problem.definition = below(4) == 0 ? "elementwise" : "op_" + std::to_string(below(9));
        for (int i = below(4); i > 0; --i) {
            Attribute attribute{"a" + std::to_string(i), number()};
            if (below(2) == 0) attribute.value = sizes(below(4));
            problem.attributes.push_back(attribute);
        }
        for (int i = below(4); i > 0; --i) problem.inputs.push_back(tensor());
        if (problem.definition == "elementwise") add_body(problem);
        for (int i = below(3); i > 0; --i) problem.outputs.push_back(tensor());
        return problem;
    }

    const std::shared_ptr<Symbols>& symbols() const { return symbols_; }

private:
    int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

    double number() {
        const double value = std::bit_cast<double>(static_cast<std::uint64_t>(random_()));
        return std::isnan(value) ? 0.25 : value;
    }

    std::vector<Dim> sizes(int count) {
        std::vector<Dim> result;
        while (static_cast<int>(result.size()) < count) {
            try {
                const Dim size = test::random_size(random_, 3, below(3), true)->dim(all_);
                if (size.upper_bound() >= 0) result.push_back(size);
            } catch (const Error&) {
                continue;  // division by zero
            }
        }
        return result;
    }

    TensorDesc tensor() {
        auto result = TensorDesc::dense(static_cast<DType>(below(9)), sizes(below(4)));
        if (below(3) == 0) result.strides = sizes(static_cast<int>(result.shape.size()));
        if (below(4) == 0) result.layout = "panel" + std::to_string(below(64));
        result.bound = below(2) == 0;
        return result;
    }

    void add_body(Problem& problem) {
        int values = static_cast<int>(problem.inputs.size());
        for (int i = below(5); i > 0; --i, ++values) {
            Step step;
            step.op = values == 0 || below(4) == 0 ? "const" : "f" + std::to_string(below(5));
            step.dtype = static_cast<DType>(below(9));
            if (step.op == "const") {
                step.number = number();
            } else {
                for (int k = 1 + below(3); k > 0; --k) step.operands.push_back(below(values));
            }
            problem.body.push_back(step);
        }
        for (int i = values > 0 ? below(3) : 0; i > 0; --i) problem.results.push_back(below(values));
    }

    std::mt19937_64 random_;
    std::shared_ptr<Symbols> symbols_ = Symbols::create();
    std::vector<Dim> all_ = {symbols_->add("N", 1, 5), symbols_->add("where_", 0, 4), symbols_->add("results", 2, 6)};
};

TEST(ProblemText, RoundTripOfRandomProblems) {
    RandomProblem source(17);
    for (int i = 0; i < 4000; ++i) {
        const auto problem = source.make();
        const auto text = to_string(problem);
        ASSERT_EQ(parse_problem(text, *source.symbols()), problem) << text;
        ASSERT_EQ(to_string(parse(text)), text);
    }
}

TEST(ProblemText, DamagedTextsAreParsedOrRefused) {
    RandomProblem source(19);
    std::mt19937 random(23);
    const std::string bytes =
        "()[]{}|:,.@!?=-+*/ \x01\xff"
        "0123456789NMfin";
    int refused = 0;
    for (int i = 0; i < 20000; ++i) {
        auto text = to_string(source.make());
        for (auto k = 1 + random() % 3; k > 0; --k) {
            const auto position = random() % text.size();
            const char byte = bytes[random() % bytes.size()];
            if (random() % 3 == 0) {
                text.erase(position, 1 + random() % 4);
            } else if (random() % 2 == 0) {
                text.insert(position, 1, byte);
            } else {
                text[position] = byte;
            }
            if (text.empty()) text = "|";
        }
        try {
            const auto problem = parse(text);
            ASSERT_EQ(to_string(parse(to_string(problem))), to_string(problem)) << text;
        } catch (const Error& error) {
            ASSERT_EQ(error.kind(), ErrorKind::argument) << error.what();
            ASSERT_THAT(error.what(), HasSubstr("[problem] column ")) << text;
            ++refused;
        }
    }
    EXPECT_GT(refused, 10000);
}

TEST(ProblemText, ErrorsNameTheColumn) {
    const std::pair<std::string, std::string> cases[] = {
        {"", "column 1: expected the name of an op, got the end of the text"},
        {"matmul", "column 7: expected an attribute, '{' or '|', got the end"},
        {"matmul f32[2] | ", "column 11: expected '=', got '['"},
        {"x eps= | f32[2]", "column 8: expected a number, got '|'"},
        {"x eps=1e999 |", "column 7: the number is outside the range"},
        {"x a=1 a=2 |", "column 7: the attribute 'a' comes twice"},
        {"x a=(1 |", "column 8: expected ',' or ')', got '|'"},
        {"x | f33[2]", "column 5: unknown dtype 'f33'"},
        {"x | f32", "column 8: expected '[', got the end"},
        {"x | f32[2", "column 10: expected ',' or ']', got the end"},
        {"x | f32[-2]", "column 8: the size -2 is negative"},
        {"x | f32[2,3]:(1)", "column 13: there are 2 axes, but 1 strides"},
        {"x | f32[2]:(-1)", "column 11: the stride -1 is negative"},
        {"x | f32[2]@ !", "column 12: expected the name of a layout"},
        {"x | f32[2]?", "column 11: expected a space after the tensor"},
        {"x | f32[2]f32[2]", "column 11: expected a space after the tensor"},
        {"x | f32[2,4611686018427387904,4]", "does not fit into 64 bits"},
        {"x | f32[2] -> f32[2] -> f32[2]", "column 22: expected a tensor, '->', 'results', 'where' or the end"},
        {"x | f32[N] where N in 5..2", "column 18: 'N' has the bounds [5, 2]"},
        {"x | f32[N] where N at 5..6", "column 20: expected 'in'"},
        {"x | f32[N] where N in 1-6", "column 24: expected '..'"},
        {"x | f32[N] where N in 1..6, N in 1..7", "column 29: 'N' has the bounds [1, 6] already"},
        {"x | f32[N] where N in 1..6 x", "column 28: expected ',' or the end"},
        {"elementwise {1=neg(0):f32 | f32[2]", "column 27: expected an integer, got '|'"},
        {"elementwise {2=neg(0):f32} | f32[2]", "column 13: the first value of the body must be 1"},
        {"elementwise {1=neg(1):f32} | f32[2]", "column 13: the body has no value 1 at that point"},
        {"elementwise {1=neg(0):f32 3=neg(0):f32} | f32[2]", "column 27: the values of a body must be numbered"},
        {"elementwise {1=neg(0)} | f32[2]", "column 22: expected ':', got '}'"},
        {"elementwise {1=neg(-1):f32} | f32[2]", "column 20: there is no such value number"},
        {"elementwise {1=neg(0):f32} | f32[2] -> f32[2] results (2)", "the body has no value 2"},
    };
    for (const auto& row : cases) {
        EXPECT_THAT([&] { parse(row.first); }, Throws<Error>(AllOf(Property(&Error::kind, ErrorKind::argument),
                                                                   Property(&Error::what, HasSubstr(row.second)))))
            << row.first;
    }
}

}  // namespace
}  // namespace cairn
