#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// Whole numbers from 0 on, as large as it takes: a model has 10^200 paths and more.
namespace cairn::search {

/// A value like any other. Where memory ends, std::bad_alloc.
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
    /// `other` must not be greater: else std::domain_error.
    Natural& operator-=(const Natural& other);
    Natural& operator*=(const Natural& other);
    friend Natural operator+(Natural a, const Natural& b) { return std::move(a += b); }
    friend Natural operator-(Natural a, const Natural& b) { return std::move(a -= b); }
    friend Natural operator*(Natural a, const Natural& b) { return std::move(a *= b); }
    /// Quotient and remainder. The divisor must not be 0: else std::domain_error.
    std::pair<Natural, Natural> divided_by(const Natural& divisor) const;

    friend std::strong_ordering operator<=>(const Natural& a, const Natural& b) noexcept { return a.compare(b); }
    friend bool operator==(const Natural& a, const Natural& b) noexcept { return a.compare(b) == 0; }

    /// In decimal digits: "0", "18446744073709551616".
    std::string to_string() const;
    /// The number that is written there in decimal digits and nothing else.
    static std::optional<Natural> read(std::string_view digits);
    /// To about 15 digits; of 0 it is -infinity.
    double log10() const noexcept;
    /// How many binary digits it has; 0 has none.
    int bits() const noexcept;

    /// A number less than `end`, each as likely as any other where all 64 bits of what `random` gives are so: drawn
    /// again until it is less. The same draws give the same number on every machine. `end` must not be 0: else
    /// std::domain_error.
    static Natural uniform_below(const Natural& end, const std::function<std::uint64_t()>& random);

private:
    struct Digits;
    std::strong_ordering compare(const Natural& other) const noexcept;
    Digits& own();

    std::unique_ptr<Digits> digits_;  // none: 0
};

}  // namespace cairn::search
