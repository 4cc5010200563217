#include "tests/emulated_cuda/shared_object.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>

namespace cairn::emulated_cuda {

namespace {

/// A new folder, removed with its files.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "cairn_emulated_XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make the folder " + pattern);
        path_ = pattern;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    std::string operator/(const char* name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

std::string run(const std::string& command, bool& succeeded) {
    std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
    std::string output;
    std::array<char, 4096> part;
    while (std::fgets(part.data(), part.size(), pipe) != nullptr) output += part.data();
    succeeded = ::pclose(pipe) == 0;
    return output;
}

}  // namespace

SharedObject::SharedObject(const std::string& command, const std::string& source) {
    const TemporaryFolder folder;
    std::ofstream(folder / "kernels.cpp") << source;
    // Compiled and linked apart: with its option for instrumentation the compiler would link a sanitizer's library.
    bool succeeded = false;
    std::string output = run(command + " -c -o " + folder / "kernels.o" + " " + folder / "kernels.cpp", succeeded);
    if (succeeded) {
        const std::string compiler = command.substr(0, command.find(' '));
        output += run(compiler + " -shared -o " + folder / "kernels.so" + " " + folder / "kernels.o", succeeded);
    }
    if (!succeeded) throw std::runtime_error("kernel texts do not compile for the CPU:\n" + output);
    handle_ = ::dlopen((folder / "kernels.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) throw std::runtime_error(::dlerror());
    std::ifstream file(folder / "kernels.so", std::ios::binary);
    image_.assign(std::istreambuf_iterator<char>(file), {});

    const link_map* map = nullptr;
    ::dlinfo(handle_, RTLD_DI_LINKMAP, &map);
    const auto extent = [&] {
        std::pair<const link_map*, std::size_t> found{map, 0};
        ::dl_iterate_phdr(
            [](dl_phdr_info* info, std::size_t, void* data) {
                auto& [wanted, bytes] = *static_cast<std::pair<const link_map*, std::size_t>*>(data);
                if (info->dlpi_addr != wanted->l_addr) return 0;
                for (int i = 0; i < info->dlpi_phnum; ++i)
                    if (info->dlpi_phdr[i].p_type == PT_LOAD)
                        bytes = info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
                return 1;
            },
            &found);
        return found.second;
    };
    begin_ = reinterpret_cast<const std::byte*>(map->l_addr);
    size_ = extent();
}

SharedObject::~SharedObject() {
    if (handle_ != nullptr) ::dlclose(handle_);
}

std::string SharedObject::line(const void* code) const {
    if (code == nullptr) return "";
    // The address that a call returns to is after the call.
    const std::ptrdiff_t offset = static_cast<const std::byte*>(code) - begin_ - 1;
    const auto [known, is_new] = lines_.try_emplace(offset);
    if (!is_new) return known->second;
    const TemporaryFolder folder;
    std::ofstream(folder / "kernels.so", std::ios::binary) << image_;
    std::array<char, 32> hexadecimal{};
    std::snprintf(hexadecimal.data(), hexadecimal.size(), "%#tx", offset);
    bool succeeded = false;
    const std::string output = run("addr2line -i -e " + folder / "kernels.so" + " " + hexadecimal.data(), succeeded);
    // A line `file:number` for each inlined function, the innermost first; headers of the emulator are left out.
    static const std::regex number("text [0-9]+:([0-9]+)");
    for (std::sregex_iterator at(output.begin(), output.end(), number), end; succeeded && at != end; ++at)
        known->second += (known->second.empty() ? ", at line " : ", called at line ") + (*at)[1].str();
    return known->second;
}

void* SharedObject::symbol(const std::string& name) const { return ::dlsym(handle_, name.c_str()); }

}  // namespace cairn::emulated_cuda
