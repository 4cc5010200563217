#include "program/view_bounds.hpp"

#include "tests/program/sizes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn::program {
namespace {

struct StridedView {
    Dim offset = 0;
    std::vector<Dim> sizes, strides;
};

std::vector<Dim> dense(const std::vector<Dim>& sizes) {
    std::vector<Dim> strides(sizes.size(), Dim(1));
    for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
    return strides;
}

Dim product(const std::vector<Dim>& sizes) {
    Dim result = 1;
    for (const Dim& size : sizes) result = result * size;
    return result;
}

/// A size as models have them, at least 1.
Dim model_size(std::mt19937& random, const Dim& n, const Dim& m) {
    switch (random() % 10) {
        case 0: return n;
        case 1: return n + 1;
        case 2: return n - 1;
        case 3: return 2 * n - 1;
        case 4: return floordiv(n, 2);
        case 5: return ceildiv(m - 1, 2);
        case 6: return floordiv(n - 2, 2) + 1;
        case 7: return n * m;
        case 8: return floordiv(floordiv(m + 2, 2) + 1, 2);
        default: return static_cast<int>(1 + random() % 5);
    }
}

/// Applies one more view op at random: a slice, a window, a transpose, a repeated axis.
void apply_view_op(std::mt19937& random, StridedView& view) {
    const std::size_t axis = random() % view.sizes.size();
    Dim &size = view.sizes[axis], &stride = view.strides[axis];
    const int step = static_cast<int>(1 + random() % 3), count = static_cast<int>(1 + random() % 3);
    const std::int64_t least = size.lower_bound();
    switch (random() % 6) {
        case 0:
            if (least < 1) return;
            view.offset = view.offset + stride;
            size = ceildiv(size - 1, step);
            stride = stride * step;
            return;
        case 1:
            if (least < 1) return;
            view.offset = view.offset + (size - 1) * stride;
            size = 1;
            return;
        case 2:
            size = ceildiv(size, step);
            stride = stride * step;
            return;
        case 3: {
            if (least < count) return;
            const Dim inner = stride;
            size = floordiv(size - count, step) + 1;
            stride = stride * step;
            view.sizes.push_back(count);
            view.strides.push_back(inner);
            return;
        }
        case 4: {
            const std::size_t other = random() % view.sizes.size();
            std::swap(view.sizes[axis], view.sizes[other]);
            std::swap(view.strides[axis], view.strides[other]);
            return;
        }
        default: view.sizes.push_back(count); view.strides.push_back(0);
    }
}

/// Whether the view is within the buffer at all values; a view of no element always is.
bool is_within(const StridedView& view, const std::vector<Dim>& buffer, const Symbols& symbols) {
    bool within = true;
    cairn::test::for_all_values(symbols, [&](const std::vector<std::int64_t>& values) {
        std::int64_t end = view.offset.evaluate(values);
        if (end < 0) within = false;
        for (std::size_t i = 0; i < view.sizes.size(); ++i) {
            const std::int64_t size = view.sizes[i].evaluate(values);
            if (size == 0) return;
            end += (size - 1) * view.strides[i].evaluate(values);
        }
        within = within && end < product(buffer).evaluate(values);
    });
    return within;
}

struct Drawn {
    std::shared_ptr<Symbols> symbols = Symbols::create();
    std::vector<Dim> buffer;
    StridedView view;
};

/// A buffer of two to four axes, or of one that was reshaped to them, and a view of it.
Drawn draw(std::mt19937& random, std::int64_t most) {
    Drawn drawn;
    const Dim n = drawn.symbols->add("N", 4, most), m = drawn.symbols->add("M", 5, most);
    const auto rank = static_cast<unsigned>(2 + random() % 3);
    for (unsigned i = 0; i < rank; ++i) drawn.buffer.push_back(model_size(random, n, m));
    drawn.view = {0, drawn.buffer, dense(drawn.buffer)};
    if (random() % 4 == 0) drawn.buffer = {product(drawn.buffer)};
    for (unsigned i = 0; i < 1 + random() % 4; ++i) apply_view_op(random, drawn.view);
    return drawn;
}

bool is_proved(const Drawn& drawn) {
    Program program;
    program.symbols = drawn.symbols;
    NonnegativeProver prover(program);
    for (const std::vector<Dim>& sizes : {drawn.buffer, drawn.view.sizes})
        for (const Dim& size : sizes)
            if (!prover.proved(size)) return false;
    const ViewRegion region{drawn.view.offset, drawn.view.sizes, drawn.view.strides, drawn.buffer};
    return begins_within(region, prover) && ends_within(region, prover);
}

std::string text_of(const Drawn& drawn) {
    std::string text = to_string(drawn.view.offset) + " +";
    for (std::size_t i = 0; i < drawn.view.sizes.size(); ++i)
        text += " [" + to_string(drawn.view.sizes[i]) + "] x " + to_string(drawn.view.strides[i]);
    text += " of";
    for (const Dim& size : drawn.buffer) text += " [" + to_string(size) + "]";
    return text;
}

// Ranges that are too large for branch and bound.
TEST(ViewBounds, ViewsOfOpsAreProved) {
    std::mt19937 random(1);
    for (int round = 0; round < 600; ++round) {
        const Drawn drawn = draw(random, 100000);
        EXPECT_TRUE(is_proved(drawn)) << text_of(drawn);
    }
}

TEST(ViewBounds, ProvedViewsAreInBoundsAtAllSizes) {
    std::mt19937 random(2);
    int proved = 0, refused = 0, outside = 0;
    for (int round = 0; round < 1500; ++round) {
        Drawn drawn = draw(random, 9);
        StridedView& view = drawn.view;
        const std::size_t axis = random() % view.sizes.size();
        const Dim n = *drawn.symbols->find("N");
        switch (random() % 8) {
            case 0: view.offset = view.offset + 1; break;
            case 1: view.offset = view.offset - 1; break;
            case 2: view.sizes[axis] = view.sizes[axis] + 1; break;
            case 3: view.strides[axis] = view.strides[axis] + 1; break;
            case 4: view.strides[axis] = view.strides[random() % view.strides.size()]; break;
            case 5: view.sizes[axis] = n; break;
            case 6: drawn.buffer[random() % drawn.buffer.size()] = n; break;
            default: view.offset = view.offset + view.strides[axis];
        }
        const bool within = is_within(view, drawn.buffer, *drawn.symbols);
        if (is_proved(drawn)) {
            ++proved;
            EXPECT_TRUE(within) << text_of(drawn);
        } else {
            ++(within ? refused : outside);
        }
    }
    EXPECT_GT(proved, 200);
    EXPECT_GT(outside, 500);
    EXPECT_LT(refused, 100) << "views that are within, by chance or for being empty where they reach beyond";
}

TEST(ViewBounds, AStateHasRoomForTheRowsOfARun) {
    const auto symbols = Symbols::create();
    const Dim p = symbols->add("P", 0, 60), t = symbols->add("T", 1, 8);
    Program program;
    program.symbols = symbols;
    NonnegativeProver prover(program);
    const std::vector<Dim> sizes{t, 16}, strides{16, 1}, buffer{64, 16};
    const ViewRegion region{p * 16, sizes, strides, buffer};
    EXPECT_FALSE(ends_within(region, prover)) << "P + T may be 68";
    EXPECT_TRUE(ends_within(region, prover, Dim(64) - (p + t), 16));
}

}  // namespace
}  // namespace cairn::program
