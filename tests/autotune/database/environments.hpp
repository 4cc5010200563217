#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace cairn::test {

/// Parts of the hard text of an invented machine's environment.
struct EnvironmentParts {
    std::string vendor = "Maker", name = "Twelve";
    std::int64_t l3 = 32 << 20;
    std::string features = "avx2";
    int threads = 2;
    std::string build = "gcc 1";
};

/// The text that autotune::environment_of would write for it.
inline std::string environment(const EnvironmentParts& parts) {
    return fmt::format(
        "cairn 0.1.0 | {} | {} | family 1 model 2 stepping 3 | L1d 32768 L2 2097152 L3 {} | {} of {} | threads {} "
        "cpus [2x1] quota none | {}",
        parts.vendor, parts.name, parts.l3, parts.features, parts.features, parts.threads, parts.build);
}

}  // namespace cairn::test
