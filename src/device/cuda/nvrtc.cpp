#include "device/cuda/nvrtc.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace cairn::device::cuda {
namespace {

/// Throws unless a call was successful that fails for lack of memory only.
void check_nvrtc(const NvrtcTable& nvrtc, NvrtcResult result, const char* symbol) {
    if (result == NvrtcResult::success) return;
    const bool memory = result == NvrtcResult::out_of_memory;
    throw Error(memory ? ErrorKind::memory : ErrorKind::internal, "cuda",
                fmt::format("{} failed: {}", symbol, nvrtc.error_name(result)));
}

/// A program of NVRTC; the destructor destroys it.
class Compilation {
public:
    Compilation(const NvrtcTable& nvrtc, const std::string& text, const std::string& name) : nvrtc_(nvrtc) {
        check_nvrtc(nvrtc, nvrtc.create(&program_, text.c_str(), name.c_str(), 0, nullptr, nullptr),
                    "nvrtcCreateProgram");
    }
    ~Compilation() { nvrtc_.destroy(&program_); }
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;

    NvrtcResult compile(std::span<const std::string> options) {
        std::vector<const char*> pointers;
        for (const std::string& option : options) pointers.push_back(option.c_str());
        return nvrtc_.compile(program_, static_cast<int>(pointers.size()), pointers.data());
    }

    std::string log() const {
        std::size_t bytes = 0;
        check_nvrtc(nvrtc_, nvrtc_.log_size(program_, &bytes), "nvrtcGetProgramLogSize");
        std::string log(bytes, '\0');
        if (bytes > 0) check_nvrtc(nvrtc_, nvrtc_.log(program_, log.data()), "nvrtcGetProgramLog");
        // The size counts the terminator; the log of an assembler error may end in several line feeds.
        log.resize(log.find_last_not_of(std::string_view("\0\n", 2)) + 1);
        return log;
    }

    std::vector<std::byte> cubin() const {
        std::size_t bytes = 0;
        check_nvrtc(nvrtc_, nvrtc_.cubin_size(program_, &bytes), "nvrtcGetCUBINSize");
        std::vector<std::byte> cubin(bytes);
        if (bytes > 0)
            check_nvrtc(nvrtc_, nvrtc_.cubin(program_, reinterpret_cast<char*>(cubin.data())), "nvrtcGetCUBIN");
        return cubin;
    }

private:
    const NvrtcTable& nvrtc_;
    NvrtcProgram program_ = nullptr;
};

}  // namespace

Nvrtc::Nvrtc(LibraryFolders folders) : folders_(std::move(folders)) {}
Nvrtc::Nvrtc(std::shared_ptr<const NvrtcTable> nvrtc) : nvrtc_(std::move(nvrtc)) {}

std::shared_ptr<const NvrtcTable> Nvrtc::table() {
    const std::lock_guard lock(opening_);
    if (nvrtc_ == nullptr) {
        auto [nvrtc, reason] = open_nvrtc(folders_);
        if (nvrtc == nullptr) throw Error(ErrorKind::unsupported, "cuda", reason);
        nvrtc_ = std::move(nvrtc);
    }
    return nvrtc_;
}

NvrtcVersion Nvrtc::version() {
    const auto nvrtc = table();
    NvrtcVersion version;
    check_nvrtc(*nvrtc, nvrtc->version(&version.major, &version.minor), "nvrtcVersion");
    return version;
}

std::optional<NvrtcVersion> Nvrtc::version_if_open() {
    {
        const std::lock_guard lock(opening_);
        if (nvrtc_ == nullptr) return {};
    }
    return version();
}

std::string Nvrtc::path() { return library_of_symbol(reinterpret_cast<const void*>(table()->version)); }

std::vector<std::string> Nvrtc::options_of(const std::string& architecture, std::span<const std::string> options) {
    std::vector<std::string> all = {"--gpu-architecture=" + architecture, "--no-cache", "--ptxas-options=-v"};
    all.insert(all.end(), options.begin(), options.end());
    return all;
}

CompiledText Nvrtc::compile(const std::string& text, const std::string& name, const std::string& architecture,
                            std::span<const std::string> options) {
    const auto nvrtc = table();
    Compilation program(*nvrtc, text, name);
    const NvrtcResult result = program.compile(options_of(architecture, options));
    CompiledText code;
    code.log = program.log();
    if (result == NvrtcResult::out_of_memory) check_nvrtc(*nvrtc, result, "nvrtcCompileProgram");
    if (result != NvrtcResult::success)
        throw Error(ErrorKind::unsupported, "cuda",
                    fmt::format("{} does not compile for {}: {}, with the log\n{}", name, architecture,
                                nvrtc->error_name(result), code.log));
    code.cubin = program.cubin();
    if (code.cubin.empty())
        throw Error(ErrorKind::unsupported, "cuda",
                    fmt::format("{} was compiled without machine code: {} is not an architecture like sm_90a", name,
                                architecture));
    code.kernels = kernel_resources(code.log);
    return code;
}

}  // namespace cairn::device::cuda
