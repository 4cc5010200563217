// Checks the rules of the code (tests/house) on the repository, and each rule on a small tree that violates it.
#include "tests/house/arrows.hpp"
#include "tests/house/mirror.hpp"
#include "tests/house/op_rules.hpp"
#include "tests/house/rules.hpp"
#include "tests/house/source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn::house {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Tree& house() {
    static const Tree tree = read_tree(CAIRN_SOURCE_DIR);
    return tree;
}

std::string listed(const Faults& faults) {
    std::string text;
    for (const auto& fault : faults) text += "\n  " + fault;
    return text;
}

#define EXPECT_NO_FAULTS(rule)                         \
    do {                                               \
        const Faults faults = rule(house());           \
        EXPECT_TRUE(faults.empty()) << listed(faults); \
    } while (false)

TEST(House, ReadsTheTree) {
    EXPECT_GT(house().size(), 20u);
    EXPECT_FALSE(resolve(house(), "cairn/error.hpp", "src").empty());
    EXPECT_FALSE(resolve(house(), "tests/house/tree.hpp", "tests").empty());
}

TEST(House, IncludesFollowTheArrows) { EXPECT_NO_FAULTS(forbidden_includes); }

TEST(House, ForbiddenIncludesAreRefused) {
    const auto refused = [](const char* path, const char* include) {
        Tree tree = {{"include/cairn/error.hpp", ""},          {"include/cairn/models/gpt2.hpp", ""},
                     {"include/cairn/text/bpe.hpp", ""},       {"include/cairn/types.hpp", ""},
                     {"kernels/cpu/registry.hpp", ""},         {"src/graph/ir/print.hpp", ""},
                     {"src/program/memory_plan/pack.hpp", ""}, {"src/runtime/state.hpp", ""},
                     {"src/apps/text/unicode.hpp", ""},        {"src/graph/types/dim.hpp", ""},
                     {"src/rewrite/simplify/rule.hpp", ""}};
        tree.push_back({path, std::string("#include \"") + include + "\"\n"});
        std::sort(tree.begin(), tree.end(), [](const File& a, const File& b) { return a.path < b.path; });
        return forbidden_includes(tree);
    };
    EXPECT_THAT(refused("src/graph/ir/a.cpp", "rewrite/simplify/rule.hpp"),
                ElementsAre(HasSubstr("src/graph/ir/a.cpp:1: ir may not see simplify")));
    EXPECT_THAT(refused("src/program/memory_plan/a.cpp", "cairn/types.hpp"),
                ElementsAre(HasSubstr("memory_plan may not see face")));
    EXPECT_THAT(refused("src/program/memory_plan/a.cpp", "cairn/error.hpp"),
                ElementsAre(HasSubstr("memory_plan may not see error")));
    EXPECT_THAT(refused("src/apps/text/a.cpp", "cairn/types.hpp"), ElementsAre(HasSubstr("text may not see face")));
    EXPECT_THAT(refused("src/apps/models/a.cpp", "apps/text/unicode.hpp"),
                ElementsAre(HasSubstr("models may not see text")));
    EXPECT_THAT(refused("src/apps/models/a.cpp", "graph/types/dim.hpp"),
                ElementsAre(HasSubstr("models may not see types")));
    EXPECT_THAT(refused("kernels/cpu/simd/a.cpp", "graph/ir/print.hpp"),
                ElementsAre(HasSubstr("kernels may not see ir")));
    EXPECT_THAT(refused("src/selection/choose/a.cpp", "runtime/state.hpp"),
                ElementsAre(HasSubstr("choose may not see runtime")));
    EXPECT_THAT(refused("src/selection/choose/a.cpp", "kernels/cpu/registry.hpp"),
                ElementsAre(HasSubstr("choose may not see kernels")));
    EXPECT_THAT(refused("src/selection/choose/a.cpp", "program/memory_plan/pack.hpp"),
                ElementsAre(HasSubstr("choose may not see memory_plan")));
    EXPECT_THAT(refused("src/driver/compile.cpp", "cairn/models/gpt2.hpp"),
                ElementsAre(HasSubstr("driver may not see face/models")));
    EXPECT_THAT(refused("src/loose.cpp", "graph/ir/print.hpp"), ElementsAre(HasSubstr("unknown room 'loose.cpp'")));
    EXPECT_THAT(refused("include/cairn/graph.hpp", "graph/ir/print.hpp"),
                ElementsAre(HasSubstr("face may not see ir")));
    EXPECT_THAT(refused("include/cairn/cairn.hpp", "cairn/text/bpe.hpp"),
                ElementsAre(HasSubstr("face may not see face/text")));
    EXPECT_THAT(refused("examples/a.cpp", "graph/ir/print.hpp"), ElementsAre(HasSubstr("examples may not see ir")));
    EXPECT_THAT(refused("src/attic/a.cpp", "graph/ir/print.hpp"), ElementsAre(HasSubstr("unknown room 'attic'")));
    EXPECT_THAT(refused("src/graph/ir/a.cpp", "print.hpp"), ElementsAre(HasSubstr("no file \"print.hpp\"")));
    EXPECT_THAT(refused("src/graph/ir/a.cpp", "graph/types/dim.hpp"), IsEmpty());
    EXPECT_THAT(refused("src/apps/text/a.cpp", "cairn/error.hpp"), IsEmpty());
    EXPECT_THAT(refused("src/driver/context.cpp", "kernels/cpu/registry.hpp"), IsEmpty());
    EXPECT_THAT(refused("tests/graph/ir/a_test.cpp", "program/memory_plan/pack.hpp"), IsEmpty());
    EXPECT_THAT(refused("tests/graph/ir/a_test.cpp", "a_test.cpp"), IsEmpty());
    EXPECT_THAT(refused("tests/graph/ir/a_test.cpp", "b_test.cpp"), ElementsAre(HasSubstr("no file \"b_test.cpp\"")));
}

TEST(House, ArrowsHaveNoCycle) {
    // Topological sort: repeatedly removes rooms that see none of the remaining ones.
    PermittedIncludes left = permitted_includes();
    for (bool moved = true; moved;) {
        moved = false;
        for (auto it = left.begin(); it != left.end();) {
            bool has_no_dependence = true;
            for (const auto& seen : it->second) has_no_dependence = has_no_dependence && !left.contains(seen);
            it = has_no_dependence ? (moved = true, left.erase(it)) : std::next(it);
        }
    }
    EXPECT_TRUE(left.empty()) << left.begin()->first << " is in a ring";
}

TEST(House, FoldersAndFilesHaveNoCycle) { EXPECT_NO_FAULTS(cycles); }

TEST(House, CyclesAreRefused) {
    const Tree folders = {
        {"src/a/x.hpp", "#include \"b/y.hpp\""}, {"src/a/z.hpp", ""}, {"src/b/y.hpp", "#include \"a/z.hpp\""}};
    EXPECT_THAT(cycles(folders), ElementsAre(HasSubstr("src/a > src/b > src/a")));
    const Tree files = {{"src/a/x.hpp", "#include \"a/y.hpp\""}, {"src/a/y.hpp", "#include \"a/x.hpp\""}};
    EXPECT_THAT(cycles(files), ElementsAre(HasSubstr("src/a/x.hpp > src/a/y.hpp > src/a/x.hpp")));
    const Tree inner = {
        {"src/a/in/y.hpp", ""}, {"src/a/in/z.cpp", "#include \"a/x.hpp\""}, {"src/a/x.hpp", "#include \"a/in/y.hpp\""}};
    EXPECT_THAT(cycles(inner), IsEmpty());
}

TEST(House, LinksFollowTheArrows) { EXPECT_NO_FAULTS(wrong_room_declarations); }

TEST(House, WrongLinksAreRefused) {
    const auto refused = [](const char* build, const char* include = "") {
        return wrong_room_declarations({{"src/fusion/rule.hpp", ""},
                                        {"src/graph/ir/CMakeLists.txt", build},
                                        {"src/graph/ir/a.cpp", include},
                                        {"src/graph/types/dim.hpp", ""}});
    };
    EXPECT_THAT(refused("cairn_room(ir SOURCES a.cpp SEES types)"), IsEmpty());
    EXPECT_THAT(refused("cairn_room(ir SOURCES a.cpp\n  SEES types fusion)"),
                ElementsAre(HasSubstr("ir may not see fusion")));
    EXPECT_THAT(refused("cairn_room(fusion SOURCES a.cpp SEES)"), ElementsAre(HasSubstr("is in the folder of ir")));
    EXPECT_THAT(refused("cairn_room(ir SOURCES a.cpp) # SEES types", "#include \"graph/types/dim.hpp\""),
                ElementsAre(HasSubstr("SEES lacks types, which src/graph/ir/a.cpp includes")));
    EXPECT_THAT(refused("cairn_room(ir SOURCES a.cpp USES sqlite)"),
                ElementsAre(HasSubstr("only database may use sqlite")));
    EXPECT_THAT(refused("cairn_room(ir SOURCES a.cpp USES eigen)"), ElementsAre(HasSubstr("cairn_isa_sources")));
    EXPECT_THAT(refused("add_library(cairn_ir OBJECT a.cpp)"),
                ElementsAre(HasSubstr("no cairn_room"), HasSubstr("add_library")));
    EXPECT_THAT(refused("file(GLOB x *.cpp)\ncairn_room(ir SOURCES ${x})"), ElementsAre(HasSubstr("GLOB")));
    EXPECT_THAT(refused("cairn_room(ir SOURCES a.cpp)\ntarget_link_libraries(cairn_ir cairn_fusion)"),
                ElementsAre(HasSubstr("target_link_libraries")));
}

TEST(House, LayoutPageMatchesTheTree) { EXPECT_NO_FAULTS(layout_page_faults); }

TEST(House, WrongLayoutPageIsRefused) {
    std::string page = "`src/graph/ir/`\n## Arrows\n";
    for (const auto& [room, seen] : permitted_includes()) {
        page += "| `" + room + "` |";
        for (const auto& name : seen) page += " `" + name + "`";
        page += " |\n";
    }
    const auto faults = [](const std::string& text) {
        return layout_page_faults({{"docs/layout.md", text}, {"src/graph/ir/print.cpp", ""}});
    };
    EXPECT_THAT(faults(page), IsEmpty());
    EXPECT_THAT(faults(page.substr(9)), ElementsAre(HasSubstr("does not describe `src/graph/ir/`")));
    EXPECT_THAT(faults(page + "| `attic` | `ir` |\n"), ElementsAre(HasSubstr("unknown room `attic`")));
    EXPECT_THAT(faults(page + "| `ir` | `fusion` |\n"),
                ElementsAre(HasSubstr("`ir` sees fusion there, but face types in the test")));
    EXPECT_THAT(faults("`src/graph/ir/`").size(), permitted_includes().size());
    EXPECT_THAT(layout_page_faults({}), ElementsAre(HasSubstr("is not there")));
}

TEST(House, FilesAreShort) { EXPECT_NO_FAULTS(long_files); }

TEST(House, LongFilesAreRefused) {
    std::string text;
    for (int i = 0; i < 600; ++i) text += "x\n";
    EXPECT_THAT(long_files({{"src/graph/ir/a.cpp", text}}), IsEmpty());
    EXPECT_THAT(long_files({{"src/graph/ir/a.cpp", text + "x"}}),
                ElementsAre(HasSubstr("src/graph/ir/a.cpp: 601 lines")));
}

TEST(House, FaceIncludesTheStandardLibraryOnly) { EXPECT_NO_FAULTS(foreign_includes_in_public_headers); }

TEST(House, ForeignIncludesInFaceAreRefused) {
    const auto refused = [](const std::string& line) {
        return foreign_includes_in_public_headers({{"include/cairn/a.hpp", line}});
    };
    for (const char* line :
         {"#include <unistd.h>", "#include <sys/mman.h>", "#include <pthread.h>", "#include <Eigen/Core>",
          "#include <fmt/format.h>", "#include \"sqlite3.h\"", "#include <stdint.h>", "#  include <dlfcn.h>",
          "#include <iostream>", "#include \"graph/ir/print.hpp\""})
        EXPECT_EQ(refused(line).size(), 1u) << line;
    EXPECT_THAT(refused("#include <vector>\n#include \"cairn/types.hpp\"\n// #include <unistd.h>\n"), IsEmpty());
}

TEST(House, NamesAreInformative) { EXPECT_NO_FAULTS(uninformative_names); }

TEST(House, UninformativeNamesAreRefused) {
    for (const char* path : {"src/utils/a.cpp", "src/graph/ir/common.hpp", "src/graph/ir/string_helpers.cpp",
                             "include/cairn/core.hpp", "src/device/memory_manager.hpp", "tests/common/a.cpp"})
        EXPECT_EQ(uninformative_names({{path, ""}}).size(), 1u) << path;
    EXPECT_THAT(uninformative_names({{"src/graph/ir/score.cpp", ""}, {"src/graph/ir/commonest.cpp", ""}}), IsEmpty());
}

TEST(House, ExecutorUsesNoMapMutexOrString) { EXPECT_NO_FAULTS(executor_allocations); }

TEST(House, SlowExecutorsAreRefused) {
    const auto refused = [](const std::string& executor, const std::string& header) {
        return executor_allocations({{"src/device/cpu/parallel_region.cpp", executor},
                                     {"src/device/cpu/parallel_region.hpp", "#include \"program/slots.hpp\""},
                                     {"src/program/slots.hpp", header},
                                     {"src/runtime/state.cpp", "std::map<int, std::string> elsewhere;"}});
    };
    EXPECT_THAT(refused("std::vector<int> a; // std::map", "const char* s = \"std::string\";"), IsEmpty());
    EXPECT_THAT(refused("std::unordered_map<int, int> a;", ""),
                ElementsAre(HasSubstr("parallel_region.cpp:1: the executor reaches std::unordered_map")));
    EXPECT_THAT(refused("", "\nstd::mutex m;"), ElementsAre(HasSubstr("slots.hpp:2: the executor reaches std::mutex")));
    EXPECT_THAT(refused("", "#include <string>\n"), ElementsAre(HasSubstr("reaches <string>")));
    EXPECT_THAT(refused("std::lock_guard g(m); std :: string s;", ""),
                ElementsAre(HasSubstr("lock_guard"), HasSubstr("string")));
}

TEST(House, LibrariesAreIncludedOnlyByTheirRooms) { EXPECT_NO_FAULTS(misplaced_library_includes); }

TEST(House, MisplacedLibraryIncludesAreRefused) {
    EXPECT_EQ(misplaced_library_includes({{"src/autotune/policy/a.cpp", "#include <sqlite3.h>"}}).size(), 1u);
    EXPECT_EQ(misplaced_library_includes({{"kernels/cpu/simd/a.cpp", "#include <Eigen/Core>"}}).size(), 1u);
    EXPECT_EQ(
        misplaced_library_includes({{"src/graph/ir/a.cpp", "#include <unsupported/Eigen/MatrixFunctions>"}}).size(),
        1u);
    EXPECT_EQ(misplaced_library_includes({{"src/apps/models/a.cpp", "#include \"utf8proc.h\""}}).size(), 1u);
    EXPECT_EQ(misplaced_library_includes({{"src/selection/search/natural.hpp", "#include <tommath.h>"}}).size(), 1u);
    EXPECT_THAT(misplaced_library_includes({{"kernels/cpu/eigen/a.cpp", "#include <Eigen/Core>"},
                                            {"src/autotune/database/timing_db.cpp", "#include <sqlite3.h>"},
                                            {"src/selection/search/natural.cpp", "#include <tommath.h>"},
                                            {"tests/timing/a_test.cpp", "#include <sqlite3.h>"}}),
                IsEmpty());
}

TEST(House, InstructionsAreNextToTheirEmulations) { EXPECT_NO_FAULTS(misplaced_instructions); }

TEST(House, MisplacedInstructionsAreRefused) {
    for (const char* code : {"x = _mm256_sqrt_ps(x);", "asm(\"nop\");", "__m512i x;",
                             "#if defined(__AVX512F__)\n#endif", "__builtin_ia32_pause();", "#include <immintrin.h>"})
        EXPECT_EQ(misplaced_instructions({{"kernels/cpu/simd/a.cpp", code}}).size(), 1u) << code;
    EXPECT_EQ(misplaced_instructions({{"kernels/cuda/rows/a.cpp", "asm(\"nop\");"}}).size(), 1u);
    EXPECT_THAT(misplaced_instructions({{"kernels/cpu/simd/vector/instructions.hpp", "asm(\"nop\");"},
                                        {"kernels/cuda/text/instructions.cuh", "asm(\"nop\");"},
                                        {"kernels/cpu/simd/a.cpp", "// as _mm256_sqrt_ps does"},
                                        {"src/autotune/measurement/peak_throughput.cpp", "asm(\"nop\");"}}),
                IsEmpty());
}

TEST(House, NoTestIsSkipped) {
    EXPECT_NO_FAULTS(skipped_tests);
    EXPECT_EQ(skipped_tests({{"tests/graph/ir/a_test.cpp", "GTEST_SKIP() << 1;"}}).size(), 1u);
}

TEST(House, HostProcessIsNotAffected) { EXPECT_NO_FAULTS(host_process_effects); }

TEST(House, EffectsOnTheHostProcessAreRefused) {
    const auto refused = [](const std::string& code) { return host_process_effects({{"src/graph/ir/a.cpp", code}}); };
    for (const char* code : {"std::abort();", "exit(1);", "std::cout << 1;", "printf(\"x\");", "std::getenv(\"HOME\");",
                             "fprintf(stderr, \"\");", "assert(x);", "fmt::print(\"x\");", "#include <iostream>",
                             "::signal(2, f);", "std::terminate();"})
        EXPECT_EQ(refused(code).size(), 1u) << code;
    EXPECT_THAT(refused("static_assert(true); // exit(1)\nf(\"abort()\"); team.exit(); snprintf(b, 1, \"\");"),
                IsEmpty());
    EXPECT_THAT(refused("bool abort = early; void abort(int why); void Barrier::abort(int) {}"), IsEmpty());
    EXPECT_THAT(host_process_effects({{"examples/gpt2.cpp", "std::cout << 1;"},
                                      {"src/apps/cli/main.cpp", "exit(2);"},
                                      {"src/apps/compare/a.cpp", "signal(1, f);"}}),
                IsEmpty());
}

TEST(House, SourcesAreListedInBuildFiles) { EXPECT_NO_FAULTS(missing_declarations); }

TEST(House, UnlistedSourcesAreRefused) {
    EXPECT_THAT(missing_declarations({{"src/graph/ir/CMakeLists.txt", "cairn_room(ir SOURCES a.cpp)"},
                                      {"src/graph/ir/a.cpp", ""},
                                      {"src/graph/ir/b.cpp", ""},
                                      {"src/graph/ir/b.hpp", "#pragma twice"}}),
                ElementsAre(HasSubstr("src/graph/ir/b.cpp: no build file lists it"),
                            HasSubstr("src/graph/ir/b.hpp: lacks #pragma once")));
}

TEST(House, NoSwitchOverOpsHasADefault) { EXPECT_NO_FAULTS(defaults_over_ops); }

TEST(House, DefaultsOverOpsAreRefused) {
    const auto refused = [](const std::string& code) {
        return defaults_over_ops({{"src/graph/ir/a.cpp", code}}).size();
    };
    EXPECT_THAT(defaults_over_ops({{"src/graph/ir/a.cpp", "switch (x) {\n case ir::Op::neg: f();\n default: g();\n}"}}),
                ElementsAre(HasSubstr("src/graph/ir/a.cpp:3: a switch over ops has a default")));
    EXPECT_EQ(refused("switch (info(x).kind) { case OpClass::leaf: break; default: break; }"), 1u);
    EXPECT_EQ(refused("switch (node.op) { case neg: break; default: break; }"), 1u);
    EXPECT_EQ(refused("switch (rule.op()) { case neg: break; default: break; }"), 1u);
    EXPECT_EQ(refused("switch (t) { case T::a: switch (op) { case Op::a: b(); default: c(); } }"), 1u);
    EXPECT_EQ(refused("switch (op) { case Op::a: switch (t) { case T::b: d(); default: c(); } }"), 0u);
    EXPECT_EQ(refused("switch (node.op) { case Op::neg: break; case Op::abs: break; }"), 0u);
    EXPECT_EQ(refused("switch (dtype) { case DType::f32: make(Op::neg); default: break; } // Op::"), 0u);
    EXPECT_THAT(defaults_over_ops({{"tests/a.cpp", "switch (op) { default: break; }"}}), IsEmpty());
}

TEST(House, PageOnOpsMatchesTheSources) { EXPECT_NO_FAULTS(op_page_faults); }

TEST(House, WrongPagesOnOpsAreRefused) {
    const auto refused = [](const File& more) {
        Tree tree = {{"docs/add_an_op.md",
                      "| `include/ops.hpp` | |\n| `src/graph/ir/op_list.hpp` | |\n| `tests/a_test.cpp` | |\nNothing is "
                      "needed in `src/laws/`: x"},
                     {"include/ops.hpp", "Tensor floor(const Operand& x);"},
                     {"src/graph/ir/op_list.hpp",
                      "#define CAIRN_UNARY_OPS(OP) OP(floor, floats)\n#define CAIRN_OTHER_OPS(OP) OP(sum, x)"},
                     {"src/laws/a.cpp", "Op::floor"},
                     {"src/sums.cpp", "Op::sum; std::floor(x); // Op::floor \"floor\""},
                     {"tests/a_test.cpp", "%1 = floor %0"}};
        const auto it =
            std::find_if(tree.begin(), tree.end(), [&](const File& file) { return file.path == more.path; });
        it == tree.end() ? tree.push_back(more) : void(it->text = more.text);
        return op_page_faults(tree);
    };
    EXPECT_THAT(refused({"src/z.cpp", ""}), IsEmpty());
    for (const char* code : {"Op::floor;", "ir::Op::floor == op", "f(\"floor\");", "ROW(floor, 1)", "OP(floor, 1)"})
        EXPECT_THAT(refused({"src/z.cpp", code}), ElementsAre(HasSubstr("src/z.cpp: names floor"))) << code;
    EXPECT_THAT(refused({"src/z.cpp", "Op::floor_of; \"the floor\"; floor(x)"}), IsEmpty());
    EXPECT_THAT(refused({"include/ops.hpp", "Tensor ceil(const Operand& x);"}), ElementsAre(HasSubstr("lacks floor")));
    EXPECT_THAT(refused({"tests/a_test.cpp", ""}), ElementsAre(HasSubstr("tests/a_test.cpp: lacks floor")));
    EXPECT_THAT(op_page_faults({}), ElementsAre(HasSubstr("is not there")));
}

TEST(House, SourcesWithDecisionsAreTested) {
    const Faults faults = untested_sources(house(), covered_elsewhere());
    EXPECT_TRUE(faults.empty()) << listed(faults);
}

TEST(House, UntestedSourcesAreRefused) {
    std::string text;
    for (int i = 0; i < 60; ++i) text += "x\n";
    const auto faults = [](const Tree& tree, std::vector<CoveredElsewhere> exceptions = {}) {
        return untested_sources(tree, exceptions);
    };
    const CoveredElsewhere elsewhere = {"src/graph/ir/a.cpp", "tests/graph/ir/b_test.cpp", "by b"};
    const File source = {"src/graph/ir/a.cpp", text + "x"}, test = {"tests/graph/ir/a_test.cpp", ""},
               other = {"tests/graph/ir/b_test.cpp", ""};
    EXPECT_THAT(faults({source}), ElementsAre("src/graph/ir/a.cpp: tests/graph/ir/a_test.cpp is not there"));
    EXPECT_THAT(faults({source, test}), IsEmpty());
    EXPECT_THAT(faults({source, {"tests/a_test.cpp", ""}}).size(), 1u);
    EXPECT_THAT(
        faults({{"src/graph/ir/a.cpp", text}, {"bench/a.cpp", text + text}, {"src/graph/ir/a.hpp", text + text}}),
        IsEmpty());
    EXPECT_THAT(faults({{"src/device/cpu/a.cpp", text + text}}).size(), 1u);
    EXPECT_THAT(faults({source, other}, {elsewhere}), IsEmpty());
    const CoveredElsewhere folder = {"src/graph/ir/", "tests/graph/ir/b_test.cpp", "by b"};
    EXPECT_THAT(faults({source, other}, {folder}), IsEmpty());
    EXPECT_THAT(faults({other}, {folder}), ElementsAre("src/graph/ir/: needs no exception"));
    EXPECT_THAT(faults({source}, {elsewhere}),
                ElementsAre("src/graph/ir/a.cpp: tests/graph/ir/b_test.cpp is not there"));
    EXPECT_THAT(faults({source, test, other}, {elsewhere}), ElementsAre("src/graph/ir/a.cpp: needs no exception"));
    EXPECT_THAT(faults({{"src/graph/ir/a.cpp", text}, other}, {elsewhere}),
                ElementsAre(HasSubstr("needs no exception")));
}

TEST(Source, CommentsAndLiteralsAreBlanked) {
    EXPECT_EQ(code_of("a; // b\nc /* d\ne */ f"), "a;     \nc     \n     f");
    EXPECT_EQ(code_of("f(\"exit\\\"(1)\", 'x', 1'000);"), "f(\"         \", ' ', 1'000);");
    EXPECT_EQ(code_of("R\"(a\"b)\" + c"), "R\"     \" + c");
    EXPECT_EQ(code_of("\"// no comment\" d"), "\"             \" d");
}

}  // namespace
}  // namespace cairn::house
