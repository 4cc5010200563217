#pragma once

#include "cairn/context.hpp"
#include "cairn/kernel.hpp"

#include <utility>
#include <vector>

namespace cairn::test {

/// A context with these kernels in addition to the library's.
inline Context context_with(std::vector<Kernel> kernels) {
    ContextOptions options;
    options.extra.kernels = std::move(kernels);
    return Context(options);
}

}  // namespace cairn::test
