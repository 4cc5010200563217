#pragma once

#include "cairn/version.hpp"

#include <initializer_list>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace cairn::inline v0 {

/// Category of an Error; the message gives the details.
enum class ErrorKind {
    graph,        ///< the program built an invalid graph: shape, dtype, axis, name, a tensor of another graph
    argument,     ///< an invalid argument: unknown name, size out of bounds, NaN where a number is needed
    file,         ///< a file is missing, truncated, malformed or of the wrong kind
    memory,       ///< out of memory, or a limit is too small; the message gives the bytes needed
    unsupported,  ///< legal, but no kernel or device supports it; the message lists each refusal
    busy,         ///< a CompiledGraph was used while it was running
    cancelled,    ///< a std::stop_token was triggered
    internal,     ///< a bug in Cairn
};

/// Base class of all exceptions of the library. `what()` is one sentence of the form
/// `[matmul] inner dims differ: lhs f32[4,3], rhs f32[4,2] (model.cpp:17)`:
/// the op or component in brackets, what was expected and got, and the caller's source line if known.
class CAIRN_API Error : public std::runtime_error {
public:
    Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

    /// Formats `[part] message`.
    Error(ErrorKind kind, std::string_view part, std::string_view message)
        : Error(kind, join({"[", part, "] ", message})) {}

    /// Formats `[part] message (file:line)`, the file without its folders.
    Error(ErrorKind kind, std::string_view part, std::string_view message, const std::source_location& where)
        : Error(kind, join({"[", part, "] ", message, " (", place(where), ")"})) {}

    /// The category, for programs that handle errors.
    ErrorKind kind() const noexcept { return kind_; }

    /// A source location as messages print it: `model.cpp:17`.
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

/// Thrown by `run` on a CompiledGraph that is already running in another thread. Nothing has changed.
class CAIRN_API Busy : public Error {
public:
    explicit Busy(std::string_view part)
        : Error(ErrorKind::busy, part, "already running in another thread; use instance() for a second one") {}
};

/// Thrown when a std::stop_token is triggered. The object stays usable.
class CAIRN_API Cancelled : public Error {
public:
    explicit Cancelled(std::string_view part) : Error(ErrorKind::cancelled, part, "cancelled by the caller") {}
};

/// A bug in Cairn, never the caller's fault: please report it with the graph's text form.
class CAIRN_API InternalError : public Error {
public:
    InternalError(std::string_view part, std::string_view message) : Error(ErrorKind::internal, part, message) {}
};

}  // namespace cairn::inline v0
