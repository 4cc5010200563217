#include "apps/cli/command.hpp"

#include "cairn/context.hpp"
#include "cairn/ops.hpp"
#include "tests/apps/cli/cairn_command.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

extern char** environ;

/// Common behaviour of all commands: help, errors, output that is closed early, Ctrl-C.
namespace cairn::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

const std::vector<std::string> all_commands = {"tune",   "paths", "explain", "bench", "check",
                                               "verify", "diff",  "db",      "doctor"};

TEST(Command, HelpIsAPage) {
    const Outcome help = run(CAIRN_COMMAND, {"--help"});
    EXPECT_TRUE(succeeds(help));
    EXPECT_THAT(help.out,
                AllOf(HasSubstr("Usage: cairn COMMAND"), HasSubstr("\nExamples:\n"), HasSubstr("exit code 2")));
    for (const std::string& command : all_commands) {
        EXPECT_THAT(help.out, HasSubstr("\n  " + command + " "));
        const Outcome own = run(CAIRN_COMMAND, {command, "--help"});
        EXPECT_TRUE(succeeds(own));
        EXPECT_THAT(own.out, HasSubstr("Usage: cairn " + command));
        for (const std::string& line : lines_of(own.out)) EXPECT_LE(line.size(), 110u) << line;
    }
}

TEST(Command, HelpShowsGroupsAndDefaults) {
    const std::string help = run(CAIRN_COMMAND, {"explain", "--help"}).out;
    for (const char* group : {"How it is compiled:", "What it is run on:", "The machine:"})
        EXPECT_THAT(help, HasSubstr(group));
    EXPECT_THAT(help, AllOf(HasSubstr("Usage: cairn explain GRAPH [OPTIONS]"), HasSubstr("--html FILE"),
                            HasSubstr("5s of normal"), ContainsRegex("--mode MODE .*off .estimates.")));
    EXPECT_THAT(run(CAIRN_COMMAND, {"tune", "--help"}).out,
                AllOf(HasSubstr("10s of normal"), testing::Not(HasSubstr("replay"))));
    EXPECT_EQ(run(CAIRN_COMMAND, {"--version"}).out, "cairn " + std::string(version()) + "\n");
}

TEST(Command, WrongCommandLinesAreRefused) {
    const TempFolder temp;
    const std::string graph = temp.write("g.cairn", layer_text()).string();
    struct Case {
        std::vector<std::string> arguments;
        std::vector<std::string> words;
    };
    const std::vector<Case> cases = {
        {{}, {"name a command", "tune"}},
        {{"tun"}, {"no command tun"}},
        {{"db"}, {"name a command of db", "query"}},
        {{"db", "quer"}, {"no command quer of db", "query"}},
        {{"explain"}, {"graph is required"}},
        {{"explain", graph, "--nonsense"}, {"--nonsense"}},
        {{"explain", graph, "--budget", "-1s"}, {"--budget", "got -1s"}},
        {{"explain", graph, "--budget", "soon"}, {"--budget", "got soon"}},
        {{"tune", graph, "--budget", "nan"}, {"--budget", "got nan"}},
        {{"explain", graph, "--tolerance", "0"}, {"--tolerance", "got 0"}},
        {{"explain", graph, "--tolerance", "-1"}, {"--tolerance", "got -1"}},
        {{"explain", graph, "--mode", "fast"}, {"--mode", "fast"}},
        {{"explain", graph, "--threads", "0"}, {"--threads", "got 0"}},
        {{"explain", graph, "--features", "avx99"}, {"--features", "got avx99"}},
        {{"explain", graph, "--features", ""}, {"--features"}},
        {{"tune", graph, "--features", "avx512"}, {"avx512 requires avx2"}},
        {{"doctor", "--features", "avx2+"}, {"--features", "got avx2+"}},
        {{"bench", "exp | f32[4] -> f32[4]", "--features", "avx512_vnni+avx2"}, {"avx512_vnni requires avx512"}},
        {{"check", "nothing*"}, {"no kernel has an id like nothing*"}},
        {{"check", "--every", "0"}, {"--every"}},
        {{"explain", graph, "--split", "N"}, {"--split", "got N"}},
        {{"explain", graph, "--split", "M=1"}, {"M"}},
        {{"explain", graph, "--size", "N=x"}, {"--size", "got N=x"}},
        {{"explain", graph, "--seed", "-1"}, {"--seed", "got -1"}},
        {{"explain", graph, "--disable", "thinking"}, {"thinking"}},
        {{"explain", graph, "--plan-steps", "-1"}, {"--plan-steps"}},
        {{"explain", graph, "--why-not", "soft"}, {"soft", "softmax"}},
        {{"explain", (temp / "none.cairn").string()}, {"none.cairn", "No such file"}},
        {{"explain", temp.write("empty", "").string()}, {"empty", "line 1, column 1"}},
        {{"explain", temp.write("two", "graph g\n%0 = input \"x\" : f32[2,]\n").string()}, {"two", "line 2, column"}},
        {{"explain", temp.write("no_output", "graph g\n%0 = input \"x\" : f32[2]\n").string()}, {"no output"}},
        {{"explain", graph, "--html", (temp / "no/report.html").string()}, {"report.html", "No such file"}},
        {{"explain", graph, "--trace", (temp / "t").string(), "--weights", (temp / "none").string()}, {"none"}},
        {{"explain", graph, "--trace", (temp / "t").string(), "--size", "N=9"}, {"N = 9 is not in 1..8"}},
        {{"explain", graph, "--trace", (temp / "t").string(), "--size", "M=1"}, {"no size M, but N in 1..8"}},
        {{"tune", graph, "--db", (temp / "no/times.db").string()}, {"times.db", "folder"}},
        {{"tune", graph, "--db", graph}, {"is not a database"}},
        {{"tune", graph, "--db", "/tmp"}, {"is not a database"}},
        {{"paths", graph, "--resume", "x"}, {"x"}},
        {{"paths", graph, "--best", "-1"}, {"--best"}},
        {{"bench", "nothing | f32[4] -> f32[4]"}, {"nothing"}},
        {{"bench", "exp | f32[4"}, {"column"}},
        {{"db", "info", "--db", (temp / "none.db").string()}, {"no database", "none.db"}},
    };
    for (const Case& c : cases) {
        const Outcome outcome = cairn_command(c.arguments);
        EXPECT_TRUE(refuses(outcome, c.words)) << testing::PrintToString(c.arguments);
    }
    EXPECT_FALSE(std::filesystem::exists(temp / "no"));
    EXPECT_FALSE(std::filesystem::exists(temp / "none.db"));
    EXPECT_EQ(read_file(graph), layer_text());
}

/// An option that cannot take effect is refused with the reason.
TEST(Command, OptionsWithoutEffectAreRefused) {
    const TempFolder temp;
    const std::string graph = temp.write("g.cairn", layer_text()).string();
    Graph sizeless("fixed");
    sizeless.output("y", exp(sizeless.input("x", DType::f32, {2})));
    const std::string fixed = temp.write("fixed.cairn", to_string(sizeless)).string();
    const std::string html = (temp / "t.html").string();
    const std::string problem = "softmax axis=(-1) | f32[N,8] -> f32[N,8] where N in 1..9";
    const std::string nothing_run = "nothing is run without --html or --trace";
    const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> cases = {
        {{"explain", graph, "--size", "N=1000", "--html", html}, {"N = 1000 is not in 1..8"}},
        {{"explain", graph, "--seed", "0"}, {"--seed has no effect", nothing_run}},
        {{"explain", graph, "--weights", "w"}, {"--weights has no effect", nothing_run}},
        {{"explain", graph, "--html", html, "--size", "N=2", "--size", "N=3"}, {"N is given twice, as 2 and 3"}},
        {{"explain", fixed, "--html", html, "--size", "N=2"}, {"no size N, all its sizes are fixed"}},
        {{"explain", fixed, "--html", html, "--weights", "w"}, {"--weights w has no effect", "no weights"}},
        {{"explain", graph, "--mode", "cached", "--budget", "1s"}, {"--budget has no effect", "mode cached"}},
        {{"paths", graph, "--budget", "1s"}, {"--budget has no effect", "mode off"}},
        {{"diff", graph, "--budget", "1s"}, {"--budget has no effect", "mode off"}},
        {{"paths", graph, "--size", "N=1000"}, {"--size has no effect", "without --profile"}},
        {{"paths", graph, "--profile", "--size", "N=1000"}, {"N = 1000 is not in 1..8"}},
        {{"paths", graph, "--best", "1", "--seed", "3"}, {"--seed has no effect", "without --sample"}},
        {{"paths", graph, "--sample", "1", "--size", "N=1"}, {"--size has no effect"}},
        {{"paths", graph, "--count", "--profile"}, {"--profile has no effect", "--count alone"}},
        {{"paths", graph, "--count", "--steps"}, {"--steps has no effect", "--count alone"}},
        {{"bench", problem, "--size", "N=1", "--size", "M=2"}, {"the problem has no size M"}},
        {{"bench", problem, "--size", "N=1", "--size", "N=2"}, {"N is given twice, as 1 and 2"}},
    };
    for (const auto& [arguments, words] : cases)
        EXPECT_TRUE(refuses(cairn_command(arguments), words)) << testing::PrintToString(arguments);
    EXPECT_FALSE(std::filesystem::exists(html));
    EXPECT_TRUE(succeeds(cairn_command({"diff", graph, "--mode-b", "quick", "--budget", "0s"})));
}

TEST(Command, AClosedPipeEndsItWithoutMessage) {
    const TempFolder temp;
    const std::string graph = temp.write("g.cairn", layer_text()).string();
    const std::vector<std::string> many{"paths", graph, "--sample", "20000"};
    const Outcome killed = cairn_command(many, {.output = Output::first_line});
    EXPECT_EQ(killed.signal, SIGPIPE);
    EXPECT_EQ(killed.err, "");
    const Outcome ignored = cairn_command(many, {.output = Output::first_line, .ignores_sigpipe = true});
    EXPECT_TRUE(succeeds(ignored));
    EXPECT_EQ(ignored.out, killed.out);
    EXPECT_TRUE(refuses(cairn_command({"explain", graph}, {.output = Output::full_disk}), {"cannot be written"}));
}

TEST(Command, TheGraphIsReadFromStandardInput) {
    const TempFolder temp;
    const std::string graph = temp.write("g.cairn", layer_text()).string();
    const Outcome given = cairn_command({"explain", "-"}, {.input = layer_text()});
    EXPECT_TRUE(succeeds(given));
    EXPECT_EQ(given.out, cairn_command({"explain", graph}).out);
    EXPECT_TRUE(refuses(cairn_command({"explain", "-"}, {.input = "graf"}), {"standard input", "line 1, column 1"}));
}

/// The running command, with a pipe for its output.
struct Running {
    pid_t process = -1;
    int output = -1;

    Running(std::vector<std::string> arguments, const std::filesystem::path& errors) {
        int ends[2] = {-1, -1};
        EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT, 0600);
        arguments.insert(arguments.begin(), CAIRN_COMMAND);
        std::vector<char*> words;
        for (std::string& word : arguments) words.push_back(word.data());
        words.push_back(nullptr);
        // A job in the background of a shell ignores SIGINT, and so would the command.
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        sigset_t interrupts;
        sigemptyset(&interrupts);
        sigaddset(&interrupts, SIGINT);
        posix_spawnattr_setsigdefault(&attributes, &interrupts);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
        EXPECT_EQ(posix_spawn(&process, CAIRN_COMMAND, &files, &attributes, words.data(), environ), 0);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&files);
        ::close(ends[1]);
        output = ends[0];
    }
    void wait_for_output() const {
        char byte = 0;
        EXPECT_EQ(::read(output, &byte, 1), 1);
    }
    int exit_code() {
        for (std::array<char, 65536> part; ::read(output, part.data(), part.size()) > 0;) continue;
        ::close(output);
        int status = 0;
        EXPECT_EQ(::waitpid(process, &status, 0), process);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
};

TEST(Command, CtrlCStopsIt) {
    const TempFolder temp;
    const std::string graph = temp.write("g.cairn", layer_text()).string();
    for (const int signal : {SIGINT, SIGTERM}) {
        Running running({"paths", graph, "--mode", "off", "--sample", "1000000000"}, temp / "err");
        running.wait_for_output();
        ASSERT_EQ(::kill(running.process, signal), 0);
        EXPECT_EQ(running.exit_code(), 130);
        EXPECT_EQ(read_file(temp / "err"), "[cairn] stopped\n");
    }
}

}  // namespace
}  // namespace cairn::test
