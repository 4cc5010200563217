#pragma once

#include "cairn/error.hpp"

#include <functional>
#include <string>

namespace cairn::test {

/// The text of the Error that `work` throws; "nothing was thrown" otherwise.
inline std::string message(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) { return error.what(); }
    return "nothing was thrown";
}

}  // namespace cairn::test
