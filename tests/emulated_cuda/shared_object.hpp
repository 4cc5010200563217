#pragma once

#include <cstddef>
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
    /// The memory that the object occupies.
    const std::byte* begin() const { return begin_; }
    std::size_t size() const { return size_; }

private:
    void* handle_ = nullptr;
    const std::byte* begin_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace cairn::emulated_cuda
