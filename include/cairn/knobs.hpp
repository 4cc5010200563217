#pragma once

#include "cairn/version.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// Tunable parameters of kernels, so that one implementation serves machines and sizes with different best settings.
namespace cairn::inline v0 {

/// A tunable parameter and its values: `{"depth", {1024, 512}}`. The first value is the default if nothing is measured.
struct Knob {
    std::string name;                  ///< a word, as it appears in kernel ids
    std::vector<std::int64_t> values;  ///< all distinct
};

/// Largest number of settings of a kernel: the product of the numbers of values of its knobs.
inline constexpr std::size_t max_settings = 32;

/// One value for each knob of a kernel.
class CAIRN_API Setting {
public:
    /// The setting of a kernel without knobs.
    Setting() = default;
    /// Constructs a setting from names of knobs and their values.
    explicit Setting(std::vector<std::pair<std::string, std::int64_t>> values) : values_(std::move(values)) {}
    /// The value of the knob with this name: `setting["depth"]`. Throws Error(argument) if there is none.
    std::int64_t operator[](std::string_view knob) const;
    /// True if each knob has the same value.
    friend bool operator==(const Setting&, const Setting&) = default;

private:
    std::vector<std::pair<std::string, std::int64_t>> values_;
};

/// A function of a kernel: a plain function, a function object, or, for a kernel with knobs, one of these with the
/// Setting as its last parameter. Copies share a function object, which several threads may call at once.
///
///     kernel.prepare = [](const Problem& problem, int threads, const Setting& setting) { ... };
///     kernel.enqueue = [handle](const Args& args, const DeviceStream& stream) { ... };
template <typename F>
class KernelFunction;
/// A function of a kernel with parameters A and result R.
template <typename R, typename... A>
class KernelFunction<R(A...)> {
public:
    /// No function.
    KernelFunction(std::nullptr_t = nullptr) noexcept {}
    /// A function that does not depend on the setting.
    template <typename F>
    requires std::convertible_to<F, R (*)(A...)> KernelFunction(F function)
    noexcept : plain_(function) {}
    /// A function that depends on the setting.
    template <typename F>
    requires std::convertible_to<F, R (*)(A..., const Setting&)> KernelFunction(F function)
    noexcept : set_(function) {}
    /// A function object that does not depend on the setting.
    template <typename F>
    requires(std::is_class_v<F> && !std::convertible_to<F, R (*)(A...)> && std::is_invocable_r_v<R, const F&, A...>)
        KernelFunction(F function)
        : object_(std::make_shared<const std::function<R(A...)>>(std::move(function))) {}
    /// A function object that depends on the setting.
    template <typename F>
    requires(std::is_class_v<F> && !std::convertible_to<F, R (*)(A..., const Setting&)> &&
             std::is_invocable_r_v<R, const F&, A..., const Setting&>) KernelFunction(F function)
        : set_object_(std::make_shared<const std::function<R(A..., const Setting&)>>(std::move(function))) {}

    /// Calls the function with the setting it is bound to.
    R operator()(A... asked) const {
        if (plain_ != nullptr) return plain_(asked...);
        if (object_ != nullptr) return (*object_)(asked...);
        const Setting none;
        const Setting& setting = bound_ == nullptr ? none : *bound_;
        return set_ != nullptr ? set_(asked..., setting) : (*set_object_)(asked..., setting);
    }
    /// True if there is a function to call.
    explicit operator bool() const noexcept {
        return plain_ != nullptr || object_ != nullptr || set_ != nullptr || set_object_ != nullptr;
    }
    /// Binds the function to a setting. A Context does this for its kernels.
    void bind(const std::shared_ptr<const Setting>& setting) {
        if (set_ != nullptr || set_object_ != nullptr) bound_ = setting;
    }
    /// True if both are the same function with the same setting.
    friend bool operator==(const KernelFunction& a, const KernelFunction& b) noexcept {
        const bool same_setting = a.bound_ == b.bound_ || (a.bound_ && b.bound_ && *a.bound_ == *b.bound_);
        return a.plain_ == b.plain_ && a.set_ == b.set_ && a.object_ == b.object_ && a.set_object_ == b.set_object_ &&
               same_setting;
    }
    /// True if there is no function.
    friend bool operator==(const KernelFunction& function, std::nullptr_t) noexcept { return !function; }

private:
    R (*plain_)(A...) = nullptr;
    R (*set_)(A..., const Setting&) = nullptr;
    std::shared_ptr<const std::function<R(A...)>> object_;
    std::shared_ptr<const std::function<R(A..., const Setting&)>> set_object_;
    std::shared_ptr<const Setting> bound_;
};

}  // namespace cairn::inline v0
