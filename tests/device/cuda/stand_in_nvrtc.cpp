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
        const std::scoped_lock lock(self->mutex_);
        ++self->calls;
        *major = 13;
        *minor = self->minor_version;
        return NvrtcResult::success;
    };
    table->create = [](NvrtcProgram* handle, const char* text, const char*, int, const char* const*,
                       const char* const*) {
        const std::scoped_lock lock(self->mutex_);
        ++self->calls;
        self->texts.emplace_back(text);
        *handle = reinterpret_cast<NvrtcProgram>(16 * ++self->created_);
        self->programs_[*handle].text = text;
        return NvrtcResult::success;
    };
    table->compile = [](NvrtcProgram handle, int, const char* const* options) {
        Program& program = self->program(handle);
        program.architecture = options[0];
        {
            const std::scoped_lock lock(self->mutex_);
            self->architectures.emplace_back(options[0]);
        }
        if (self->on_compile) self->on_compile(program.text);
        const auto has = [&](const char* word) { return program.text.find(word) != std::string::npos; };
        return has("#memory")  ? NvrtcResult::out_of_memory
               : has("#error") ? NvrtcResult::compilation
                               : NvrtcResult::success;
    };
    table->destroy = [](NvrtcProgram* handle) {
        const std::scoped_lock lock(self->mutex_);
        self->programs_.erase(*handle);
        return NvrtcResult::success;
    };
    table->log_size = [](NvrtcProgram, std::size_t* bytes) {
        *bytes = sizeof(log_text);
        return NvrtcResult::success;
    };
    table->log = [](NvrtcProgram, char* log) {
        std::memcpy(log, log_text, sizeof(log_text));
        return NvrtcResult::success;
    };
    table->cubin_size = [](NvrtcProgram handle, std::size_t* bytes) {
        *bytes = self->program(handle).image().size() + 1;
        return NvrtcResult::success;
    };
    table->cubin = [](NvrtcProgram handle, char* cubin) {
        const std::string image = self->program(handle).image();
        std::memcpy(cubin, image.c_str(), image.size() + 1);
        return NvrtcResult::success;
    };
    table->error_name = [](NvrtcResult) { return "NVRTC_ERROR_COMPILATION"; };
    nvrtc_ = std::make_shared<Nvrtc>(table);
}

StandInNvrtc::~StandInNvrtc() { self = nullptr; }

StandInNvrtc::Program& StandInNvrtc::program(NvrtcProgram handle) {
    const std::scoped_lock lock(mutex_);
    return programs_.at(handle);
}

std::string StandInNvrtc::Program::image() const { return "cubin " + architecture + " " + to_string(digest(text)); }

}  // namespace cairn::device::cuda
