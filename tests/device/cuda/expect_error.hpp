#pragma once

#include "cairn/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cairn::device::cuda {

/// Calls a function that must throw an Error of this kind, and returns its message; empty after a failure.
template <class Call>
std::string message_of(ErrorKind kind, const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), kind) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
}

}  // namespace cairn::device::cuda
