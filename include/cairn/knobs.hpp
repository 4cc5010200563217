#pragma once

#include "cairn/version.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
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

/// A function of a kernel: a plain function or, for a kernel with knobs, one with the Setting as its last parameter.
///
///     kernel.prepare = [](const Problem& problem, int threads, const Setting& setting) { ... };
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

    /// Calls the function with the setting it is bound to.
    R operator()(A... asked) const {
        return set_ == nullptr ? plain_(asked...) : set_(asked..., bound_ == nullptr ? Setting() : *bound_);
    }
    /// True if there is a function to call.
    explicit operator bool() const noexcept { return plain_ != nullptr || set_ != nullptr; }
    /// Binds the function to a setting. A Context does this for its kernels.
    void bind(const std::shared_ptr<const Setting>& setting) {
        if (set_ != nullptr) bound_ = setting;
    }
    /// True if both are the same function with the same setting.
    friend bool operator==(const KernelFunction& a, const KernelFunction& b) noexcept {
        const bool same_setting = a.bound_ == b.bound_ || (a.bound_ && b.bound_ && *a.bound_ == *b.bound_);
        return a.plain_ == b.plain_ && a.set_ == b.set_ && same_setting;
    }
    /// True if there is no function.
    friend bool operator==(const KernelFunction& function, std::nullptr_t) noexcept { return !function; }

private:
    R (*plain_)(A...) = nullptr;
    R (*set_)(A..., const Setting&) = nullptr;
    std::shared_ptr<const Setting> bound_;
};

}  // namespace cairn::inline v0
