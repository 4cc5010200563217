// docs/guide.md prints what it says it prints.
#include "tests/guide/snippets.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <iostream>
#include <sstream>

void run_guide(const std::function<void()>& next);

namespace cairn::guide {
namespace {

/// Puts another buffer in the place of a stream's while it lives.
class Redirect {
public:
    Redirect(std::ostream& stream, std::ostream& to) : stream_(stream), buffer_(stream.rdbuf(to.rdbuf())) {}
    ~Redirect() { stream_.rdbuf(buffer_); }
    Redirect(const Redirect&) = delete;
    Redirect& operator=(const Redirect&) = delete;

private:
    std::ostream& stream_;
    std::streambuf* buffer_;
};

TEST(Guide, PrintsWhatItSays) {
    const auto snippets = snippets_of(read_page(CAIRN_SOURCE_DIR "/docs/guide.md"));
    std::vector<std::string> printed;
    {
        std::ostringstream out, err;
        const Redirect cout(std::cout, out), cerr(std::cerr, err);
        run_guide([&] {
            printed.push_back(out.str());
            out.str("");
        });
        std::filesystem::remove_all(std::filesystem::temp_directory_path() / "cairn_guide");
    }
    ASSERT_EQ(printed.size(), snippets.size());
    ASSERT_GE(snippets.size(), 10u);
    for (std::size_t i = 0; i < snippets.size(); ++i)
        EXPECT_EQ(printed[i], snippets[i].has_output ? snippets[i].output : "") << "docs/guide.md:" << snippets[i].line;
}

TEST(Snippets, AreReadWithTheirOutput) {
    const auto snippets = snippets_of(
        "# a\n```cpp\nint a;\n\nb();\n```\n\n```\n1\n```\n```\nnot code\n```\n```cpp\nc();\n```\nx\n```\n2\n```\n");
    ASSERT_EQ(snippets.size(), 2u);
    EXPECT_EQ(snippets[0].line, 3u);
    EXPECT_EQ(snippets[0].code, (std::vector<std::string>{"int a;", "", "b();"}));
    EXPECT_EQ(snippets[0].output, "1\n");
    EXPECT_FALSE(snippets[1].has_output);  // a word between
}

}  // namespace
}  // namespace cairn::guide
