#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace cairn::emulated_cuda {

/// A shared object compiled from C++ and loaded. Its files are removed.
class SharedObject {
public:
    /// `command` is followed by options for the output and the source. Throws std::runtime_error with the compiler's
    /// messages.
    SharedObject(const std::string& command, const std::string& source);
    ~SharedObject();
    SharedObject(const SharedObject&) = delete;
    SharedObject& operator=(const SharedObject&) = delete;

    /// The address of a symbol, or null.
    void* symbol(const std::string& name) const;
    /// ", at line n" of the source that code was compiled from, or an empty text if that is unknown.
    std::string line(const void* code) const;
    /// The memory that the object occupies.
    const std::byte* begin() const { return begin_; }
    std::size_t size() const { return size_; }

private:
    std::string image_;  // the file
    mutable std::map<std::ptrdiff_t, std::string> lines_;
    void* handle_ = nullptr;
    const std::byte* begin_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace cairn::emulated_cuda
