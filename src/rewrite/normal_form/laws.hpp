#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

namespace cairn::normal_form {

/// What two spellings of a value rest on besides exact laws: those that keep every rounding within the bound of one
/// summation (any order of sums and factors, movement, what composites are defined as).
enum class Law : std::uint8_t {
    distributed,   ///< a (b + c) = a b + a c: a factor goes into a sum or a product of matrices, or comes out
    masked,        ///< where(visible, score, -1e30) = score + where(visible, 0, -1e30)
    reassociated,  ///< (a b) c = a (b c), and concat(a, b) c as the sum of a and b, each times its rows of c, of
                   ///< matrices; with `distributed`, (a + b) c = a c + b c of them too
};

/// A set of laws: the more, the more spellings are one value and the further apart their numbers may lie.
///
///     Laws{Law::distributed}.holds_under(Laws::all())     true
class Laws {
public:
    constexpr Laws() = default;
    constexpr Laws(std::initializer_list<Law> laws) {
        for (const Law law : laws) bits_ |= bit(law);
    }
    static constexpr Laws all() { return {Law::distributed, Law::masked, Law::reassociated}; }
    /// Those by which a kernel's definition is looked for: no definition is a chain of products, and a product keeps
    /// its own form within all that is computed from it.
    static constexpr Laws of_definitions() { return {Law::distributed, Law::masked}; }

    constexpr bool has(Law law) const noexcept { return (bits_ & bit(law)) != 0; }
    constexpr bool empty() const noexcept { return bits_ == 0; }
    /// True where what rests on these is right for one who allows `others`.
    constexpr bool holds_under(Laws others) const noexcept { return (bits_ & ~others.bits_) == 0; }
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

/// `exact`, `distributed`, `distributed masked`.
std::string to_string(Laws laws);

}  // namespace cairn::normal_form
