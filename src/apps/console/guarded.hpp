#pragma once

#include <functional>
#include <string_view>

namespace CLI {
class App;
}

namespace cairn::console {

/// Exit code for an invalid command line or input.
inline constexpr int fault = 2;

/// Runs `work`, which parses the command line by `app`, and returns its exit code. A fault is one sentence on standard
/// error and the exit code `fault`; after Ctrl-C the code is `interrupted`.
int guarded(CLI::App& app, const std::function<int()>& work);

}  // namespace cairn::console
