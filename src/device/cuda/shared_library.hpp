#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// The libraries of CUDA, opened at run time. A program that contains this code starts on machines without them.
namespace cairn::device::cuda {

/// A shared library that this process has opened; the destructor closes it, unless it is kept loaded.
class SharedLibrary {
public:
    ~SharedLibrary();
    SharedLibrary(const SharedLibrary&) = delete;
    SharedLibrary& operator=(const SharedLibrary&) = delete;

    /// Address of an exported symbol; null if there is none.
    void* find(const char* symbol) const noexcept;
    /// The library stays loaded until the process ends. For libraries that may have threads of their own, or that leak
    /// when they are unloaded, as NVRTC does.
    void keep_loaded() noexcept { kept_ = true; }

private:
    friend struct OpenedLibrary open_library(const std::string& path);
    explicit SharedLibrary(void* handle) noexcept : handle_(handle) {}

    void* handle_;
    bool kept_ = false;
};

/// A library, or the reason why there is none.
struct OpenedLibrary {
    std::unique_ptr<SharedLibrary> shared_library;  ///< null: could not be opened
    std::string reason;                             ///< by the loader, such as `x.so: file too short`
};

/// Opens a library by its path, or by the loader's search if there is no slash in it. Its symbols stay private, so that
/// they cannot replace those of the host program.
OpenedLibrary open_library(const std::string& path);

/// The path of the library that has this function or variable; empty if unknown.
std::string library_of_symbol(const void* address);

/// The folder of that library, with a slash at its end; empty if unknown.
std::string folder_of_symbol(const void* address);

/// Where the libraries of CUDA other than the driver are searched.
struct LibraryFolders {
    std::string given;    ///< by the user; if it is not empty, only this folder is searched
    std::string toolkit;  ///< of the toolkit that was found when Cairn was built; may be empty, and need not exist
};

/// The paths at which a library is searched, in order: in the user's folder alone, or by the loader and then in the
/// toolkit's folder. A library that the user asks for is never replaced by another version of it.
std::vector<std::string> library_paths(std::string_view file, const LibraryFolders& folders);

/// Opens the library at these paths in turn until one can be used, which then stays loaded until the process ends.
/// `use` returns why one cannot be used, or nothing. Returns the reasons why none can; empty if one is used.
std::string use_library(std::string_view file, const LibraryFolders& folders,
                        const std::function<std::string(SharedLibrary& library, const std::string& path)>& use);

}  // namespace cairn::device::cuda
