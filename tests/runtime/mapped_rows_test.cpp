#include "runtime/mapped_rows.hpp"

#include "device/cpu/cpu_backend.hpp"
#include "tests/device/private_memory_backend.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

namespace cairn::runtime {
namespace {

/// Memory of i32 whose elements are their own positions.
std::unique_ptr<device::Memory> positions(device::Backend& backend, std::int64_t count) {
    auto memory = backend.reserve(static_cast<std::size_t>(4 * count), device::MemoryUse::state);
    memory->touch(0, memory->capacity());
    std::vector<std::int32_t> elements;
    for (std::int32_t i = 0; i < count; ++i) elements.push_back(i);
    memory->write({0, memory->capacity()}, reinterpret_cast<const std::byte*>(elements.data()));
    return memory;
}

TEST(MappedRows, SegmentsAreTheLiveElementsInOrderWhereverTheMemoryIs) {
    const auto cpu = device::cpu_backend(1);
    test::PrivateMemoryBackend device(1);
    std::mt19937 random(1);
    const auto below = [&](std::int64_t end) {
        return static_cast<std::int64_t>(random() % static_cast<unsigned>(end));
    };
    for (int round = 0; round < 500; ++round) {
        TensorDesc desc = TensorDesc::dense(DType::i32, {});
        std::vector<std::int64_t> sizes, live;
        const auto rank = static_cast<std::size_t>(1 + below(4));
        for (std::size_t axis = 0; axis < rank; ++axis) {
            sizes.push_back(1 + below(5));
            live.push_back(below(4) == 0 ? below(sizes.back() + 1) : sizes.back());
        }
        desc = TensorDesc::dense(DType::i32, Shape(sizes.begin(), sizes.end()));
        const int axis = static_cast<int>(below(static_cast<std::int64_t>(rank) + 1)) - 1;
        std::int64_t begin = 0, end = 0;
        if (axis >= 0) {
            const auto at = static_cast<std::size_t>(axis);
            begin = below(sizes[at] + 1);
            end = begin + below(sizes[at] - begin + 1);
            live[at] = end - begin;
        }
        // The expected positions, by all indices in row-major order.
        std::vector<std::int32_t> expected;
        std::int64_t count = 1;
        for (const std::int64_t size : sizes) count *= size;
        for (std::int64_t position = 0; position < count; ++position) {
            std::int64_t rest = position;
            bool is_live = true;
            for (std::size_t i = rank; i-- > 0; rest /= sizes[i]) {
                const std::int64_t index = rest % sizes[i], first = static_cast<int>(i) == axis ? begin : 0;
                is_live = is_live && index >= first && index < first + live[i];
            }
            if (is_live) expected.push_back(static_cast<std::int32_t>(position));
        }
        for (device::Backend* const backend :
             {static_cast<device::Backend*>(cpu.get()), static_cast<device::Backend*>(&device)}) {
            const auto memory = positions(*backend, count);
            std::vector<std::int32_t> seen;
            MappedRows rows(*memory, desc, axis, begin, end, MapAccess::modify);
            rows.for_each_segment([&](std::size_t i) { return live[i]; },
                                  [&](std::byte* at, std::size_t elements) {
                                      for (std::size_t i = 0; i < elements; ++i) {
                                          std::int32_t element = 0;
                                          std::memcpy(&element, at + 4 * i, 4);
                                          seen.push_back(element);
                                          element = -1;
                                          std::memcpy(at + 4 * i, &element, 4);
                                      }
                                  });
            rows.write_back();
            EXPECT_EQ(seen, expected) << "round " << round;
            std::vector<std::int32_t> after(static_cast<std::size_t>(count)), wanted;
            memory->read({0, memory->capacity()}, reinterpret_cast<std::byte*>(after.data()));
            for (std::int32_t i = 0; i < count; ++i) wanted.push_back(i);
            for (const std::int32_t i : expected) wanted[static_cast<std::size_t>(i)] = -1;
            EXPECT_EQ(after, wanted) << "round " << round;
        }
    }
}

}  // namespace
}  // namespace cairn::runtime
