#include "tests/device/cuda/stand_in_nvrtc.hpp"

#include <cstring>

namespace cairn::device::cuda {
namespace {

// Functions of a table have no context.
StandInNvrtc* self = nullptr;

constexpr char log_text[] = "an error of the stand-in";

}  // namespace

StandInNvrtc::StandInNvrtc() {
    self = this;
    const auto table = std::make_shared<NvrtcTable>();
    table->version = [](int* major, int* minor) {
        *major = 13;
        *minor = 0;
        return NvrtcResult::success;
    };
    table->create = [](NvrtcProgram*, const char* text, const char*, int, const char* const*, const char* const*) {
        self->texts.emplace_back(text);
        return NvrtcResult::success;
    };
    table->compile = [](NvrtcProgram, int, const char* const* options) {
        self->architectures.emplace_back(options[0]);
        return self->texts.back().find("#error") == std::string::npos ? NvrtcResult::success : NvrtcResult::compilation;
    };
    table->destroy = [](NvrtcProgram*) { return NvrtcResult::success; };
    table->log_size = [](NvrtcProgram, std::size_t* bytes) {
        *bytes = sizeof(log_text);
        return NvrtcResult::success;
    };
    table->log = [](NvrtcProgram, char* log) {
        std::memcpy(log, log_text, sizeof(log_text));
        return NvrtcResult::success;
    };
    table->cubin_size = [](NvrtcProgram, std::size_t* bytes) {
        *bytes = 5;
        return NvrtcResult::success;
    };
    table->cubin = [](NvrtcProgram, char* cubin) {
        std::memcpy(cubin, "cubin", 5);
        return NvrtcResult::success;
    };
    table->error_name = [](NvrtcResult) { return "NVRTC_ERROR_COMPILATION"; };
    nvrtc_ = std::make_shared<Nvrtc>(table);
}

StandInNvrtc::~StandInNvrtc() { self = nullptr; }

}  // namespace cairn::device::cuda
