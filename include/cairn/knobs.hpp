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

/// What of a kernel's code can be set, so that one code serves machines and sizes on which other settings are best.
namespace cairn::inline v0 {

/// Something that can be set, and to what: `{"depth", {1024, 512}}`. The first value counts where nothing is measured.
struct Knob {
    std::string name;                  ///< a word, as ids of kernels have it
    std::vector<std::int64_t> values;  ///< all different
};

/// How many settings a kernel may have: the product of the numbers of values of its knobs.
inline constexpr std::size_t max_settings = 32;

/// A value for each knob of a kernel.
class CAIRN_API Setting {
public:
    /// Of a kernel without knobs.
    Setting() = default;
    /// Names of knobs, and their values.
    explicit Setting(std::vector<std::pair<std::string, std::int64_t>> values) : values_(std::move(values)) {}
    /// The value of the knob with this name: `setting["depth"]`. Throws Error(argument) where there is none.
    std::int64_t operator[](std::string_view knob) const;
    /// True where each knob has the same value.
    friend bool operator==(const Setting&, const Setting&) = default;

private:
    std::vector<std::pair<std::string, std::int64_t>> values_;
};

/// A function of a kernel: a plain one or, of a kernel with knobs, one that takes the Setting behind what it is asked.
///
///     kernel.prepare = [](const Problem& problem, int threads, const Setting& setting) { ... };
template <typename F>
class KernelFunction;
/// One that is asked A and says R.
template <typename R, typename... A>
class KernelFunction<R(A...)> {
public:
    /// None: there is nothing to call.
    KernelFunction(std::nullptr_t = nullptr) noexcept {}
    /// The same for every setting.
    template <typename F>
    requires std::convertible_to<F, R (*)(A...)> KernelFunction(F function)
    noexcept : plain_(function) {}
    /// What it says depends on the setting.
    template <typename F>
    requires std::convertible_to<F, R (*)(A..., const Setting&)> KernelFunction(F function)
    noexcept : set_(function) {}

    /// What it says, with the setting it was bound to.
    R operator()(A... asked) const {
        return set_ == nullptr ? plain_(asked...) : set_(asked..., bound_ == nullptr ? Setting() : *bound_);
    }
    /// True where there is something to call.
    explicit operator bool() const noexcept { return plain_ != nullptr || set_ != nullptr; }
    /// The same function with a setting. A Context does this for the kernels of its set.
    void bind(const std::shared_ptr<const Setting>& setting) {
        if (set_ != nullptr) bound_ = setting;
    }
    /// True where both say the same to whatever is asked.
    friend bool operator==(const KernelFunction& a, const KernelFunction& b) noexcept {
        const bool same_setting = a.bound_ == b.bound_ || (a.bound_ && b.bound_ && *a.bound_ == *b.bound_);
        return a.plain_ == b.plain_ && a.set_ == b.set_ && same_setting;
    }
    /// True where there is nothing to call.
    friend bool operator==(const KernelFunction& function, std::nullptr_t) noexcept { return !function; }

private:
    R (*plain_)(A...) = nullptr;
    R (*set_)(A..., const Setting&) = nullptr;
    std::shared_ptr<const Setting> bound_;
};

}  // namespace cairn::inline v0
