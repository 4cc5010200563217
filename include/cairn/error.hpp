#pragma once

#include "cairn/version.hpp"

#include <initializer_list>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace cairn::inline v0 {

/// What kind of fault an Error reports; the message says which one.
enum class ErrorKind {
    graph,        ///< the graph a program wrote is wrong: shape, dtype, axis, name, a foreign tensor
    argument,     ///< a value given to a call is wrong: unknown name, size out of bounds, NaN where a number is needed
    file,         ///< a file is missing, truncated, malformed, or not what it says it is
    memory,       ///< memory cannot be had, or a limit is too small; the message names the bytes needed
    unsupported,  ///< legal, but no kernel or device here can do it; the message says why each one refused
    busy,         ///< a CompiledGraph that is running was asked to run
    cancelled,    ///< a std::stop_token was triggered
    internal,     ///< a fault of Cairn itself
};

/// Every failure of the library. `what()` is one sentence of the form
/// `[matmul] inner dims differ: lhs f32[4,3], rhs f32[4,2] (model.cpp:17)`:
/// the op or part in brackets, what was expected and got, and the caller's source line where there is one.
class CAIRN_API Error : public std::runtime_error {
public:
    Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

    /// `[part] message`
    Error(ErrorKind kind, std::string_view part, std::string_view message)
        : Error(kind, join({"[", part, "] ", message})) {}

    /// `[part] message (file:line)`, the file without its folders.
    Error(ErrorKind kind, std::string_view part, std::string_view message, const std::source_location& where)
        : Error(kind, join({"[", part, "] ", message, " (", place(where), ")"})) {}

    /// The kind of fault, for programs that react to it.
    ErrorKind kind() const noexcept { return kind_; }

    /// `model.cpp:17`: a source location as messages print it.
    static std::string place(const std::source_location& where) {
        const std::string_view path = where.file_name();
        const auto slash = path.find_last_of("/\\");
        const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
        return join({name, ":", std::to_string(where.line())});
    }

private:
    static std::string join(std::initializer_list<std::string_view> parts) {
        std::string text;
        for (const std::string_view part : parts) text += part;
        return text;
    }

    ErrorKind kind_;
};

/// Thrown by `run` on a CompiledGraph that is already running in another thread. Nothing was changed.
class CAIRN_API Busy : public Error {
public:
    explicit Busy(std::string_view part)
        : Error(ErrorKind::busy, part, "already running in another thread; use instance() for a second one") {}
};

/// Thrown when a std::stop_token is triggered. The object that was at work stays usable.
class CAIRN_API Cancelled : public Error {
public:
    explicit Cancelled(std::string_view part) : Error(ErrorKind::cancelled, part, "cancelled by the caller") {}
};

/// A fault of Cairn itself, never the caller's: please report it with the graph's text form.
class CAIRN_API InternalError : public Error {
public:
    InternalError(std::string_view part, std::string_view message) : Error(ErrorKind::internal, part, message) {}
};

}  // namespace cairn::inline v0
