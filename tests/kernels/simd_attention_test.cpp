#include "tests/kernels/simd_case.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cairn::test {
namespace {

/// The sizes of one call.
struct Shape4 {
    std::int64_t batch, heads, key_heads, queries, keys, depth, value_depth;
};

std::string list(std::initializer_list<std::int64_t> numbers, char open, char close) {
    std::string text(1, open);
    for (const std::int64_t number : numbers) text += (text.size() > 1 ? "," : "") + std::to_string(number);
    return text + close;
}

/// Layouts that models use: dense [B, heads, length, depth]; a view of [B, length, heads, depth]; or a view of memory
/// with a larger capacity.
enum class Form { dense, interleaved, capacity };
std::string tensor(std::int64_t batch, std::int64_t heads, std::int64_t length, std::int64_t depth, Form form) {
    const std::string shape = "f32" + list({batch, heads, length, depth}, '[', ']');
    if (form == Form::interleaved)
        return shape + ":" + list({heads * length * depth, depth, heads * depth, 1}, '(', ')');
    if (form == Form::capacity)
        return shape + ":" + list({heads * (length + 5) * depth, (length + 5) * depth, depth, 1}, '(', ')');
    return shape;
}

std::string problem_text(const Shape4& s, bool causal, bool mask, const std::string& masked_score, Form form) {
    const Form states = form == Form::interleaved ? Form::interleaved : form;
    std::string text =
        std::string("attention causal=(") + (causal ? "1" : "0") + ") scale=0.3 masked_score=" + masked_score + " | ";
    text += tensor(s.batch, s.heads, s.queries, s.depth, form == Form::capacity ? Form::dense : form) + " ";
    text += tensor(s.batch, s.key_heads, s.keys, s.depth, states) + " " +
            tensor(s.batch, s.key_heads, s.keys, s.value_depth, states);
    if (mask) text += " bool" + list({s.batch, s.keys}, '[', ']');
    return text + " -> " +
           tensor(s.batch, s.heads, s.queries, s.value_depth, form == Form::capacity ? Form::dense : form);
}

/// The fourth operand: its kind, and its axes along [B, H, T, S].
struct Mask {
    enum class Kind { none, boolean, hiding, added } kind = Kind::none;
    std::int64_t shape[4] = {1, 1, 1, 1};

    std::int64_t index_of(std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t j) const {
        std::int64_t index = 0, i = 0;
        for (const std::int64_t at : {b, h, t, j}) {
            index = index * shape[i] + (shape[i] == 1 ? 0 : at);
            ++i;
        }
        return index;
    }
};
Mask mask_of_keys(const Shape4& s, bool exists) {
    return {exists ? Mask::Kind::boolean : Mask::Kind::none, {s.batch, 1, 1, s.keys}};
}

/// What is applied to scores before the mask: softcap unless the cap is 0, and a bias as fifth operand.
struct ScoreTransforms {
    double cap = 0;
    Mask bias = {};
    bool adds_to_hidden = false;
};

/// The definition in double, for one query.
void expected_row(const SimdCase& c, const Shape4& s, bool causal, const Mask& mask, double masked_score,
                  std::int64_t b, std::int64_t h, std::int64_t t, std::vector<double>& out,
                  const ScoreTransforms& before = {}) {
    const std::int64_t g = h / (s.heads / s.key_heads);
    std::vector<double> score(static_cast<std::size_t>(s.keys));
    double largest = -INFINITY;
    for (std::int64_t j = 0; j < s.keys; ++j) {
        double dot = 0;
        for (std::int64_t d = 0; d < s.depth; ++d) {
            dot += c.inputs[0].get(((b * s.heads + h) * s.queries + t) * s.depth + d) *
                   c.inputs[1].get(((b * s.key_heads + g) * s.keys + j) * s.depth + d);
        }
        const double mark = mask.kind == Mask::Kind::none ? 0 : c.inputs[3].get(mask.index_of(b, h, t, j));
        const bool is_added = mask.kind == Mask::Kind::added;
        const bool seen = mask.kind == Mask::Kind::boolean ? mark != 0 : is_added || mark == 0;
        const bool visible = (!causal || j <= t + s.keys - s.queries) && seen;
        double seen_score = before.cap > 0 ? before.cap * std::tanh(dot * 0.3 / before.cap) : dot * 0.3;
        if (before.bias.kind != Mask::Kind::none) seen_score += c.inputs[4].get(before.bias.index_of(b, h, t, j));
        const double added = is_added && (visible || before.adds_to_hidden) ? mark : 0;
        score[static_cast<std::size_t>(j)] = (visible ? seen_score : masked_score) + added;
        largest = std::max(largest, score[static_cast<std::size_t>(j)]);
    }
    double total = 0;
    for (double& x : score) total += x = std::exp(x - largest);
    out.assign(static_cast<std::size_t>(s.value_depth), 0);
    for (std::int64_t j = 0; j < s.keys; ++j) {
        for (std::int64_t d = 0; d < s.value_depth; ++d) {
            out[static_cast<std::size_t>(d)] +=
                score[static_cast<std::size_t>(j)] / total *
                c.inputs[2].get(((b * s.key_heads + g) * s.keys + j) * s.value_depth + d);
        }
    }
}

void check(const std::string& level, const Shape4& s, bool causal, bool mask, bool infinite, Form form, int members,
           unsigned seed, double visible_share = 0.7) {
    const std::string text = problem_text(s, causal, mask, infinite ? "-inf" : "-1e+38", form);
    SCOPED_TRACE(text);
    std::mt19937 random(seed);
    SimdCase c(text);
    for (Operand& input : c.inputs) input.fill(random);
    if (mask) {
        for (std::int64_t i = 0; i < c.inputs[3].size(); ++i)
            c.inputs[3].set(i, std::generate_canonical<double, 32>(random) < visible_share);
    }
    ASSERT_EQ(c.run(find(kernels_of(level), "attention"), members), "");
    std::vector<double> row;
    for (std::int64_t i = 0; i < s.batch * s.heads * s.queries; ++i) {
        expected_row(c, s, causal, mask_of_keys(s, mask), infinite ? -INFINITY : -1e38, i / (s.heads * s.queries),
                     i / s.queries % s.heads, i % s.queries, row);
        for (std::int64_t d = 0; d < s.value_depth; ++d) {
            const double a = c.outputs[0].get(i * s.value_depth + d), e = row[static_cast<std::size_t>(d)];
            ASSERT_TRUE(std::isnan(e) ? std::isnan(a) : std::fabs(a - e) <= 1e-5)
                << "row " << i << " element " << d << ": " << a << " for " << e;
        }
    }
    EXPECT_EQ(c.outputs[0].first_touched_gap(), -1);
}

class SimdAttention : public SimdLevel {};

TEST_P(SimdAttention, EqualsADoubleLoop) {
    const Shape4 shapes[] = {{1, 1, 1, 1, 1, 1, 1},       {1, 2, 2, 1, 300, 64, 64}, {2, 3, 1, 3, 17, 5, 7},
                             {1, 2, 2, 4, 4, 64, 64},     {2, 2, 1, 13, 40, 16, 16}, {1, 1, 1, 72, 72, 8, 8},
                             {1, 2, 2, 73, 73, 64, 64},   {1, 1, 1, 40, 600, 33, 9}, {1, 1, 1, 150, 257, 12, 20},
                             {1, 2, 1, 20, 130, 160, 160}};
    unsigned seed = 0;
    for (const Shape4& shape : shapes) {
        for (int variant = 0; variant < 4; ++variant) {
            for (const Form form : {Form::dense, Form::interleaved, Form::capacity}) {
                ++seed;
                check(GetParam(), shape, variant % 2 == 1, variant / 2 == 1, seed % 3 == 0, form,
                      1 + static_cast<int>(seed % 3), seed);
                if (HasFatalFailure()) return;
            }
        }
    }
}

// With more queries than keys the first queries see no key; neither does any query if the mask is false everywhere.
TEST_P(SimdAttention, QueriesWithoutVisibleKeys) {
    for (const bool infinite : {false, true}) {
        check(GetParam(), {1, 2, 1, 30, 9, 16, 20}, true, false, infinite, Form::dense, 2, 1);
        check(GetParam(), {2, 2, 2, 2, 9, 16, 20}, false, true, infinite, Form::dense, 1, 2, 0.0);
        check(GetParam(), {2, 1, 1, 20, 300, 16, 20}, true, true, infinite, Form::dense, 1, 3, 0.01);
    }
}

TEST_P(SimdAttention, NoKeysGiveZeros) {
    SimdCase c("attention causal=(0) scale=1 | f32[1,1,5,8] f32[1,1,0,8] f32[1,1,0,8] -> f32[1,1,5,8]");
    std::mt19937 random(1);
    c.inputs[0].fill(random);
    c.run(find(kernels_of(GetParam()), "attention"));
    for (std::int64_t i = 0; i < 40; ++i) EXPECT_EQ(c.outputs[0].get(i), 0);
}

TEST_P(SimdAttention, NanAffectsOnlyItsQuery) {
    for (const std::int64_t queries : {2, 20}) {
        SimdCase c("attention causal=(0) scale=0.5 | f32[1,1," + std::to_string(queries) +
                   ",8] f32[1,1,40,8] f32[1,1,40,8] -> f32[1,1," + std::to_string(queries) + ",8]");
        std::mt19937 random(1);
        for (Operand& input : c.inputs) input.fill(random);
        c.inputs[0].set(8 + 3, NAN);
        c.run(find(kernels_of(GetParam()), "attention"));
        for (std::int64_t i = 0; i < queries * 8; ++i) EXPECT_EQ(std::isnan(c.outputs[0].get(i)), i / 8 == 1) << i;
    }
}

// Weight 0 times a value that is not finite is NaN, and if all visible scores are -inf, a finite masked score is the
// largest: as in the definition, at every position in a tile.
TEST_P(SimdAttention, SpecialValuesMatchTheDefinition) {
    for (const std::int64_t queries : {3, 20, 100})
        for (const bool infinite : {false, true})
            for (const bool mask : {false, true}) {
                const Shape4 s{1, 2, 1, queries, queries, 8, 9};
                SCOPED_TRACE(problem_text(s, true, mask, infinite ? "-inf" : "-1e+38", Form::dense));
                SimdCase c(problem_text(s, true, mask, infinite ? "-inf" : "-1e+38", Form::dense));
                std::mt19937 random(3);
                for (Operand& input : c.inputs) input.fill(random);
                for (std::int64_t i = 0; mask && i < queries; ++i) c.inputs[3].set(i, i != 1);
                c.inputs[2].set((queries - 1) * 9 + 2, NAN);
                c.inputs[2].set((queries / 2) * 9 + 4, INFINITY);
                for (std::int64_t i = 0; i < queries * 2; ++i) c.inputs[0].set(i * 8, 1);
                for (std::int64_t j = 0; j < std::min<std::int64_t>(queries - 1, 12); ++j)
                    c.inputs[1].set(j * 8, -INFINITY);
                ASSERT_EQ(c.run(find(kernels_of(GetParam()), "attention"), 2), "");
                std::vector<double> row;
                for (std::int64_t i = 0; i < 2 * queries; ++i) {
                    expected_row(c, s, true, mask_of_keys(s, mask), infinite ? -INFINITY : -1e38, 0, i / queries,
                                 i % queries, row);
                    for (std::int64_t d = 0; d < 9; ++d) {
                        const double a = c.outputs[0].get(i * 9 + d), e = row[static_cast<std::size_t>(d)];
                        EXPECT_TRUE(a == e || (std::isnan(e) ? std::isnan(a) : std::fabs(a - e) <= 1e-5))
                            << "row " << i << " element " << d << ": " << a << " for " << e;
                    }
                }
            }
}

// For each key one element of its value is not finite: queries that do not see the key get NaN there, whatever
// their number, their position in a tile and the key's.
TEST_P(SimdAttention, NanOfAHiddenValueReachesEveryQuery) {
    for (const Shape4& s :
         {Shape4{1, 1, 1, 1, 9, 4, 9}, Shape4{1, 1, 1, 3, 7, 4, 7}, Shape4{1, 1, 1, 13, 13, 4, 13},
          Shape4{1, 2, 1, 30, 9, 4, 9}, Shape4{1, 1, 1, 73, 73, 4, 73}, Shape4{1, 1, 1, 90, 290, 4, 290}})
        for (int variant = 0; variant < 8; ++variant) {
            const bool causal = variant % 2 == 0, mask = variant % 4 > 0;
            const char* const masked_score = variant < 4 ? "-1e+38" : "-inf";
            std::string text = problem_text(s, causal, mask, masked_score, Form::dense);
            const std::string stored[] = {"f32", "f16", "bf16"};
            for (std::size_t at = text.find(' ', text.find("f32")), i = 0; i < 2; ++i, at = text.find(' ', at + 1))
                text.replace(at + 1, 3, stored[variant % 3]);
            SCOPED_TRACE(text);
            SimdCase c(text);
            std::mt19937 random(static_cast<unsigned>(variant));
            for (Operand& input : c.inputs) input.fill(random);
            const double values[] = {NAN, INFINITY, -INFINITY};
            for (std::int64_t j = 0; j < s.keys; ++j)
                for (std::int64_t g = 0; g < s.key_heads; ++g)
                    c.inputs[2].set((g * s.keys + j) * s.value_depth + j, values[j % 3]);
            ASSERT_EQ(c.run(find(kernels_of(GetParam()), "attention"), 2), "");
            std::vector<double> row;
            for (std::int64_t i = 0; i < s.heads * s.queries; ++i) {
                expected_row(c, s, causal, mask_of_keys(s, mask), static_cast<double>(std::stof(masked_score)), 0,
                             i / s.queries, i % s.queries, row);
                for (std::int64_t d = 0; d < s.value_depth; ++d) {
                    const double a = c.outputs[0].get(i * s.value_depth + d), e = row[static_cast<std::size_t>(d)];
                    ASSERT_TRUE(a == e || (std::isnan(a) && std::isnan(e)))
                        << "row " << i << " element " << d << ": " << a << " for " << e;
                }
            }
        }
}

// With few tiles, tiles are split along their keys, and heads of a group share a tile. Results are bitwise equal for
// any number of threads. NaN in one split makes the result NaN, also in a hidden block, and with hidden blocks before
// or after it.
TEST_P(SimdAttention, StatesOfKeySplitsAreMerged) {
    for (const Shape4& s : {Shape4{1, 1, 1, 1, 3000, 16, 17}, Shape4{1, 4, 1, 1, 1500, 8, 8},
                            Shape4{1, 6, 2, 5, 1100, 9, 8}, Shape4{1, 1, 1, 70, 1300, 16, 16}})
        for (const bool is_special : {false, true}) {
            const std::string text = problem_text(s, true, true, "-1e+38", Form::dense);
            SCOPED_TRACE(text);
            SimdCase c(text);
            std::mt19937 random(5);
            for (Operand& input : c.inputs) input.fill(random);
            for (std::int64_t j = 0; j < s.keys; ++j) c.inputs[3].set(j, j % 7 != 0 && (j < 300 || j > 700));
            if (is_special) {
                c.inputs[2].set((s.keys - 1) * s.value_depth + 1, NAN);
                c.inputs[2].set(400 * s.value_depth + 2, INFINITY);
                for (const std::int64_t j : {350, 400, 690}) c.inputs[1].set(j * s.depth, NAN);
                c.inputs[2].set(350 * s.value_depth + 3, INFINITY);
                c.inputs[2].set(690 * s.value_depth + 4, NAN);
            }
            const Kernel& kernel = find(kernels_of(GetParam()), "attention");
            ASSERT_EQ(c.run(kernel, 1), "");
            const Operand once = c.outputs[0].copy();
            for (const int members : {2, 3}) {
                ASSERT_EQ(c.run(kernel, members), "");
                EXPECT_TRUE(c.outputs[0].same_bits(once)) << members;
            }
            std::vector<double> row;
            for (std::int64_t i = 0; i < s.heads * s.queries; ++i) {
                expected_row(c, s, true, mask_of_keys(s, true), -1e38, 0, i / s.queries, i % s.queries, row);
                for (std::int64_t d = 0; d < s.value_depth; ++d) {
                    const double a = c.outputs[0].get(i * s.value_depth + d), e = row[static_cast<std::size_t>(d)];
                    ASSERT_TRUE(std::isnan(e) ? std::isnan(a) : std::fabs(a - e) <= 1e-5)
                        << "row " << i << " element " << d << ": " << a << " for " << e;
                }
            }
        }
}

// A mask of the last few keys before each query hides whole blocks of keys and the first keys of another block. Their
// scores are not computed, but their values take effect if they are not finite.
TEST_P(SimdAttention, WindowsHideBlocks) {
    for (const std::int64_t queries : {3, 120})
        for (const char* const masked_score : {"-1e+38", "-inf"}) {
            const Shape4 s{1, 2, 1, queries, 700, 8, 9};
            std::string text = problem_text(s, true, false, masked_score, Form::dense);
            text.insert(text.find(" scale"), " pairs=(1)");
            text.insert(text.find(" ->"), " bool" + list({1, 1, queries, s.keys}, '[', ']'));
            SCOPED_TRACE(text);
            SimdCase c(text);
            std::mt19937 random(2);
            for (Operand& input : c.inputs) input.fill(random);
            for (std::int64_t t = 0; t < queries; ++t)
                for (std::int64_t j = 0; j < s.keys; ++j)
                    c.inputs[3].set(t * s.keys + j, t + s.keys - queries - j < 40);
            for (const std::int64_t j : {0, 130, 300}) c.inputs[1].set(j * s.depth, NAN);
            c.inputs[2].set(131 * s.value_depth + 3, INFINITY);
            c.inputs[2].set(515 * s.value_depth + 4, INFINITY);
            c.inputs[2].set((s.keys - 1) * s.value_depth, NAN);
            const Mask mask{Mask::Kind::boolean, {1, 1, queries, s.keys}};
            ASSERT_EQ(c.run(find(kernels_of(GetParam()), "attention"), 2), "");
            std::vector<double> row;
            for (std::int64_t i = 0; i < s.heads * queries; ++i) {
                expected_row(c, s, true, mask, static_cast<double>(std::stof(masked_score)), 0, i / queries,
                             i % queries, row);
                for (std::int64_t d = 0; d < s.value_depth; ++d) {
                    const double a = c.outputs[0].get(i * s.value_depth + d), e = row[static_cast<std::size_t>(d)];
                    ASSERT_TRUE(std::isnan(e) ? std::isnan(a) : std::fabs(a - e) <= 1e-5)
                        << "row " << i << " element " << d << ": " << a << " for " << e;
                }
            }
        }
}

/// Random booleans, or additive terms some of which hide keys; the first query sees nothing, the second only the lowest
/// scores.
void fill_mask(Operand& mask, const Mask& of, std::mt19937& random) {
    const std::int64_t queries = of.shape[2], keys = of.shape[3];
    for (std::int64_t i = 0; i < mask.size(); ++i) {
        const double chance = std::generate_canonical<double, 32>(random);
        const std::int64_t query = i / keys % queries;
        const bool nothing = queries > 1 && query == 0;
        if (of.kind != Mask::Kind::added)
            mask.set(i, nothing ? of.kind == Mask::Kind::hiding : chance < 0.5);
        else
            mask.set(i, nothing || chance < 0.2 ? -INFINITY : queries > 1 && query == 1 ? -1e30 : chance * 4 - 2);
    }
}

// Each axis of the mask may be 1. Hidden keys have any score: a low one gets no weight, others get their share.
TEST_P(SimdAttention, MasksOfPairs) {
    unsigned seed = 0;
    for (const Shape4& s :
         {Shape4{2, 4, 2, 3, 20, 8, 9}, Shape4{2, 2, 1, 40, 300, 16, 16}, Shape4{1, 2, 2, 9, 5, 4, 4}})
        for (const Mask::Kind kind : {Mask::Kind::boolean, Mask::Kind::hiding, Mask::Kind::added})
            for (int axes = 0; axes < 16; ++axes) {
                const char* const scores[] = {"-1e+38", "-1e+30", "-10000", "-0.5", "-inf"};
                const std::string masked_score = scores[++seed % 5];
                const bool causal = seed % 2 == 1;
                Mask mask{kind, {s.batch, s.heads, s.queries, s.keys}};
                for (int i = 0; i < 4; ++i)
                    if ((axes >> i & 1) != 0) mask.shape[i] = 1;
                const auto& m = mask.shape;
                std::string text = problem_text(s, causal, false, masked_score, Form::dense);
                text.insert(text.find(" scale"), kind == Mask::Kind::hiding ? " pairs=(1) hides=(1)" : " pairs=(1)");
                // In every second case keys have stride 2.
                text.insert(text.find(" ->"), (kind == Mask::Kind::added ? " f32" : " bool") +
                                                  list({m[0], m[1], m[2], m[3]}, '[', ']') + ":" +
                                                  list({m[1] * m[2] * m[3] * 2, m[2] * m[3] * 2, m[3] * 2,
                                                        1 + static_cast<std::int64_t>(seed / 2 % 2)},
                                                       '(', ')'));
                SCOPED_TRACE(text);
                std::mt19937 random(seed);
                SimdCase c(text);
                for (Operand& input : c.inputs) input.fill(random);
                fill_mask(c.inputs[3], mask, random);
                ASSERT_EQ(c.run(find(kernels_of(GetParam()), "attention"), 1 + static_cast<int>(seed % 3)), "");
                std::vector<double> row;
                for (std::int64_t i = 0; i < s.batch * s.heads * s.queries; ++i) {
                    expected_row(c, s, causal, mask, static_cast<double>(std::stof(masked_score)),
                                 i / (s.heads * s.queries), i / s.queries % s.heads, i % s.queries, row);
                    for (std::int64_t d = 0; d < s.value_depth; ++d) {
                        const double a = c.outputs[0].get(i * s.value_depth + d), e = row[static_cast<std::size_t>(d)];
                        ASSERT_TRUE(std::isnan(e) ? std::isnan(a) : std::fabs(a - e) <= 1e-5)
                            << "row " << i << " element " << d << ": " << a << " for " << e;
                    }
                }
            }
}

// With each kind of mask: capped scores stay below the cap and a bias decides; NaN and infinities propagate as in the
// definition.
TEST_P(SimdAttention, CapAndBias) {
    for (const Shape4& s : {Shape4{2, 4, 2, 3, 20, 8, 9}, Shape4{1, 2, 1, 40, 300, 16, 16}})
        for (const Mask::Kind kind : {Mask::Kind::boolean, Mask::Kind::hiding, Mask::Kind::added})
            for (int variant = 0; variant < 8; ++variant) {
                const bool causal = variant % 2 == 1, is_special = variant >= 4;
                const char* const masked_score = variant / 2 % 2 == 0 ? "-1e+30" : "-inf";
                std::string text = problem_text(s, causal, false, masked_score, Form::dense);
                text.insert(text.find(" scale"),
                            std::string(kind == Mask::Kind::hiding ? " hides=(1)" : "") + " pairs=(1) softcap=1.5");
                text.insert(text.find(" ->"), (kind == Mask::Kind::added ? " f32" : " bool") +
                                                  list({s.batch, 1, s.queries, s.keys}, '[', ']') + " f32" +
                                                  list({1, s.heads, s.queries, s.keys}, '[', ']'));
                SCOPED_TRACE(text);
                std::mt19937 random(static_cast<unsigned>(variant));
                SimdCase c(text);
                for (Operand& input : c.inputs) input.fill(random);
                const Mask mask{kind, {s.batch, 1, s.queries, s.keys}};
                const Mask bias{Mask::Kind::added, {1, s.heads, s.queries, s.keys}};
                fill_mask(c.inputs[3], mask, random);
                if (is_special) {
                    c.inputs[0].set(2 * s.depth, INFINITY);
                    c.inputs[4].set(2 * s.keys + 1, -INFINITY);
                    c.inputs[2].set(3 * s.value_depth, NAN);
                }
                ASSERT_EQ(c.run(find(kernels_of(GetParam()), "attention"), 1 + variant % 3), "");
                std::vector<double> row;
                for (std::int64_t i = 0; i < s.batch * s.heads * s.queries; ++i) {
                    expected_row(c, s, causal, mask, static_cast<double>(std::stof(masked_score)),
                                 i / (s.heads * s.queries), i / s.queries % s.heads, i % s.queries, row, {1.5, bias});
                    for (std::int64_t d = 0; d < s.value_depth; ++d) {
                        const double a = c.outputs[0].get(i * s.value_depth + d), e = row[static_cast<std::size_t>(d)];
                        ASSERT_TRUE(std::isnan(e) ? std::isnan(a) : std::fabs(a - e) <= 1e-5)
                            << "row " << i << " element " << d << ": " << a << " for " << e;
                    }
                }
            }
}

// Additive terms raise keys that only the last queries see to the level of keys that all see; some terms are NaN.
TEST_P(SimdAttention, AdditiveTermsCanRaiseHiddenKeys) {
    for (const Shape4& s : {Shape4{2, 4, 2, 3, 20, 8, 9}, Shape4{1, 2, 1, 40, 300, 16, 16}})
        for (int variant = 0; variant < 4; ++variant) {
            const bool of_keys = variant % 2 == 1, is_special = variant >= 2;
            const Mask mask{Mask::Kind::added, {s.batch, 1, of_keys ? 1 : s.queries, s.keys}};
            std::string text = problem_text(s, true, false, "-150", Form::dense);
            text.insert(text.find(" scale"), " pairs=(1) adds_to_hidden=(1)");
            text.insert(text.find(" ->"), " f32" + list({s.batch, 1, mask.shape[2], s.keys}, '[', ']'));
            SCOPED_TRACE(text);
            std::mt19937 random(static_cast<unsigned>(variant));
            SimdCase c(text);
            for (Operand& input : c.inputs) input.fill(random);
            for (std::int64_t i = 0; i < c.inputs[3].size(); ++i)
                if (i % s.keys > s.keys - (s.queries + 1) / 2) c.inputs[3].set(i, c.inputs[3].get(i) + 150);
            if (is_special) c.inputs[3].set(s.keys - 1, NAN);
            ASSERT_EQ(c.run(find(kernels_of(GetParam()), "attention"), 1 + variant % 3), "");
            std::vector<double> row;
            for (std::int64_t i = 0; i < s.batch * s.heads * s.queries; ++i) {
                expected_row(c, s, true, mask, -150, i / (s.heads * s.queries), i / s.queries % s.heads, i % s.queries,
                             row, {.adds_to_hidden = true});
                for (std::int64_t d = 0; d < s.value_depth; ++d) {
                    const double a = c.outputs[0].get(i * s.value_depth + d), e = row[static_cast<std::size_t>(d)];
                    // Floats near 150 are 1.5e-5 apart.
                    ASSERT_TRUE(std::isnan(e) ? std::isnan(a) : std::fabs(a - e) <= 5e-5)
                        << "row " << i << " element " << d << ": " << a << " for " << e;
                }
            }
        }
}

TEST_P(SimdAttention, LargeScoresDoNotOverflow) {
    SimdCase c("attention causal=(0) scale=1 | f32[1,1,6,4] f32[1,1,300,4] f32[1,1,300,4] -> f32[1,1,6,4]");
    std::mt19937 random(1);
    c.inputs[0].fill(random, 1e4);
    c.inputs[1].fill(random, 1e4);
    c.inputs[2].fill(random);
    c.run(find(kernels_of(GetParam()), "attention"));
    for (std::int64_t i = 0; i < 24; ++i) EXPECT_LT(std::fabs(c.outputs[0].get(i)), 5.0);
}

TEST(SimdAttentionRows, RefusalsHaveReasons) {
    const Kernel& kernel = find(kernels_of("baseline"), "attention");
    const auto refusal = [&](const std::string& text) {
        return kernel.accepts(parse_problem(text, *Symbols::create()));
    };
    const std::string operands = "f32[2,2,5,8] f32[2,2,6,8] f32[2,2,6,8]", out = " -> f32[2,2,5,8]";
    EXPECT_EQ(refusal("attention causal=(1) scale=1 masked_score=inf | " + operands + out),
              "needs a masked score below infinity");
    EXPECT_EQ(
        refusal("attention causal=(0) scale=1 | f32[1,1,5,8] f32[1,1,5,8]:(40,40,1,5) f32[1,1,5,8] -> f32[1,1,5,8]"),
        "needs a contiguous last axis");
    EXPECT_EQ(refusal("attention causal=(0) scale=1 | f16[1,1,5,8] f32[1,1,5,8] f32[1,1,5,8] -> f32[1,1,5,8]"),
              "needs f32");
    const std::string pairs = "attention causal=(0) pairs=(1) scale=1 | " + operands;
    for (const char* mask : {" bool[1,6]", " bool[5,6]", " bool[5,1]", " f32[2,5,6]", " f32[2,1,1,6]", " f32[1,1,1,1]"})
        EXPECT_EQ(refusal(pairs + mask + out), "") << mask;
    for (const char* mask : {" bool[6,5]", " bool[3,1,5,6]", " f32[3,5,6]", " f32[2,5]"})
        EXPECT_EQ(refusal(pairs + mask + out), "needs a mask of pairs with axes of [B,H,T,S] or 1") << mask;
    EXPECT_EQ(refusal(pairs + " i32[5,6]" + out), "needs a mask that is boolean or f32");
    EXPECT_EQ(refusal("attention causal=(0) scale=1 | " + operands + " f32[2,6]" + out),
              "needs a boolean key mask [B,S]");
    EXPECT_EQ(refusal("attention causal=(0) pairs=(1) hides=(1) scale=1 | " + operands + " f32[5,6]" + out),
              "needs a boolean mask with hides=(1)");
    for (const char* bias : {" f32[2,5,6]", " f32[1,6]", " f32[1,2,1,6]"})
        EXPECT_EQ(refusal(pairs + " bool[5,6]" + bias + out), "") << bias;
    EXPECT_EQ(refusal(pairs + " bool[5,6] f32[3,5,6]" + out), "needs a bias with axes of [B,H,T,S] or 1");
    EXPECT_EQ(refusal(pairs + " bool[5,6] bool[5,6]" + out), "needs an f32 bias");
    EXPECT_EQ(refusal("attention causal=(0) scale=1 | " + operands + " bool[2,6] f32[5,6]" + out),
              "needs a mask with pairs=(1) before a bias");
    EXPECT_EQ(refusal(pairs + " bool[5,6] f32[5,6] f32[5,6]" + out),
              "needs q, k, v, at most a mask and a bias, and one output");
    EXPECT_EQ(refusal("attention causal=(0) softcap=30 scale=1 | " + operands + out), "");
    for (const char* cap : {"0", "-1", "inf", "nan", "1e-31", "1e31"})
        EXPECT_EQ(refusal(std::string("attention causal=(0) softcap=") + cap + " scale=1 | " + operands + out),
                  "needs a softcap of 1e-30 to 1e30")
            << cap;
}

INSTANTIATE_TEST_SUITE_P(Levels, SimdAttention, testing::ValuesIn(level_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cairn::test
