#include "device/cuda/shared_library.hpp"

#include <dlfcn.h>

namespace cairn::device::cuda {

SharedLibrary::~SharedLibrary() {
    if (!kept_) dlclose(handle_);
}

void* SharedLibrary::find(const char* symbol) const noexcept { return dlsym(handle_, symbol); }

OpenedLibrary open_library(const std::string& path) {
    // An empty name would be the host program itself.
    if (path.empty()) return {nullptr, "the path is empty"};
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char* const reason = dlerror();
        return {nullptr, reason != nullptr ? reason : path + ": cannot be opened"};
    }
    return {std::unique_ptr<SharedLibrary>(new SharedLibrary(handle)), {}};
}

std::string library_of_symbol(const void* address) {
    Dl_info info = {};
    if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
    return info.dli_fname;
}

std::string folder_of_symbol(const void* address) {
    const std::string path = library_of_symbol(address);
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

std::vector<std::string> library_paths(std::string_view file, const LibraryFolders& folders) {
    const auto in = [&](const std::string& folder) { return folder + "/" + std::string(file); };
    if (!folders.given.empty()) return {in(folders.given)};
    std::vector<std::string> paths = {std::string(file)};
    if (!folders.toolkit.empty()) paths.push_back(in(folders.toolkit));
    return paths;
}

std::string use_library(std::string_view file, const LibraryFolders& folders,
                        const std::function<std::string(SharedLibrary& library, const std::string& path)>& use) {
    std::string reasons;
    for (const std::string& path : library_paths(file, folders)) {
        auto [library, reason] = open_library(path);
        if (library != nullptr) reason = use(*library, path);
        if (reason.empty()) {
            library->keep_loaded();
            return {};
        }
        reasons += (reasons.empty() ? "" : "; ") + reason;
    }
    return reasons;
}

}  // namespace cairn::device::cuda
