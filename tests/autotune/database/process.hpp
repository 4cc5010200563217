#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <string>
#include <utility>

namespace cairn::test {

/// Runs work in a child process, which reports errors as text.
class Process {
public:
    /// Starts it. `work` is called with a function that sends text to the parent at once.
    template <typename F>
    explicit Process(const F& work) {
        int ends[2];
        if (pipe(ends) != 0) return;
        id_ = fork();
        if (id_ == 0) {
            close(ends[0]);
            const auto report = [&](const std::string& text) {
                if (write(ends[1], text.data(), text.size()) < 0) _exit(2);
            };
            try {
                work(report);
            } catch (const std::exception& error) { report(std::string("threw ") + error.what()); } catch (...) {
                report("threw");
            }
            _exit(0);
        }
        close(ends[1]);
        pipe_ = ends[0];
    }
    Process(Process&& other) noexcept : id_(other.id_), pipe_(other.pipe_), text_(std::move(other.text_)) {
        other.id_ = -1;
    }
    Process& operator=(Process&&) = delete;
    ~Process() { finish(); }

    /// Waits for `count` more bytes of text; false if the process ends before.
    bool hear(std::size_t count) {
        char byte = 0;
        for (; count > 0; --count) {
            if (read(pipe_, &byte, 1) != 1) return false;
            text_ += byte;
        }
        return true;
    }
    void kill() const { ::kill(id_, SIGKILL); }
    /// Waits for the end and returns all text; with an extra line if the process crashed.
    std::string finish() {
        std::string text = text_;
        if (id_ <= 0) return text;
        char bytes[256];
        for (ssize_t count = 0; (count = read(pipe_, bytes, sizeof bytes)) > 0;)
            text.append(bytes, static_cast<std::size_t>(count));
        close(pipe_);
        int status = 0;
        waitpid(id_, &status, 0);
        id_ = -1;
        if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) text += "\nended by a signal";
        return text;
    }

private:
    pid_t id_ = -1;
    int pipe_ = -1;
    std::string text_;
};

/// Changes the user to nobody, since permissions do not apply to root.
inline void become_nobody() {
    if (geteuid() != 0) return;
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(3);
}

}  // namespace cairn::test
