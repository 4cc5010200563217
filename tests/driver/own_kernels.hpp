#pragma once

#include "cairn/context.hpp"
#include "cairn/kernel.hpp"

#include <utility>
#include <vector>

namespace cairn::test {

/// A context that has these kernels in front of its own.
inline Context context_with(std::vector<Kernel> kernels) {
    ContextOptions options;
    options.extra.kernels = std::move(kernels);
    return Context(options);
}

}  // namespace cairn::test
