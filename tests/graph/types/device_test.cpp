#include "cairn/types.hpp"
#include "graph/types/device_code.hpp"

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

namespace cairn {
namespace {

TEST(Device, TextsAndCodesOfAllDevicesAreReadBack) {
    std::set<std::string> texts;
    std::set<std::int64_t> codes;
    const auto check = [&](Device device) {
        EXPECT_EQ(parse_device(to_string(device)), device);
        EXPECT_EQ(types::device_of_code(types::device_code(device)), device);
        texts.insert(to_string(device));
        codes.insert(types::device_code(device));
    };
    check(Device::cpu);
    for (int index = 0; index < 256; ++index) check(Device::cuda(index));
    EXPECT_EQ(texts.size(), 257U);
    EXPECT_EQ(codes.size(), 257U);
}

TEST(Device, TextsAndCodesAreStable) {
    std::ostringstream out;
    out << Device::cpu << ' ' << Device::cuda() << ' ' << Device::cuda(1);
    EXPECT_EQ(out.str(), "cpu cuda cuda:1");
    EXPECT_EQ(types::device_code(Device::cuda()), 1);
    EXPECT_EQ(types::device_code(Device::cuda(1)), 257);
}

TEST(Device, NothingElseIsADevice) {
    for (const char* text :
         {"", "gpu", "cpu:0", "cuda:", "cuda:0", "cuda:01", "cuda:256", "cuda:-1", "cuda:1 ", "CUDA"})
        EXPECT_EQ(parse_device(text), std::nullopt) << text;
    for (const std::int64_t code : {-1, 2, 255, 256, 258, 65536, 65537})
        EXPECT_EQ(types::device_of_code(code), std::nullopt) << code;
    EXPECT_THROW(Device::cuda(-1), Error);
    EXPECT_THROW(Device::cuda(256), Error);
}

}  // namespace
}  // namespace cairn
