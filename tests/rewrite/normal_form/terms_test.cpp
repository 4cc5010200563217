#include "rewrite/normal_form/terms.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace cairn::test {
namespace {

using normal_form::ScaledTerm;
using normal_form::Term;
using normal_form::TermId;
using normal_form::TermKind;

class Terms : public testing::Test {
protected:
    TermId leaf(ir::NodeId node, const Shape& shape = {4}, DType dtype = DType::f32) {
        Term term = terms.draft(TermKind::leaf, dtype, terms.keep(shape));
        term.node = node;
        return terms.intern(term);
    }
    TermId sum(const std::vector<ScaledTerm>& parts, DType dtype = DType::f32) {
        Term term = terms.draft(TermKind::sum, dtype, terms.keep({4}));
        term.parts = parts;
        return terms.intern(term);
    }
    TermId op(ir::Op op, const Attributes& attributes, const std::vector<double>& values = {}) {
        Term term = terms.draft(TermKind::op, DType::f32, terms.keep({4}));
        term.op = op;
        term.attributes = &attributes;
        term.values = values;
        return terms.intern(term);
    }

    normal_form::Terms terms;
};

TEST_F(Terms, EqualTermsAreInterned) {
    const TermId x = leaf(0), y = leaf(1);
    EXPECT_NE(x, y);
    EXPECT_EQ(leaf(0), x);
    EXPECT_NE(leaf(0, {1, 5}), x) << "another shape";
    const TermId both = sum({{1, x}, {2, y}});
    EXPECT_EQ(sum({{1, x}, {2, y}}), both);
    EXPECT_NE(sum({{2, x}, {1, y}}), both);
    EXPECT_NE(sum({{1, x}, {2, y}}, DType::f64), both);
    EXPECT_EQ(terms.size(), 6U);
}

TEST_F(Terms, NumbersWithinToleranceAreEqualAcrossCells) {
    const TermId x = leaf(0), y = leaf(1);
    // Cells are 2^-12 wide here, so some of these numbers are on both sides of a cell boundary.
    for (int i = 0; i < 512; ++i) {
        const double number = 1 + i * 5e-6;
        const TermId made = sum({{number, x}, {1, y}});
        EXPECT_EQ(sum({{number * (1 + 0.9e-6), x}, {1, y}}), made) << i;
        EXPECT_EQ(sum({{number * (1 - 0.9e-6), x}, {1, y}}), made) << i;
    }
    EXPECT_NE(sum({{3, x}, {1, y}}), sum({{3.00001, x}, {1, y}}));
    const TermId exact = leaf(2, {4}, DType::f64);
    EXPECT_NE(sum({{3, exact}, {1, y}}, DType::f64), sum({{3.0000001, exact}, {1, y}}, DType::f64));
    EXPECT_EQ(sum({{0, x}, {0, y}}), sum({{0, x}, {0, y}})) << "numbers without a size";
}

TEST_F(Terms, CellsDistinguishMultiples) {
    for (double number = 1e-9; number < 1e9; number *= 1.0007) {
        const normal_form::ToleranceCells cells = normal_form::cells_of({number, 3}),
                                          other = normal_form::cells_of({number * 1.001, 3});
        EXPECT_FALSE(other.own == cells.low || other.own == cells.high) << number;
        for (const double same : {number, number * (1 + 0.99e-6), number * (1 - 0.99e-6)}) {
            const std::size_t own = normal_form::cells_of({same, 3}).own;
            EXPECT_TRUE(own == cells.low || own == cells.high) << number;
        }
    }
    EXPECT_NE(normal_form::cells_of({2, 3}).own, normal_form::cells_of({2, 4}).own);
}

TEST_F(Terms, DraftDataIsCopied) {
    TermId made = 0;
    {
        const Attributes axes{{"axes", std::vector<Dim>{-1}}};
        made = op(ir::Op::sum, axes, {1, 2, 3});
    }
    EXPECT_EQ(terms[made].attributes->dims("axes"), std::vector<Dim>{-1});
    EXPECT_EQ(std::vector<double>(terms[made].values.begin(), terms[made].values.end()),
              (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(op(ir::Op::sum, {{"axes", std::vector<Dim>{-1}}}, {1, 2, 3}), made);
    EXPECT_NE(op(ir::Op::sum, {{"axes", std::vector<Dim>{-2}}}, {1, 2, 3}), made);
    EXPECT_NE(op(ir::Op::sum, {{"axes", std::vector<Dim>{-1}}}, {1, 2, 4}), made);
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_NE(op(ir::Op::constant, {}, {infinity, 0}), op(ir::Op::constant, {}, {-infinity, 0}));
}

TEST_F(Terms, HaveStableAddresses) {
    const TermId x = leaf(0), first = sum({{1, x}, {2, leaf(1)}});
    const Term& term = terms[first];
    const ScaledTerm* parts = term.parts.data();
    for (ir::NodeId i = 2; i < 20000; ++i) sum({{1, x}, {2, leaf(i)}, {3, x}});
    EXPECT_EQ(&terms[first], &term);
    EXPECT_EQ(term.parts.data(), parts);
    EXPECT_EQ(term.whole.core, first);
    EXPECT_EQ(term.parts[1].core, 1U);
    EXPECT_EQ(sum({{1, x}, {2, 1}}), first);
    std::vector<ScaledTerm> many(10000, {1, x});
    EXPECT_EQ(terms[sum(many)].parts.size(), many.size()) << "more than a block holds";
}

TEST_F(Terms, StructureIgnoresNumbers) {
    const TermId x = leaf(0), y = leaf(1);
    EXPECT_EQ(terms.structure(sum({{1, x}, {2, y}})), terms.structure(sum({{1, x}, {7, y}})));
    EXPECT_NE(terms.structure(sum({{1, x}, {2, y}})), terms.structure(sum({{1, x}, {2, x}})));
    EXPECT_NE(terms.structure(x), terms.structure(y));
}

TEST_F(Terms, ShapesAreInterned) {
    const Shape shape{3, 4};
    EXPECT_EQ(terms.keep(shape), terms.keep({3, 4}));
    EXPECT_NE(terms.keep(shape), terms.keep({4, 3}));
    EXPECT_EQ(terms.keep({}), terms.scalar());
}

}  // namespace
}  // namespace cairn::test
