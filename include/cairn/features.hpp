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

/// Instruction set extensions beyond SSE2, which every x86-64 CPU has. Each is a group that a CPU has or lacks as a
/// whole.
enum class Feature : std::uint8_t {
    avx2,         ///< AVX2, FMA, F16C and BMI2
    avx512,       ///< AVX-512 F, BW, DQ, VL and CD
    avx_vnni,     ///< dot products of 8 and 16 bits in AVX registers
    avx512_vnni,  ///< the same in AVX-512 registers
    avx512_bf16,  ///< dot products and casts of bf16
    avx512_fp16,  ///< f16 arithmetic
    amx_tile,     ///< tile registers
    amx_bf16,     ///< bf16 tile products
    amx_int8      ///< 8-bit tile products
};
inline constexpr std::size_t feature_count = 9;  ///< number of Features
/// The enumerator's name: `avx2`, `avx512`, ...
CAIRN_API std::string_view to_string(Feature feature) noexcept;

/// A set of Features: of a CPU, enabled for a Context, or needed by a kernel.
///
///     FeatureSet{Feature::avx2, Feature::avx_vnni}   // avx2+avx_vnni
class FeatureSet {
public:
    /// The empty set: the baseline of every CPU.
    constexpr FeatureSet() noexcept = default;
    /// The set of these features.
    constexpr FeatureSet(std::initializer_list<Feature> features) noexcept {
        for (const Feature feature : features) bits_ |= bit(feature);
    }

    /// True if the set contains the feature.
    constexpr bool has(Feature feature) const noexcept { return (bits_ & bit(feature)) != 0; }
    /// True if `other` is a subset: code that needs `other` runs where this set is enabled.
    constexpr bool includes(FeatureSet other) const noexcept { return (other.bits_ & ~bits_) == 0; }
    /// True for the empty set.
    constexpr bool empty() const noexcept { return bits_ == 0; }
    /// Number of features in the set.
    constexpr int size() const noexcept {
        int count = 0;
        for (std::size_t i = 0; i < feature_count; ++i) count += static_cast<int>(bits_ >> i & 1);
        return count;
    }

    /// Union.
    friend constexpr FeatureSet operator|(FeatureSet a, FeatureSet b) noexcept { return of(a.bits_ | b.bits_); }
    /// Intersection.
    friend constexpr FeatureSet operator&(FeatureSet a, FeatureSet b) noexcept { return of(a.bits_ & b.bits_); }
    /// Difference: in the first and not in the second.
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
/// The inverse of to_string, in any order; empty if a word is no feature's name.
CAIRN_API std::optional<FeatureSet> parse_features(std::string_view text) noexcept;

/// The features that a CPU with this feature also has: avx2 and avx512 for `avx512_vnni`.
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

/// Feature sets that vector code is compiled for.
namespace levels {
inline constexpr FeatureSet baseline{};                              ///< SSE2: 4 f32 in a register
inline constexpr FeatureSet avx2{Feature::avx2};                     ///< 8 f32 in a register
inline constexpr FeatureSet avx512{Feature::avx2, Feature::avx512};  ///< 16 f32 in a register
/// And products of 64 bytes at once; of products of integers alone.
inline constexpr FeatureSet avx512_vnni{Feature::avx2, Feature::avx512, Feature::avx512_vnni};
/// AVX-512 and tile registers of bf16; of products in bf16 parts alone.
inline constexpr FeatureSet amx_bf16{Feature::avx2, Feature::avx512, Feature::amx_tile, Feature::amx_bf16};
}  // namespace levels

}  // namespace cairn::inline v0
