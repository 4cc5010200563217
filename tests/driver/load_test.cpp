#include "cairn/cairn.hpp"
#include "tests/errors/message.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace cairn {
namespace {

/// A graph with all kinds of contents of a saved file: buckets, a state, packed weights, constants, views, an output
/// that is a concatenation of two parts.
Graph network() {
    Graph g;
    const Dim p = g.symbol("P", 0, 63), t = g.symbol("T", 1, 8);
    const Tensor x = g.input("x", DType::f32, {t, 64});
    State s = g.state("k", DType::f32, {p, 64}, 0, 64);
    const Tensor all = s.append(x);
    const Tensor h = gelu(linear(x, g.weight("w", DType::f32, {64, 64}), g.weight("b", DType::f32, {64})));
    g.output("y", softmax(matmul(h, transpose(all, {1, 0}))));
    g.output("e", gather(all, g.input("ids", DType::i32, {t})));
    g.output("c", concat({h, slice(x, 1, 3, 40)}, 1));
    return g;
}

/// Windows and slices of an image with polynomial sizes, whose ranges can only be checked algebraically.
Graph image_network() {
    Graph g;
    const Dim n = g.symbol("N", 5, 5000), m = g.symbol("M", 16, 6000);
    const Tensor x = g.input("x", DType::f32, {1, 2, n - 1, m - 1});
    const Tensor h = max_pool(relu(conv2d(x, g.weight("w", DType::f32, {3, 2, 3, 3}))), 2);
    g.output("y", avg_pool(x, 2));
    g.output("z", slice(slice(x, 2, 1, n - 1), 3, 1, m - 1, 2));
    g.output("h", h);
    return g;
}

/// Sorts of a square whose workspace is a product of sizes: its sign is known by its factors alone.
Graph sorted_square() {
    Graph g;
    const Dim a = g.symbol("A", 0, 200);
    const Tensor x = g.input("x", DType::bf16, {200 - a, 200 - a});
    g.output("y", sort(x, -1).values);
    return g;
}

class SavedFile {
public:
    SavedFile() : SavedFile(network(), {.splits = {{"T", {1, 4}}}}) {}
    SavedFile(const Graph& graph, const CompileOptions& options)
        : path_(std::filesystem::temp_directory_path() / ("cairn_load_" + std::to_string(::getpid()))) {
        compile(graph, context_, options).save(path_);
        std::ifstream file(path_, std::ios::binary);
        text_.assign(std::istreambuf_iterator<char>(file), {});
        text_.resize(text_.rfind("# digest "));
    }
    ~SavedFile() { std::filesystem::remove(path_); }
    SavedFile(const SavedFile&) = delete;
    SavedFile& operator=(const SavedFile&) = delete;

    const std::string& text() const { return text_; }

    /// Loads `text` with a valid digest.
    CompiledGraph load(const std::string& text) const {
        std::ofstream(path_, std::ios::binary) << text << "# digest " << to_string(digest(text)) << '\n';
        return CompiledGraph::load(path_, context_);
    }

private:
    Context context_;
    std::filesystem::path path_;
    std::string text_;
};

/// Binds and runs at several sizes, and reads all bytes of all outputs.
void exercise(CompiledGraph& compiled, std::mt19937& random) {
    static const std::vector<float> weights(64 * 64, 0.01F), x(8 * 64, 0.5F);
    static const std::vector<std::int32_t> ids(8, 0);
    compiled.bind([](std::string_view name) {
        InputView view;
        view.data = weights.data();
        view.shape = name == "w" ? std::vector<std::int64_t>{64, 64} : std::vector<std::int64_t>{64};
        return view;
    });
    for (int run = 0; run < 4; ++run) {
        const std::int64_t t = run == 0 ? 8 : 1 + static_cast<std::int64_t>(random() % 8);
        compiled.set("x", x.data(), {t, 64});
        compiled.set("ids", ids.data(), {t});
        compiled.run();
        for (const char* name : {"y", "e", "c"}) {
            const auto y = compiled.output(name).as<float>();
            volatile float sum = 0;
            for (const float value : y) sum = sum + value;
        }
    }
    compiled.memory();
    compiled.explain();
    compiled.profile();
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// Positions and lengths of the numbers, or names, in a line.
std::vector<std::pair<std::size_t, std::size_t>> tokens(const std::string& line, bool numbers) {
    const auto wanted = [&](char c) {
        return numbers ? c >= '0' && c <= '9' : (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (std::size_t i = 0; i < line.size();) {
        std::size_t end = i;
        while (end < line.size() && wanted(line[end])) ++end;
        if (end > i) found.emplace_back(i, end - i);
        i = std::max(end, i + 1);
    }
    return found;
}

class Mutator {
public:
    explicit Mutator(std::uint32_t seed) : random_(seed) {}

    void mutate(std::vector<std::string>& lines) {
        std::string& line = lines[below(lines.size())];
        std::string& other = lines[below(lines.size())];
        switch (below(9)) {
            case 0: return change_number(line);
            case 1: return change_number(line);
            case 2: return exchange(line, line, true);
            case 3: return exchange(line, other, true);
            case 4: return exchange(line, other, false);
            case 5: lines.erase(lines.begin() + (&line - lines.data())); return;
            case 6: std::swap(line, other); return;
            case 7: lines.insert(lines.begin() + (&line - lines.data()), std::string(other)); return;
            default:
                if (!line.empty()) line[below(line.size())] = static_cast<char>(32 + below(95));
        }
    }

    std::mt19937& random() { return random_; }

private:
    std::size_t below(std::size_t n) { return random_() % n; }

    void change_number(std::string& line) {
        const auto found = tokens(line, true);
        if (found.empty()) return;
        const auto [at, length] = found[below(found.size())];
        const std::string old = line.substr(at, length);
        static const char* const values[] = {"0",  "1",  "2",       "7",  "63",         "64",
                                             "65", "-1", "1000000", "-2", "4294967296", "9223372036854775807"};
        std::string value = values[below(std::size(values))];
        if (old.size() < 10 && below(2) == 0)
            value = std::to_string(std::stoll(old) + (below(2) == 0 ? 1 : -1) * static_cast<int>(1 + below(8)));
        line.replace(at, length, value);
    }

    /// Replaces a token of one line with a token of another.
    void exchange(std::string& line, const std::string& other, bool numbers) {
        const auto to = tokens(line, numbers), from = tokens(other, numbers);
        if (to.empty() || from.empty()) return;
        const auto [source, size] = from[below(from.size())];
        const std::string copied = other.substr(source, size);
        const auto [at, length] = to[below(to.size())];
        line.replace(at, length, copied);
    }

    std::mt19937 random_;
};

TEST(Load, MutatedFilesAreRefusedOrRun) {
    const SavedFile saved;
    const std::vector<std::string> original = lines_of(saved.text());
    Mutator mutator(7);
    int refused = 0, refused_in_use = 0, ran = 0;
    for (int round = 0; round < 3000; ++round) {
        std::vector<std::string> lines = original;
        for (std::uint32_t i = 0; i < 1 + mutator.random()() % 2; ++i) mutator.mutate(lines);
        std::string text;
        for (const std::string& line : lines) text += line + '\n';
        if (text == saved.text()) continue;
        try {
            CompiledGraph compiled = saved.load(text);
            try {
                exercise(compiled, mutator.random());
                ++ran;
            } catch (const Error& error) {
                EXPECT_NE(error.kind(), ErrorKind::internal) << error.what() << " in round " << round;
                ++refused_in_use;
            }
        } catch (const Error& error) {
            EXPECT_TRUE(error.kind() == ErrorKind::file || error.kind() == ErrorKind::unsupported ||
                        error.kind() == ErrorKind::argument || error.kind() == ErrorKind::memory)
                << error.what() << " in round " << round;
            ++refused;
        }
    }
    EXPECT_GT(refused, 1500);
    EXPECT_GT(ran, 90);
    EXPECT_LT(refused_in_use, 100);
}

/// The error message for a file in which `from` is replaced with `to`.
std::string refusal(const SavedFile& saved, const std::string& from, const std::string& to) {
    std::string text = saved.text();
    const std::size_t at = text.find(from);
    if (at == std::string::npos) return "'" + from + "' is not in the file";
    text.replace(at, from.size(), to);
    try {
        saved.load(text);
    } catch (const Error& error) {
        const std::string message = error.what();
        EXPECT_EQ(error.kind(), ErrorKind::file) << message;
        return message;
    }
    return "it loads";
}

TEST(Load, ErrorsNameTheInconsistency) {
    const SavedFile saved;
    const auto expect_refusal = [&](const std::string& from, const std::string& to, const std::string& reason) {
        const std::string message = refusal(saved, from, to);
        EXPECT_NE(message.find(reason), std::string::npos) << from << " -> " << to << ": " << message;
    };
    expect_refusal("# bucket T 1 1", "# bucket T 1 0", "a bucket covers no value of T");
    expect_refusal("# bucket T 1 1", "# bucket T 1 2", "a bucket covers T in 1..2, its program does not");
    expect_refusal("# bucket T 5 8", "# bucket T 5 7", "some sizes have no bucket");
    expect_refusal("# bucket T 1 1", "# bucket U 1 1", "unknown symbol U");
    expect_refusal("input \"x\" 0", "input \"z\" 0", "input z has buffer 0 of another kind or name");
    expect_refusal(" life 1 ", " life -2 ", "has the live interval -2");
    expect_refusal(" workspace -1 ", " workspace -2 ", "names buffer -2");
    expect_refusal("state \"k\" 0", "state \"k\" 1", "state k has buffer 1 of another kind or name");
}

TEST(Load, ViewsOfSymbolicImagesAreProvedToBeWithin) {
    CompileOptions options;
    options.verify = true;
    const SavedFile saved(image_network(), options);
    EXPECT_NO_THROW(saved.load(saved.text()));
}

std::string joined_lines(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    return text;
}

// Views of the input with another size, a larger stride or a larger offset: some sizes read beyond its end.
TEST(Load, ViewsThatEndBeyondTheirBufferAreRefused) {
    CompileOptions options;
    options.disable = {"fuse", "elementwise"};
    const SavedFile saved(image_network(), options);
    const std::vector<std::string> lines = lines_of(saved.text());
    int views = 0;
    for (std::size_t at = 0; at < lines.size(); ++at) {
        const std::string& line = lines[at];
        const std::size_t offset = line.find(" in 0{"), type = line.find("f32[1,2,"), strides = line.find("]:(", type);
        if (!line.starts_with("run ") || offset == std::string::npos || strides == std::string::npos) continue;
        ++views;
        std::vector<std::string> changed = lines;
        for (const auto& [from, length] : tokens(line.substr(0, strides), true)) {
            if (from < type + 8) continue;
            changed[at] = line;
            changed[at].replace(from, length, std::to_string(std::stoll(line.substr(from, length)) + 1));
            EXPECT_THROW(saved.load(joined_lines(changed)), Error) << changed[at];
        }
        changed[at] = line;
        changed[at].insert(offset + 6, "1 + ");
        std::string message = test::message([&] { saved.load(joined_lines(changed)); });
        EXPECT_NE(message.find("may access memory after buffer 0"), std::string::npos) << changed[at] << message;
        changed[at] = line;
        changed[at].insert(line.find(')', strides), " + 1");
        message = test::message([&] { saved.load(joined_lines(changed)); });
        EXPECT_NE(message.find("may access memory after buffer 0"), std::string::npos) << changed[at] << message;
    }
    EXPECT_GT(views, 1);
}

// The capacity of a state is subtracted from its new length: the difference may not fit in 64 bits.
TEST(Load, ALengthBeyond64BitsIsRefused) {
    const SavedFile saved;
    const std::string port = "state \"k\" ";
    std::string text = saved.text();
    const std::size_t line = text.find(port), before = text.find('{', line), after = text.find('{', before + 1);
    ASSERT_NE(line, std::string::npos);
    text.replace(after, text.find('}', after) + 1 - after, "{P - 9223372036854775807}");
    EXPECT_THROW(saved.load(text), Error);
}

TEST(Load, AnUnreadableFileIsAnError) {
    for (const std::filesystem::path& path : {std::filesystem::temp_directory_path(), std::filesystem::path("missing")})
        EXPECT_NE(test::message([&] { CompiledGraph::load(path, Context()); }).find("cannot read the compiled graph"),
                  std::string::npos)
            << path;
}

TEST(Load, TheUnchangedFileLoadsAndRuns) {
    const SavedFile saved;
    std::mt19937 random(1);
    CompiledGraph compiled = saved.load(saved.text());
    exercise(compiled, random);
}

TEST(Load, AcceptsAWorkspaceWhoseSignNoProofCovers) {
    for (const bool reference_only : {false, true}) {
        const Context context(ContextOptions{.threads = 2, .reference_only = reference_only});
        const auto path = std::filesystem::temp_directory_path() / ("cairn_load_sort_" + std::to_string(::getpid()));
        CompiledGraph compiled = compile(sorted_square(), context, {.verify = true});
        compiled.save(path);
        EXPECT_EQ(CompiledGraph::load(path, context).program(), compiled.program());
        std::filesystem::remove(path);
    }
}

}  // namespace
}  // namespace cairn
