#include "apps/compare/child_process.hpp"

#include "apps/compare/peak_memory.hpp"
#include "cairn/error.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

extern char** environ;

namespace cairn::compare {
namespace {

using Clock = std::chrono::steady_clock;

std::string reason(int code) { return std::generic_category().message(code); }

void close_once(int& descriptor) {
    if (descriptor >= 0) ::close(std::exchange(descriptor, -1));
}

/// Both ends of a pipe, which no other program inherits.
struct Pipe {
    int read = -1, write = -1;
    Pipe() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorKind::file, "command", "no pipe: " + reason(errno));
        read = ends[0], write = ends[1];
    }
    ~Pipe() { close_once(read), close_once(write); }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
};

int taken(int& descriptor) {
    ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
    return std::exchange(descriptor, -1);
}

/// The attributes of a program that begins with default signals, in a group and a folder of its own.
class Spawn {
public:
    explicit Spawn(const std::filesystem::path& folder) {
        posix_spawn_file_actions_init(&files);
        posix_spawnattr_init(&attributes);
        if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&files, folder.c_str());
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    }
    ~Spawn() {
        posix_spawn_file_actions_destroy(&files);
        posix_spawnattr_destroy(&attributes);
    }
    Spawn(const Spawn&) = delete;
    Spawn& operator=(const Spawn&) = delete;

    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
};

/// Appends what a descriptor has, and closes it at its end.
void read_all(int& descriptor, std::string& text) {
    std::array<char, 65536> part;
    for (;;) {
        const ssize_t count = ::read(descriptor, part.data(), part.size());
        if (count > 0) {
            text.append(part.data(), static_cast<std::size_t>(count));
        } else if (count == 0) {
            return close_once(descriptor);
        } else if (errno != EINTR) {
            if (errno != EAGAIN) close_once(descriptor);
            return;
        }
    }
}

/// The last line that is not empty, its control characters as spaces, cut to what a message holds.
std::string last_line(std::string_view text) {
    constexpr std::size_t most = 300;
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    if (end == text.npos) return {};
    text = text.substr(0, end + 1);
    const std::size_t before = text.rfind('\n');
    std::string line(text.substr(before == text.npos ? 0 : before + 1).substr(0, most));
    std::ranges::replace_if(
        line, [](unsigned char c) { return c < ' '; }, ' ');
    return line;
}

std::string status_text(int status) {
    return WIFSIGNALED(status) ? fmt::format("signal {} ended it", WTERMSIG(status))
                               : fmt::format("it ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command, const std::filesystem::path& folder) {
    Pipe input, output, errors;
    Spawn spawn(folder);
    posix_spawn_file_actions_adddup2(&spawn.files, input.read, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&spawn.files, output.write, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&spawn.files, errors.write, STDERR_FILENO);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const int code = posix_spawnp(&id_, arguments.front(), &spawn.files, &spawn.attributes, arguments.data(), environ);
    if (code != 0) throw Error(ErrorKind::file, "command", command.front() + " does not start: " + reason(code));
    input_ = taken(input.write);
    output_ = taken(output.read);
    errors_ = taken(errors.read);
}

ChildProcess::~ChildProcess() {
    close_once(input_);
    const bool ended = ends_within(1);
    ::kill(-id_, SIGKILL);  // what it has started may live on
    if (!ended) ends_within(60);
    for (int* descriptor : {&output_, &errors_}) close_once(*descriptor);
}

bool ChildProcess::ends_within(double seconds) {
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (!status_) {
        int status = 0;
        const pid_t ended = ::waitpid(id_, &status, WNOHANG);
        if (ended == id_) status_ = status;
        if (ended < 0 && errno != EINTR) return true;
        if (status_ || Clock::now() >= end) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return status_.has_value();
}

void ChildProcess::read_output() { read_all(output_, printed_); }

void ChildProcess::read_errors() {
    constexpr std::size_t most = 1 << 14;
    read_all(errors_, complaints_);
    if (complaints_.size() > most) complaints_.erase(0, complaints_.size() - most);
}

void ChildProcess::write_some(std::string_view& line) {
    while (!line.empty()) {
        const ssize_t count = ::write(input_, line.data(), line.size());
        if (count >= 0)
            line.remove_prefix(static_cast<std::size_t>(count));
        else if (errno == EAGAIN)
            return;
        else if (errno != EINTR)
            fail_closed("input");
    }
}

void ChildProcess::fail(const std::string& what) {
    read_errors();
    const std::string last = last_line(complaints_);
    throw Error(ErrorKind::file, "command", last.empty() ? what : what + ": " + last);
}

void ChildProcess::fail_closed(std::string_view stream) {
    if (ends_within(1)) fail(status_ ? status_text(*status_) + " before it answered" : "it ended before it answered");
    fail(fmt::format("it closed its standard {} before it answered", stream));
}

std::string ChildProcess::exchange(std::string_view line, double seconds, const std::stop_token& stop) {
    constexpr std::size_t longest = std::size_t(256) << 20;
    constexpr int slice = 50;  // milliseconds between looks at the stop token
    const std::string text = std::string(line) + '\n';
    std::string_view rest = text;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    std::size_t searched = 0;
    for (;;) {
        write_some(rest);
        read_errors();
        const std::size_t newline = printed_.find('\n', searched);
        if (newline != printed_.npos && rest.empty()) {
            std::string answer = printed_.substr(0, newline);
            printed_.erase(0, newline + 1);
            return answer;
        }
        if (newline == printed_.npos) searched = printed_.size();
        if (printed_.size() > longest) fail("it printed more than 256 MiB without a newline");
        if (output_ < 0) fail_closed("output");
        if (stop.stop_requested()) throw Cancelled("command");
        if (Clock::now() >= end) fail(fmt::format("it did not answer within {} s", seconds));
        std::array<pollfd, 3> wanted{
            {{output_, POLLIN, 0}, {errors_, POLLIN, 0}, {rest.empty() ? -1 : input_, POLLOUT, 0}}};
        ::poll(wanted.data(), wanted.size(), slice);
        read_output();
    }
}

std::optional<double> ChildProcess::peak_bytes() const { return peak_bytes_of_group(id_); }

}  // namespace cairn::compare
