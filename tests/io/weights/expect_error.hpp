#pragma once

#include "cairn/error.hpp"

#include <gmock/gmock.h>

#include <string>

namespace cairn::test {

/// Throws an Error of this kind whose text holds `what`.
inline auto refused(const std::string& what, ErrorKind kind = ErrorKind::file) {
    return ::testing::Throws<Error>(::testing::AllOf(::testing::Property(&Error::kind, kind),
                                                     ::testing::Property(&Error::what, ::testing::HasSubstr(what))));
}

}  // namespace cairn::test
