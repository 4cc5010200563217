#include "cairn/context.hpp"

#include "device/context_impl.hpp"
#include "device/cpu/affinity.hpp"
#include "driver/make_context.hpp"
#include "driver/open_devices.hpp"

#include <utility>

namespace cairn::inline v0 {
namespace {

#define CAIRN_TEXT_OF(x) #x
#define CAIRN_TEXT(x) CAIRN_TEXT_OF(x)
constexpr std::string_view version_text =
    CAIRN_TEXT(CAIRN_VERSION_MAJOR) "." CAIRN_TEXT(CAIRN_VERSION_MINOR) "." CAIRN_TEXT(CAIRN_VERSION_PATCH);
#undef CAIRN_TEXT
#undef CAIRN_TEXT_OF

}  // namespace

int usable_cpus() { return device::usable_cpus(); }
std::optional<double> cpu_quota() { return device::cgroup_quota(); }

std::string_view version() noexcept { return version_text; }

Context::Context(ContextOptions options) {
    std::vector<DeviceBackend> devices = driver::open_devices(options);
    *this = driver::make_context(std::move(options), std::move(devices));
}

Context::Context(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

const std::shared_ptr<Context::Impl>& Context::impl() const {
    if (impl_ == nullptr) throw Error(ErrorKind::argument, "context", "the handle is moved-from");
    return impl_;
}

int Context::threads() const { return impl()->cpu->threads(); }
FeatureSet Context::features() const { return impl()->features; }
const KernelSet& Context::kernels() const { return impl()->kernels; }

}  // namespace cairn::inline v0
