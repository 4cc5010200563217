#include "tests/device/cuda/stand_in_nvrtc.hpp"

#include "cairn/problem.hpp"

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
        ++self->calls;
        *major = 13;
        *minor = self->minor_version;
        return NvrtcResult::success;
    };
    table->create = [](NvrtcProgram*, const char* text, const char*, int, const char* const*, const char* const*) {
        ++self->calls;
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
        *bytes = self->image().size() + 1;
        return NvrtcResult::success;
    };
    table->cubin = [](NvrtcProgram, char* cubin) {
        std::memcpy(cubin, self->image().c_str(), self->image().size() + 1);
        return NvrtcResult::success;
    };
    table->error_name = [](NvrtcResult) { return "NVRTC_ERROR_COMPILATION"; };
    nvrtc_ = std::make_shared<Nvrtc>(table);
}

StandInNvrtc::~StandInNvrtc() { self = nullptr; }

std::string StandInNvrtc::image() const {
    return "cubin " + architectures.back() + " " + to_string(digest(texts.back()));
}

}  // namespace cairn::device::cuda
