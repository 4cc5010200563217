#include "apps/console/standard_streams.hpp"

#include "cairn/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

namespace cairn::console {

void print(std::string_view bytes) {
    const bool done = std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() && std::fflush(stdout) == 0;
    if (done) return;
    const int code = errno;
    if (code == EPIPE) throw BrokenPipe();
    throw Error(ErrorKind::file, "output", "the output cannot be written: " + std::generic_category().message(code));
}

void print_to_stderr(std::string_view line) {
    std::string text(line);
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    text += '\n';
    std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace cairn::console
