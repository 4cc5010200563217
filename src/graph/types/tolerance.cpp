#include "cairn/tolerance.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>

#include <cmath>

namespace cairn::inline v0 {

Tolerance Tolerance::relative(double error) {
    if (!(error > 0 && std::isfinite(error)))
        throw Error(ErrorKind::argument, "tolerance",
                    fmt::format("an error must be finite and above 0, got {}", error));
    Tolerance tolerance;
    tolerance.error_ = error;
    return tolerance;
}

std::string to_string(const Tolerance& tolerance) {
    return tolerance.is_exact() ? "exact" : fmt::format("{:.4g}", tolerance.error());
}

}  // namespace cairn::inline v0
