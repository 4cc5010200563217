// The snippets of docs/guide.md, docs/models.md, docs/diffusion.md and docs/add_a_kernel.md print the output shown on
// the pages.
#include "tests/guide/snippets.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <iostream>
#include <sstream>

void run_guide(const std::function<void()>& next);
void run_models(const std::function<void()>& next);
void run_diffusion(const std::function<void()>& next);
void run_add_a_kernel(const std::function<void()>& next);

namespace cairn::guide {
namespace {

/// Redirects a stream to another one for the lifetime of the object; then its format is that of before, too.
class Redirect {
public:
    Redirect(std::ostream& stream, std::ostream& to)
        : stream_(stream), format_(nullptr), buffer_(stream.rdbuf(to.rdbuf())) {
        format_.copyfmt(stream);
    }
    ~Redirect() {
        stream_.rdbuf(buffer_);
        stream_.copyfmt(format_);
    }
    Redirect(const Redirect&) = delete;
    Redirect& operator=(const Redirect&) = delete;

private:
    std::ostream& stream_;
    std::ios format_;
    std::streambuf* buffer_;
};

/// Runs the program of a page with at least `least` snippets, and compares the output of each snippet with the page.
void expect_prints(const std::string& page, void (*run)(const std::function<void()>&), std::size_t least) {
    const auto snippets = snippets_of(read_page(std::string(CAIRN_SOURCE_DIR "/") + page));
    std::vector<std::string> printed;
    {
        std::ostringstream out, err;
        const Redirect cout(std::cout, out), cerr(std::cerr, err);
        run([&] {
            printed.push_back(out.str());
            out.str("");
        });
    }
    ASSERT_EQ(printed.size(), snippets.size());
    ASSERT_GE(snippets.size(), least);
    for (std::size_t i = 0; i < snippets.size(); ++i)
        EXPECT_EQ(printed[i], snippets[i].has_output ? snippets[i].output : "") << page << ':' << snippets[i].line;
}

TEST(Guide, PrintsTheDocumentedOutput) {
    expect_prints("docs/guide.md", run_guide, 10);
    std::filesystem::remove_all(std::filesystem::temp_directory_path() / "cairn_guide");
}

TEST(Models, PrintsTheDocumentedOutput) { expect_prints("docs/models.md", run_models, 3); }

TEST(Diffusion, PrintsTheDocumentedOutput) { expect_prints("docs/diffusion.md", run_diffusion, 2); }

TEST(AddAKernel, PrintsTheDocumentedOutput) { expect_prints("docs/add_a_kernel.md", run_add_a_kernel, 2); }

TEST(Snippets, AreReadWithTheirOutput) {
    const auto snippets = snippets_of(
        "# a\n```cpp\nint a;\n\nb();\n```\n\n```\n1\n```\n```\nnot code\n```\n```cpp\nc();\n```\nx\n```\n2\n```\n");
    ASSERT_EQ(snippets.size(), 2u);
    EXPECT_EQ(snippets[0].line, 3u);
    EXPECT_EQ(snippets[0].code, (std::vector<std::string>{"int a;", "", "b();"}));
    EXPECT_EQ(snippets[0].output, "1\n");
    EXPECT_FALSE(snippets[1].has_output);  // text between the blocks
}

}  // namespace
}  // namespace cairn::guide
