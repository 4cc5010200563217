#pragma once

#include "cairn/error.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace cairn::inline v0 {

/// Instructions beyond those that every x86-64 CPU has (SSE2), in groups that a CPU has or lacks as a whole.
enum class Feature : std::uint8_t {
    avx2,         ///< AVX2, FMA, F16C and BMI2
    avx512,       ///< AVX-512 F, BW, DQ, VL and CD
    avx_vnni,     ///< dot products of 8 and 16 bits in registers of AVX
    avx512_vnni,  ///< the same in registers of AVX-512
    avx512_bf16,  ///< dot products of bf16, casts
    avx512_fp16,  ///< arithmetic in f16
    amx_tile,     ///< tiles
    amx_bf16,     ///< products of tiles of bf16
    amx_int8      ///< products of tiles of 8 bits
};
inline constexpr std::size_t feature_count = 9;  ///< of Feature
/// `avx2`, `avx512`, ...: as they are called above.
CAIRN_API std::string_view to_string(Feature feature) noexcept;

/// Some of the Features: what a CPU has, what is in use, what a kernel's code needs.
///
///     FeatureSet{Feature::avx2, Feature::avx_vnni}   // avx2+avx_vnni
class FeatureSet {
public:
    /// None: what every CPU has.
    constexpr FeatureSet() noexcept = default;
    /// These, and no others.
    constexpr FeatureSet(std::initializer_list<Feature> features) noexcept {
        for (const Feature feature : features) bits_ |= bit(feature);
    }

    /// True where the feature is in it.
    constexpr bool has(Feature feature) const noexcept { return (bits_ & bit(feature)) != 0; }
    /// True where all of `other` is in it: code that needs `other` runs where this is in use.
    constexpr bool includes(FeatureSet other) const noexcept { return (other.bits_ & ~bits_) == 0; }
    /// True for none.
    constexpr bool empty() const noexcept { return bits_ == 0; }
    /// How many there are.
    constexpr int size() const noexcept {
        int count = 0;
        for (std::size_t i = 0; i < feature_count; ++i) count += static_cast<int>(bits_ >> i & 1);
        return count;
    }

    /// What is in either.
    friend constexpr FeatureSet operator|(FeatureSet a, FeatureSet b) noexcept { return of(a.bits_ | b.bits_); }
    /// What is in both.
    friend constexpr FeatureSet operator&(FeatureSet a, FeatureSet b) noexcept { return of(a.bits_ & b.bits_); }
    /// What is in the first and not in the second.
    friend constexpr FeatureSet operator-(FeatureSet a, FeatureSet b) noexcept { return of(a.bits_ & ~b.bits_); }
    friend constexpr bool operator==(FeatureSet a, FeatureSet b) noexcept = default;

private:
    static constexpr std::uint32_t bit(Feature feature) noexcept { return 1U << static_cast<unsigned>(feature); }
    static constexpr FeatureSet of(std::uint32_t bits) noexcept {
        FeatureSet made;
        made.bits_ = bits;
        return made;
    }
    std::uint32_t bits_ = 0;
};

/// `avx2+avx512+avx512_vnni`, in the order of Feature; `baseline` for none.
CAIRN_API std::string to_string(FeatureSet features);
/// Writes to_string(features).
CAIRN_API std::ostream& operator<<(std::ostream& out, FeatureSet features);
/// The inverse of to_string, in any order; nothing where a word is no feature's name.
CAIRN_API std::optional<FeatureSet> parse_features(std::string_view text) noexcept;

/// What a CPU with the feature has too: `avx512_vnni` stands on avx2+avx512.
constexpr FeatureSet implied_by(Feature feature) noexcept {
    switch (feature) {
        case Feature::avx512:
        case Feature::avx_vnni: return {Feature::avx2};
        case Feature::avx512_vnni:
        case Feature::avx512_bf16:
        case Feature::avx512_fp16: return {Feature::avx2, Feature::avx512};
        case Feature::amx_bf16:
        case Feature::amx_int8: return {Feature::amx_tile};
        default: return {};
    }
}

/// Sets that vector code is compiled for.
namespace levels {
inline constexpr FeatureSet baseline{};                              ///< SSE2, 4 f32 in a register
inline constexpr FeatureSet avx2{Feature::avx2};                     ///< 8
inline constexpr FeatureSet avx512{Feature::avx2, Feature::avx512};  ///< 16
}  // namespace levels

}  // namespace cairn::inline v0
