#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// Arbitrary-precision natural numbers: a model has 10^200 paths and more.
namespace cairn::search {

/// A natural number with value semantics. Throws std::bad_alloc if memory is exhausted.
class Natural {
public:
    Natural() noexcept;
    Natural(std::uint64_t value);
    Natural(const Natural& other);
    Natural(Natural&& other) noexcept;
    Natural& operator=(const Natural& other);
    Natural& operator=(Natural&& other) noexcept;
    ~Natural();

    Natural& operator+=(const Natural& other);
    /// Throws std::domain_error if `other` is greater.
    Natural& operator-=(const Natural& other);
    Natural& operator*=(const Natural& other);
    friend Natural operator+(Natural a, const Natural& b) { return std::move(a += b); }
    friend Natural operator-(Natural a, const Natural& b) { return std::move(a -= b); }
    friend Natural operator*(Natural a, const Natural& b) { return std::move(a *= b); }
    /// Quotient and remainder. Throws std::domain_error if the divisor is 0.
    std::pair<Natural, Natural> divmod(const Natural& divisor) const;

    friend std::strong_ordering operator<=>(const Natural& a, const Natural& b) noexcept { return a.compare(b); }
    friend bool operator==(const Natural& a, const Natural& b) noexcept { return a.compare(b) == 0; }

    /// Decimal digits: "0", "18446744073709551616".
    std::string to_string() const;
    /// Parses decimal digits; empty for any other text.
    static std::optional<Natural> parse(std::string_view digits);
    /// To about 15 digits; -infinity for 0.
    double log10() const noexcept;
    /// Number of binary digits; 0 has none.
    int bits() const noexcept;

    /// A uniformly distributed number less than `end`, if all 64 bits of the values of `random` are uniform: rejection
    /// sampling. The same draws give the same number on every machine. Throws std::domain_error if `end` is 0.
    static Natural uniform_below(const Natural& end, const std::function<std::uint64_t()>& random);

private:
    struct Digits;
    std::strong_ordering compare(const Natural& other) const noexcept;
    Digits& mutable_digits();

    std::unique_ptr<Digits> digits_;  // null: 0
};

}  // namespace cairn::search
