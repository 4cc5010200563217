#include "graph/types/small_vector.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cairn::types {
namespace {

using List = SmallVector<int, 4>;

TEST(SmallVector, BehavesLikeStdVector) {
    std::mt19937 random(1);
    List list;
    std::vector<int> expected;
    for (int step = 0; step < 20'000; ++step) {
        const auto value = static_cast<int>(random() % 8);
        const auto at = static_cast<std::ptrdiff_t>(random() % (expected.size() + 1));
        switch (random() % 6) {
            case 0:
                list.push_back(value);
                expected.push_back(value);
                break;
            case 1:
            case 2:
                EXPECT_EQ(list.insert(list.begin() + at, value) - list.begin(), at);
                expected.insert(expected.begin() + at, value);
                break;
            case 3:
                if (expected.empty()) break;
                list.pop_back();
                expected.pop_back();
                break;
            case 4: {
                const auto end = std::min(at + 2, static_cast<std::ptrdiff_t>(expected.size()));
                EXPECT_EQ(list.erase(list.begin() + at, list.begin() + end) - list.begin(), at);
                expected.erase(expected.begin() + at, expected.begin() + end);
                break;
            }
            default:
                if (random() % 8 != 0) break;
                list = std::vector<int>(random() % 7, value);
                expected = list;
        }
        ASSERT_EQ(list, expected) << step;
    }
}

TEST(SmallVector, KeepsItsElementsWhenCopiedOrMoved) {
    for (int count = 0; count < 10; ++count) {
        std::vector<int> expected;
        for (int i = 0; i < count; ++i) expected.push_back(i);
        const List list = expected;
        List copy = list;
        EXPECT_EQ(copy, list) << count;
        copy.push_back(count);
        EXPECT_NE(copy, list) << "a list of its own";
        copy = list;
        List moved = std::move(copy);
        EXPECT_EQ(moved, expected) << count;
        EXPECT_TRUE(copy.empty());
        copy.push_back(7);
        EXPECT_EQ(copy, List{7});
        moved = std::move(copy);
        EXPECT_EQ(moved, List{7});
    }
}

TEST(SmallVector, StoresFewElementsInPlace) {
    const List few{1, 2, 3, 4}, more{1, 2, 3, 4, 5};
    const auto is_stored_in_place = [](const List& list) {
        const auto* elements = reinterpret_cast<const std::byte*>(list.data());
        const auto* own = reinterpret_cast<const std::byte*>(&list);
        return elements >= own && elements < own + sizeof list;
    };
    EXPECT_TRUE(is_stored_in_place(few));
    EXPECT_FALSE(is_stored_in_place(more));
}

}  // namespace
}  // namespace cairn::types
