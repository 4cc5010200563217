#include "runtime/kernel_binary_text.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace cairn::runtime {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

device::KernelBinary binary_of(char letter, std::size_t bytes) {
    device::KernelBinary binary;
    binary.keys = {std::string(32, letter)};
    binary.architecture = "sm_90a";
    binary.device = "NVIDIA H100 80GB HBM3";
    binary.compiler = "NVRTC 13.0";
    for (std::size_t i = 0; i < bytes; ++i) binary.image.push_back(static_cast<std::byte>(i * 7 + 1));
    return binary;
}

TEST(KernelBinaryText, IsParsedAsItWasPrinted) {
    device::KernelBinary several = binary_of('a', 1000);
    several.keys.push_back(std::string(32, 'c'));
    const std::string text = to_string(several) + to_string(binary_of('b', 1));
    EXPECT_THAT(text,
                testing::StartsWith("# code sm_90a\ndevice NVIDIA H100 80GB HBM3\ncompiler NVRTC 13.0\nkey aaaa"));
    const ParsedBinaries parsed = parse_kernel_binaries(text);
    EXPECT_FALSE(parsed.is_damaged);
    ASSERT_THAT(parsed.binaries, SizeIs(2));
    EXPECT_EQ(*parsed.binaries[0], several);
    EXPECT_EQ(*parsed.binaries[1], binary_of('b', 1));
    EXPECT_THAT(parse_kernel_binaries("").binaries, IsEmpty());
    EXPECT_FALSE(parse_kernel_binaries("").is_damaged);
}

TEST(KernelBinaryText, NamesOfDevicesTakeOneLine) {
    device::KernelBinary binary = binary_of('a', 10);
    binary.device = "a card\n# digest or\tso";
    const ParsedBinaries parsed = parse_kernel_binaries(to_string(binary));
    EXPECT_FALSE(parsed.is_damaged);
    ASSERT_THAT(parsed.binaries, SizeIs(1));
    EXPECT_EQ(parsed.binaries[0]->device, "a card # digest or so");
}

// Every byte counts: with any of them changed, its binary is left out and the others are found.
TEST(KernelBinaryText, AChangedByteCostsOneBinary) {
    const std::string first = to_string(binary_of('a', 50)), second = to_string(binary_of('b', 50)),
                      text = first + second + to_string(binary_of('c', 50));
    for (std::size_t at = first.size(); at < first.size() + second.size(); ++at) {
        for (const char flipped : {'\1', ' ', '\177'}) {
            std::string damaged = text;
            damaged[at] = static_cast<char>(damaged[at] ^ flipped);
            const ParsedBinaries parsed = parse_kernel_binaries(damaged);
            EXPECT_TRUE(parsed.is_damaged) << at;
            for (const auto& binary : parsed.binaries)
                EXPECT_TRUE(*binary == binary_of('a', 50) || *binary == binary_of('c', 50)) << at;
            // A headline ends the binary before it.
            const bool joins_two = at < first.size() + 7 || at + 1 == first.size() + second.size();
            EXPECT_GE(parsed.binaries.size(), joins_two ? 1U : 2U) << at;
        }
    }
}

TEST(KernelBinaryText, ATextThatIsCutKeepsWhatIsWhole) {
    const std::string first = to_string(binary_of('a', 50)), text = first + to_string(binary_of('b', 50));
    for (std::size_t size = 0; size < text.size(); ++size) {
        const ParsedBinaries parsed = parse_kernel_binaries(std::string_view(text).substr(0, size));
        EXPECT_EQ(parsed.is_damaged, size != 0 && size != first.size()) << size;
        // Where the second one begins is known by its headline.
        const bool has_first = size == first.size() || size >= first.size() + 7;
        EXPECT_EQ(parsed.binaries.size(), has_first ? 1U : 0U) << size;
    }
    EXPECT_TRUE(parse_kernel_binaries("anything else\n").is_damaged);
}

}  // namespace
}  // namespace cairn::runtime
