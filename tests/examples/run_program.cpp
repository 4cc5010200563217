#include "tests/examples/run_program.hpp"

#include "tests/io/weights/test_files.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <fstream>
#include <sstream>
#include <system_error>

extern char** environ;

namespace cairn::test {
namespace {

void check(int code, const char* what) {
    if (code != 0) throw std::system_error(code, std::generic_category(), what);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
}

/// The environment of this process with variables added or replaced.
std::vector<std::string> environment_with(std::vector<std::string> variables) {
    const std::size_t added = variables.size();
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view name = std::string_view(*entry).substr(0, std::string_view(*entry).find('=') + 1);
        if (std::none_of(variables.begin(), variables.begin() + static_cast<std::ptrdiff_t>(added),
                         [&](const std::string& variable) { return variable.starts_with(name); }))
            variables.emplace_back(*entry);
    }
    return variables;
}

std::string read_line(int descriptor) {
    std::string line;
    for (char c = 0; c != '\n' && ::read(descriptor, &c, 1) == 1;) line += c;
    return line;
}

struct Spawn {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    Spawn() {
        check(posix_spawn_file_actions_init(&files), "file actions");
        check(posix_spawnattr_init(&attributes), "attributes");
    }
    ~Spawn() {
        posix_spawn_file_actions_destroy(&files);
        posix_spawnattr_destroy(&attributes);
    }
    void open(int descriptor, const std::filesystem::path& path, int flags) {
        check(posix_spawn_file_actions_addopen(&files, descriptor, path.c_str(), flags, 0600), "addopen");
    }
};

}  // namespace

Outcome run(const std::string& program, const std::vector<std::string>& arguments, const RunOptions& options) {
    const TempFolder folder;
    int ends[2] = {-1, -1};
    Spawn spawn;
    spawn.open(STDIN_FILENO, folder.write("in", options.input), O_RDONLY);
    spawn.open(STDERR_FILENO, folder.write("err", ""), O_WRONLY);
    if (options.output == Output::kept) spawn.open(STDOUT_FILENO, folder.write("out", ""), O_WRONLY);
    if (options.output == Output::full_disk) spawn.open(STDOUT_FILENO, "/dev/full", O_WRONLY);
    if (options.output == Output::first_line) {
        if (::pipe2(ends, O_CLOEXEC) != 0) check(errno, "pipe");
        check(posix_spawn_file_actions_adddup2(&spawn.files, ends[1], STDOUT_FILENO), "adddup2");
    }
    sigset_t defaults;
    sigemptyset(&defaults);
    if (!options.ignores_sigpipe) sigaddset(&defaults, SIGPIPE);
    check(posix_spawnattr_setsigdefault(&spawn.attributes, &defaults), "setsigdefault");
    check(posix_spawnattr_setflags(&spawn.attributes, POSIX_SPAWN_SETSIGDEF), "setflags");

    std::vector<std::string> words{program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> given = options.variables;
    given.push_back("XDG_CACHE_HOME=" + (folder / "cache").string());
    const std::vector<std::string> variables = environment_with(std::move(given));
    const auto before = options.ignores_sigpipe ? std::signal(SIGPIPE, SIG_IGN) : SIG_DFL;
    pid_t child = -1;
    const int code = posix_spawn(&child, program.c_str(), &spawn.files, &spawn.attributes, pointers(words).data(),
                                 pointers(variables).data());
    if (options.ignores_sigpipe) std::signal(SIGPIPE, before);
    check(code, program.c_str());

    Outcome result;
    if (options.output == Output::first_line) {
        ::close(ends[1]);
        result.out = read_line(ends[0]);
        ::close(ends[0]);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) check(errno, "waitpid");
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    if (options.output == Output::kept) result.out = read_file(folder / "out");
    result.err = read_file(folder / "err");
    return result;
}

namespace {

testing::AssertionResult fault(const Outcome& outcome, const std::string& what) {
    return testing::AssertionFailure() << what << "\nexit code " << outcome.exit_code << ", signal " << outcome.signal
                                       << "\nout: " << outcome.out.substr(0, 2000)
                                       << "\nerr: " << outcome.err.substr(0, 2000);
}

/// True for one line that starts with `[part] ` or `program: `.
bool is_one_sentence(const std::string& text) {
    if (text.empty() || text.find('\n') != text.size() - 1) return false;
    const std::size_t space = text.find(text[0] == '[' ? "] " : ": ");
    const std::size_t begin = text[0] == '[' ? 1 : 0;
    return space != std::string::npos && space > begin &&
           std::all_of(text.begin() + static_cast<std::ptrdiff_t>(begin),
                       text.begin() + static_cast<std::ptrdiff_t>(space), [](unsigned char c) {
                           return std::islower(c) != 0 || std::isdigit(c) != 0 || c == ' ' || c == '-' || c == '_';
                       });
}

}  // namespace

testing::AssertionResult refuses(const Outcome& outcome, const std::vector<std::string>& words, std::string_view out) {
    if (outcome.exit_code != 2) return fault(outcome, "expected exit code 2");
    if (!is_one_sentence(outcome.err)) return fault(outcome, "expected one sentence on standard error");
    for (const std::string& word : words)
        if (outcome.err.find(word) == std::string::npos) return fault(outcome, "the message lacks \"" + word + "\"");
    if (outcome.out != out) return fault(outcome, "standard output should be \"" + std::string(out) + "\"");
    return testing::AssertionSuccess();
}

testing::AssertionResult succeeds(const Outcome& outcome, std::string_view noise) {
    if (outcome.exit_code != 0) return fault(outcome, "expected exit code 0");
    if (outcome.err != noise) return fault(outcome, "expected on standard error \"" + std::string(noise) + "\"");
    return testing::AssertionSuccess();
}

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

bool is_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
        const unsigned first = byte(i), second = byte(i + 1);
        const std::size_t length = first < 0x80   ? 1
                                   : first < 0xC2 ? 0
                                   : first < 0xE0 ? 2
                                   : first < 0xF0 ? 3
                                   : first < 0xF5 ? 4
                                                  : 0;
        if (length == 0) return false;
        for (std::size_t k = 1; k < length; ++k)
            if ((byte(i + k) & 0xC0) != 0x80) return false;
        const bool too_long_or_high = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                                      (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
        if (too_long_or_high) return false;
        i += length;
    }
    return true;
}

}  // namespace cairn::test
