// Rules for built objects: vector code only in the per-ISA objects, which export nothing but their function table.
#include "tests/house/objects.hpp"
#include "tests/house/loops.hpp"
#include "tests/house/source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

namespace cairn::house {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Built {
    std::string kind;  // `object`, `shared`, `careless`, or the name of the table of a per-ISA object
    std::string path;
};

/// The list of built objects that tests/objects.cmake writes.
std::vector<Built> built() {
    std::ifstream stream(CAIRN_BUILT_OBJECTS);
    std::vector<Built> list;
    for (Built item; stream >> item.kind >> std::ws && std::getline(stream, item.path);) list.push_back(item);
    return list;
}

bool is_isa(const Built& item) { return item.kind.starts_with("cairn_table_"); }

std::string exported(const std::string& path) { return output_of(CAIRN_NM " -P -g --defined-only '" + path + "'"); }
std::string groups(const std::string& path) { return output_of(CAIRN_READELF " -gW '" + path + "'"); }
std::string sections(const std::string& path) { return output_of(CAIRN_READELF " -SW '" + path + "'"); }
std::string code(const std::string& path) { return output_of(CAIRN_OBJDUMP " -d --no-show-raw-insn '" + path + "'"); }
std::string symbols(const std::string& path) { return output_of(CAIRN_OBJDUMP " -t '" + path + "'"); }

std::string listed(const Faults& faults) {
    std::string text;
    for (const auto& fault : faults) text += "\n  " + fault;
    return text;
}

/// Expects `rule` to find no faults in the objects that satisfy `wanted`, and at least `least` such objects.
template <typename Wanted, typename Rule>
void expect_no_faults(Wanted wanted, std::size_t least, Rule rule) {
    std::size_t count = 0;
    for (const Built& item : built()) {
        if (!wanted(item)) continue;
        ++count;
        const Faults faults = rule(item);
        EXPECT_TRUE(faults.empty()) << listed(faults);
    }
    EXPECT_GE(count, least) << "objects to check";
}

const auto is_object = [](const Built& item) { return item.kind == "object"; };
const auto is_shared = [](const Built& item) { return item.kind == "shared"; };

TEST(Objects, IsaObjectsExportOnlyTheirTable) {
    expect_no_faults(is_isa, 1,
                     [](const Built& item) { return unexpected_exports(item.path, exported(item.path), item.kind); });
}

TEST(Objects, IsaObjectsHaveNoGroups) {
    expect_no_faults(is_isa, 1, [](const Built& item) { return comdat_groups(item.path, groups(item.path)); });
}

TEST(Objects, IsaObjectsRunNothingAtStart) {
    expect_no_faults(is_isa, 1, [](const Built& item) { return initialisers(item.path, sections(item.path)); });
}

/// Removes faults of the loops that measure the peak of each arithmetic unit. They are inline assembler, so the linker
/// cannot use their code elsewhere.
Faults without_peak_loops(Faults faults) {
    std::erase_if(faults, [](const std::string& fault) { return fault.find("13run_peak_loopE") != fault.npos; });
    return faults;
}

TEST(Objects, OnlyIsaObjectsContainVectorCode) {
    expect_no_faults(is_object, 1,
                     [](const Built& item) { return without_peak_loops(vex_code(item.path, code(item.path))); });
    expect_no_faults([](const Built& item) { return item.kind == "cairn_table_baseline"; }, 1,
                     [](const Built& item) { return vex_code(item.path, code(item.path)); });
}

#if defined(__x86_64__)
TEST(Objects, DetectsVectorCodeOfIsaObjects) {
    for (const Built& item : built()) {
        if (!is_isa(item) || item.kind == "cairn_table_baseline") continue;
        EXPECT_FALSE(vex_code(item.path, code(item.path)).empty()) << item.path;
    }
}

#if !defined(__clang__)
/// A level that has products of integers alone, and one that has some products alone.
bool is_of_integers(const Built& item) { return item.kind == "cairn_table_avx512_vnni"; }
bool is_of_products(const Built& item) { return is_of_integers(item) || item.kind == "cairn_table_amx_bf16"; }

TEST(Objects, SumsOfIntegerTilesStayInRegisters) {
    constexpr std::array<std::string_view, 1> byte_tiles = {"compute_byte_tile"};
    for (const Built& item : built()) {
        if (!is_of_integers(item)) continue;
        int seen = 0;
        const std::string text = output_of(CAIRN_OBJDUMP " -dC --no-show-raw-insn '" + item.path + "'");
        const Faults faults = spilled_loops(item.path, text, byte_tiles, seen);
        EXPECT_TRUE(faults.empty()) << listed(faults);
        EXPECT_GE(seen, 20) << item.path;
    }
}

constexpr std::array<std::string_view, 7> tiles = {"compute_tile", "compute_conv_tile", "product_tile", "dot_tile",
                                                   "score_tile",   "key_tile",          "row_tile"};

TEST(Objects, AccumulatorsOfTilesStayInRegisters) {
    int levels = 0;
    for (const Built& item : built()) {
        if (!is_isa(item) || item.kind == "cairn_table_baseline" || is_of_products(item)) continue;
        ++levels;
        int seen = 0;
        const std::string text = output_of(CAIRN_OBJDUMP " -dC --no-show-raw-insn '" + item.path + "'");
        Faults faults = spilled_loops(item.path, text, tiles, seen);
        // Partial vectors of 16-bit floats are assembled in memory.
        std::erase_if(faults, [](const std::string& fault) {
            return fault.find(", true, ") != fault.npos && fault.find("F16>") != fault.npos;
        });
        EXPECT_TRUE(faults.empty()) << listed(faults);
        EXPECT_GE(seen, 20) << item.path;
    }
    EXPECT_GE(levels, 2);
}

TEST(Objects, TileCodeHasTheExpectedNumberOfMultiplyAdds) {
    for (const Built& item : built()) {
        if (!is_isa(item) || item.kind == "cairn_table_baseline" || is_of_products(item)) continue;
        std::map<std::string_view, int> seen;
        const std::string text = output_of(CAIRN_OBJDUMP " -dC --no-show-raw-insn '" + item.path + "'");
        const Faults faults = tiles_with_wrong_multiply_adds(item.path, text, seen);
        EXPECT_TRUE(faults.empty()) << listed(faults);
        for (const std::string_view tile : tiles) EXPECT_GE(seen[tile], 1) << item.path << ": " << tile;
    }
}
#endif

TEST(Objects, LevelsUseTheirOwnInstructions) {
    expect_no_faults(is_isa, 3, [](const Built& item) {
        return code_above_level(item.path, code(item.path), item.kind.substr(std::string_view("cairn_table_").size()));
    });
}

// The object of tests/house/careless, built without the steps that per-ISA objects get.
TEST(Objects, CarelessObjectsAreRefused) {
    std::string path;
    for (const Built& item : built())
        if (item.kind == "careless") path = item.path;
    ASSERT_FALSE(path.empty());
    EXPECT_THAT(unexpected_exports(path, exported(path), "careless_table"), Contains(HasSubstr("(W)")));
    EXPECT_THAT(unexpected_exports(path, exported(path), "careless_table"), Contains(HasSubstr("(u)")));
    EXPECT_FALSE(comdat_groups(path, groups(path)).empty());
    EXPECT_FALSE(initialisers(path, sections(path)).empty());
    EXPECT_FALSE(vex_code(path, code(path)).empty());
    EXPECT_THAT(mutable_globals(path, symbols(path)), Contains(HasSubstr("careless_count")));
}
#endif

TEST(Objects, NoObjectHasMutableGlobals) {
    expect_no_faults(is_object, 1, [](const Built& item) { return mutable_globals(item.path, symbols(item.path)); });
}

TEST(Objects, SharedLibrariesExportOnlyCairn) {
    expect_no_faults(is_shared, CAIRN_SHARED_BUILT, [](const Built& item) {
        return foreign_exports(item.path, output_of(CAIRN_NM " -P -D --defined-only '" + item.path + "'"));
    });
}

TEST(ObjectRules, Exports) {
    EXPECT_THAT(unexpected_exports("a.o", "table R 0 8\nf U\n__cxa w\n", "table"), IsEmpty());
    EXPECT_THAT(unexpected_exports("a.o", "table R 0 8\n_Z3foo W 0 4\n", "table"),
                ElementsAre("a.o: exports _Z3foo (W)"));
    EXPECT_THAT(unexpected_exports("a.o", "table V 0 8\n", "table").size(), 2u);
    EXPECT_THAT(unexpected_exports("a.o", "", "table"), ElementsAre("a.o: does not export table"));
    EXPECT_THAT(foreign_exports("a.so", "_ZN5cairn2v01fEv T 1\n_ZTVN5cairn2v05ErrorE V 2\n"), IsEmpty());
    EXPECT_THAT(foreign_exports("a.so", "_ZN5cairn6fusion1fEv T 1\n"),
                ElementsAre("a.so: exports _ZN5cairn6fusion1fEv"));
    EXPECT_THAT(foreign_exports("a.so", "sqlite3_open T 1\n_ZNSt6vectorIiE W 2\n").size(), 2u);
}

TEST(ObjectRules, Code) {
    const auto refused = [](const std::string& text) {
        return vex_code("a.o", "0 <f>:\n   4:\t" + text + "\n").size() == 1;
    };
    for (const char* text : {"vaddps %xmm0,%xmm1,%xmm2", "vzeroupper", "shlx %eax,%ebx,%ecx", "mulxq (%rdi),%rax,%rbx",
                             "kmovw %eax,%k1", "andn %eax,%ebx,%ecx"})
        EXPECT_TRUE(refused(text)) << text;
    for (const char* text :
         {"addps %xmm0,%xmm1", "cpuid", "xgetbv", "call 0 <vector>", "verw %ax", "imul %eax,%ebx", "shl %eax"})
        EXPECT_FALSE(refused(text)) << text;
}

TEST(ObjectRules, Loops) {
    const auto spills = [](std::string_view body) {
        int seen = 0;
        const std::string text = "0000000000000010 <cairn::tile<6, 2>(float*)>:\n  10:\tvxorps %ymm0,%ymm0,%ymm0\n" +
                                 std::string(body) + "  40:\tret\n";
        constexpr std::array<std::string_view, 1> tiles = {"tile"};
        return std::pair(spilled_loops("a.o", text, tiles, seen).size(), seen);
    };
    const std::string two = "  20:\tvfmadd231ps (%rax),%ymm1,%ymm2\n  24:\tvfmadd231ps %ymm1,%ymm3,%ymm4\n",
                      spill = "  28:\tvmovaps %ymm2,0x40(%rsp)\n", back = "  30:\tjne    20 <cairn::tile+0x10>\n";
    EXPECT_EQ(spills(two + back), std::pair(std::size_t{0}, 1));
    EXPECT_EQ(spills(two + spill + back), std::pair(std::size_t{1}, 1));
    EXPECT_EQ(spills(two + back + "  34:\tvmovaps %ymm2,0x40(%rsp)\n"), std::pair(std::size_t{0}, 1)) << "behind it";
    EXPECT_EQ(spills(two + "  28:\tmov    %rax,0x40(%rsp)\n" + back), std::pair(std::size_t{0}, 1)) << "no vector";
    EXPECT_EQ(spills(two + spill), std::pair(std::size_t{0}, 0)) << "no loop";
    EXPECT_EQ(spills(two + back + spill + "  38:\tjmp    10 <cairn::tile>\n"), std::pair(std::size_t{0}, 1))
        << "around the innermost";
    EXPECT_EQ(spills("  14:\tjmp    20 <x>\n  18:\tvfmadd231ps 0x40(%rsp),%ymm1,%ymm2\n  1c:\tret\n" + two +
                     "  28:\tje     18 <x>\n  2c:\tjmp    20 <x>\n"),
              std::pair(std::size_t{0}, 1))
        << "a jump back to the end";
    EXPECT_EQ(spills("  24:\tvfmadd231ps %ymm1,%ymm3,%ymm4\n" + spill + "  30:\tjne    24 <x>\n"),
              std::pair(std::size_t{0}, 0))
        << "one product";
}

TEST(ObjectRules, Levels) {
    const auto refused = [](const char* level, const std::string& text) {
        return code_above_level("a.o", "0 <f>:\n   4:\t" + text + "\n", level).size() == 1;
    };
    for (const char* text : {"vaddps %zmm0,%zmm1,%zmm2", "vaddps %ymm0,%ymm16,%ymm2", "kmovw  %eax,%k1",
                             "vpdpbusd %ymm0,%ymm1,%ymm2", "tilezero %tmm1", "popcnt %eax,%ebx"})
        EXPECT_TRUE(refused("avx2", text)) << text;
    for (const char* text : {"vpdpwssd %zmm0,%zmm1,%zmm2", "vdpbf16ps %zmm0,%zmm1,%zmm2", "vpopcntd %zmm1,%zmm0",
                             "vcvtneps2bf16 %zmm1,%ymm0", "tdpbssd %tmm1,%tmm2,%tmm3"})
        EXPECT_TRUE(refused("avx512", text)) << text;
    for (const char* text :
         {"vaddps %xmm0,%xmm1,%xmm2", "pshufb %xmm0,%xmm1", "pmulld %xmm0,%xmm1", "roundps $1,%xmm0,%xmm1"})
        EXPECT_TRUE(refused("baseline", text)) << text;
    EXPECT_TRUE(refused("avx512_vnni", "vdpbf16ps %zmm0,%zmm1,%zmm2"));
    EXPECT_FALSE(refused("avx512_vnni", "vpdpbusd %zmm0,%zmm1,%zmm2"));
    EXPECT_FALSE(refused("avx512", "vaddps %zmm0,%zmm31,%zmm2{%k1}{z}"));
    EXPECT_FALSE(refused("avx2", "vfmadd231ps 0x10(%rax),%ymm1,%ymm15"));
    EXPECT_FALSE(refused("avx2", "vpshufb %ymm0,%ymm1,%ymm2        # 18 <f+0x18>"));
    EXPECT_FALSE(refused("baseline", "mulps  %xmm0,%xmm15"));
    EXPECT_FALSE(refused("baseline", "shlq   $0x4,%rax"));
}

TEST(ObjectRules, ProductsOfTiles) {
    const auto step = [](std::string_view tile, int products) { return std::optional(TileStep{tile, products}); };
    EXPECT_EQ(multiply_adds_per_step("void a::compute_tile<float, 12, 1, 2, 1>(b<float> const&)"),
              step("compute_tile", 24));
    EXPECT_EQ(multiply_adds_per_step("void a::compute_tile<a::BF16, 4, 3, 2, 0>(float*)"), step("compute_tile", 24));
    EXPECT_EQ(multiply_adds_per_step("void a::product_tile<3, 8, 8, float>(b const&)"), step("product_tile", 24));
    EXPECT_EQ(multiply_adds_per_step("void a::product_tile<3, 8, 8, unsigned int>(b const&)"), std::nullopt);
    EXPECT_EQ(multiply_adds_per_step("void a::compute_conv_tile<4, 3>(b const&)"), step("compute_conv_tile", 12));
    EXPECT_EQ(multiply_adds_per_step("void a::score_tile<8, 3>(float*)"), step("score_tile", 24));
    EXPECT_EQ(multiply_adds_per_step("void a::key_tile<4, float>(float*)"), step("key_tile", 16));
    EXPECT_EQ(multiply_adds_per_step("void a::row_tile<3, 2, false, a::F16>(float*)"), step("row_tile", 6));
    EXPECT_EQ(multiply_adds_per_step("a::tile(float*)"), std::nullopt);
    EXPECT_EQ(multiply_adds_per_step("a::compute_tile<float>"), std::nullopt);
    const auto faults = [](int count) {
        std::string text = "0000000000000010 <void compute_tile<float, 2, 1, 2, 1>(x)>:\n";
        for (int i = 0; i < count; ++i) text += "  20:\tvfmadd231ps %ymm1,%ymm3,%ymm4\n";
        std::map<std::string_view, int> seen;
        const auto found = tiles_with_wrong_multiply_adds("a.o", text + "  30:\tjne    20 <x>\n", seen);
        return std::pair(found.size(), seen["compute_tile"]);
    };
    EXPECT_EQ(faults(4), std::pair(std::size_t{0}, 1));
    EXPECT_EQ(faults(8), std::pair(std::size_t{0}, 1)) << "two steps";
    EXPECT_EQ(faults(3), std::pair(std::size_t{1}, 1));
    EXPECT_EQ(faults(0), std::pair(std::size_t{1}, 1));
}

TEST(ObjectRules, MutableGlobals) {
    const auto symbol = [](const char* section, const char* name) {
        return "0000000000000000 l     O " + std::string(section) + "\t0000000000000008 " + name + "\n";
    };
    EXPECT_THAT(mutable_globals("a.o", symbol(".bss", "_ZL5count")), ElementsAre("a.o: _ZL5count can be written"));
    EXPECT_THAT(mutable_globals("a.o", symbol(".data.x", "_ZZ1fvE1n")).size(), 1u);
    EXPECT_THAT(mutable_globals("a.o", symbol(".tbss", "_ZL4mine")).size(), 1u);
    EXPECT_THAT(mutable_globals("a.o", symbol(".bss", "_ZZ1fvE1n") + symbol(".bss", "_ZGVZ1fvE1n")), IsEmpty());
    EXPECT_THAT(mutable_globals("a.o", symbol(".data.rel.ro", "_ZTV1A") + symbol(".data.rel.local", "_ZL4rows") +
                                           symbol(".rodata", "_ZL1k")),
                IsEmpty());
}

}  // namespace
}  // namespace cairn::house
