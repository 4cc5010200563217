#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace cairn::normal_form {

/// A law on which the equality of two expressions may rest, besides the exact laws. Exact laws keep every rounding
/// error within the bound of one summation: any order of sums and factors, movement, the definitions of composites.
enum class Law : std::uint8_t {
    distributed,   ///< a (b + c) = a b + a c: a factor moves into or out of a sum or a product of matrices
    masked,        ///< where(visible, score, -1e30) = score + where(visible, 0, -1e30)
    reassociated,  ///< of matrices: (a b) c = a (b c), and concat(a, b) c = the sum of a and b, each times its rows of
                   ///< c; with `distributed` also (a + b) c = a c + b c
};

/// A set of laws. With more laws more expressions are equal, and their results may differ more.
///
///     Laws{Law::distributed}.holds_under(Laws::all())     true
class Laws {
public:
    constexpr Laws() = default;
    constexpr Laws(std::initializer_list<Law> laws) {
        for (const Law law : laws) bits_ |= bit(law);
    }
    static constexpr Laws all() { return {Law::distributed, Law::masked, Law::reassociated}; }
    /// The laws used to match kernel definitions. No definition is a chain of products, and without `reassociated` a
    /// product keeps its own form inside everything computed from it.
    static constexpr Laws of_definitions() { return {Law::distributed, Law::masked}; }

    constexpr bool has(Law law) const noexcept { return (bits_ & bit(law)) != 0; }
    constexpr bool empty() const noexcept { return bits_ == 0; }
    /// True if an equality that rests on these laws is valid where `others` are allowed.
    constexpr bool holds_under(Laws others) const noexcept { return (bits_ & ~others.bits_) == 0; }
    /// The number of sets, and a number below it for each of them.
    static constexpr std::size_t count = 8;
    constexpr std::size_t index() const noexcept { return bits_; }
    static constexpr Laws of_index(std::size_t index) {
        Laws laws;
        laws.bits_ = static_cast<unsigned>(index);
        return laws;
    }
    constexpr Laws operator|(Laws other) const noexcept {
        Laws both;
        both.bits_ = bits_ | other.bits_;
        return both;
    }
    friend constexpr bool operator==(Laws, Laws) = default;

private:
    static constexpr unsigned bit(Law law) { return 1U << static_cast<unsigned>(law); }
    unsigned bits_ = 0;
};
static_assert(Laws::all().index() == Laws::count - 1);

/// The name and the error bound of a law, for docs/laws.md.
struct LawInfo {
    Law law;
    std::string_view name, bound;
};
std::span<const LawInfo> law_table();

/// `exact`, `distributed`, `distributed masked`.
std::string to_string(Laws laws);

}  // namespace cairn::normal_form
