// Every public name is documented. The scanner itself is tested on headers that it must refuse or accept.
#include "tests/house/documented.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn::house {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Faults refused(const std::string& text) {
    return undocumented_names({{"include/cairn/a.hpp", "namespace cairn {\n" + text + "\n}\n"}});
}

TEST(Documented, EveryPublicNameIsDocumented) {
    const Tree tree = read_tree(CAIRN_SOURCE_DIR);
    EXPECT_GT(count_public_names(tree), 100);
    std::string text;
    for (const auto& fault : undocumented_names(tree)) text += "\n  " + fault;
    EXPECT_TRUE(text.empty()) << text;
}

TEST(Documented, NamesWithoutCommentAreRefused) {
    for (const char* text : {
             "struct A {};",
             "class CAIRN_API A { };",
             "enum class E { a, b };",
             "using A = int;",
             "int f(int a);",
             "inline int f() { return 1; }",
             "template <typename T, int N = 3> T f(T a);",
             "[[nodiscard]] std::vector<int> f();",
             "constexpr int size = 3;",
             "// An ordinary comment.\nint f();",
             "/// Of the line above, with a gap.\n\nint f();",
             "#define CAIRN_X 1",
             "std::string f(std::function<void(int)> done = {});",
             "bool operator==(const A& a, const A& b);",
             "/// A type.\nstruct A {\n    int size() const;\n};",
             "/// A type.\nclass A {\npublic:\n    int size() const { return 1; }\n};",
             "/// A type.\nclass A {\n    int a;\npublic:\n    friend A operator+(const A& a, const A& b);\n};",
             "/// A type.\nstruct A {\n    int size = 0;\n};",
             "/// A type.\nstruct A {\n    void (*release)(void* owner) = nullptr;\n};",
             "/// A type.\nstruct A {\n    struct B {};\n};",
             "/// A type.\nstruct A {\n    A& operator()(int i);\n};",
             "/// One kind.\nint f();\nstruct A {};",
             "/// One kind.\nint f();\nint size = 0;",
             "/// One run.\nint f();\n\nint g();",
         })
        EXPECT_EQ(refused(text).size(), 1u) << text;
    EXPECT_THAT(refused("/// A.\nint a();\n\n\nint b(int x,\n      int y);"),
                ElementsAre("include/cairn/a.hpp:6: b has no /// comment"));
    EXPECT_THAT(refused("int a(); int b(); struct C; struct D {};"),
                ElementsAre(HasSubstr("a has"), HasSubstr("b has"), HasSubstr("D has")));
    EXPECT_THAT(
        refused("/// A type.\nclass A {\npublic:\n    int x();\n\nprivate:\n    int y();\n\npublic:\n    int z();\n};"),
        ElementsAre(HasSubstr("x has"), HasSubstr("z has")));
}

TEST(Documented, DocumentedNamesPass) {
    for (const char* text : {
             "/// A type.\nstruct A {};",
             "/// A type.\nclass CAIRN_API A : public B {\n    int hidden;\n};",
             "/// Letters.\nenum class E { a, b };",
             "/// An alias.\nusing A = int;",
             "/// A function.\nint f(int a,\n      int b);",
             "/// A function.\ntemplate <typename T>\nT f(T a);",
             "int f();  ///< behind it",
             "/// Overloads.\nint f(int);\nint f(float);\ninline int f(long) { return 1; }",
             "/// A macro.\n#define CAIRN_X 1\n#define CAIRN_Y 2",
             "/// A macro.\n#if defined(X)\n#define CAIRN_X 1\n#else\n#define CAIRN_X\n#endif",
             "struct A;\nclass B;",
             "namespace detail {\nstruct A {};\nint f();\n}",
             "namespace {\nint f();\n}",
             "/// A type.\nstruct A {\n    A();\n    explicit A(int x) : x_{x}, y_(x) {}\n    A(const A&) = delete;\n  "
             "  ~A();\n};",
             "/// A type with a `size`.\nstruct A {\n    int size = 0;\n};",
             "/// A type.\nstruct A {\n    int a, b;  ///< both\n    std::vector<int> list = {1, 2};  ///< a list\n};",
             "/// A type.\nclass A {\n    friend class B;\n    friend int f();\n    using B::B;\n};",
             "/// A type.\nstruct A {\n    using B::B;\n    friend struct C;\n};",
             "/// Compared.\nbool operator<(const A& a, const A& b);\nauto operator<=>(const A& a, const A& b);",
             "static_assert(sizeof(int) == 4);",
         })
        EXPECT_THAT(refused(text), IsEmpty()) << text;
}

TEST(Documented, NamesAreCounted) {
    EXPECT_EQ(count_public_names(
                  {{"include/cairn/a.hpp", "namespace cairn {\nint f(); int g();\nstruct A { int x; int h(); };\n}"}}),
              5);
    EXPECT_EQ(count_public_names({{"src/ir/a.hpp", "int f();"}}), 0);
}

}  // namespace
}  // namespace cairn::house
