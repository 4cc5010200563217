#include "selection/search/natural.hpp"

#include <tommath.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <vector>

namespace cairn::search {
namespace {

void check(mp_err result) {
    if (result == MP_MEM) throw std::bad_alloc();
    if (result != MP_OKAY) throw std::logic_error(std::string("[search] LibTomMath: ") + mp_error_to_string(result));
}

}  // namespace

struct Natural::Digits {
    Digits() { check(mp_init_size(&number, 1)); }
    Digits(const Digits& other) { check(mp_init_copy(&number, &other.number)); }
    Digits& operator=(const Digits&) = delete;
    ~Digits() { mp_clear(&number); }

    mp_int number;
};

Natural::Natural() noexcept = default;
Natural::Natural(Natural&& other) noexcept = default;
Natural& Natural::operator=(Natural&& other) noexcept = default;
Natural::~Natural() = default;

Natural::Natural(std::uint64_t value) {
    if (value == 0) return;
    unsigned char bytes[8];
    for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<unsigned char>(value >> (56 - 8 * i));
    check(mp_from_ubin(&mutable_digits().number, bytes, sizeof(bytes)));
}

Natural::Natural(const Natural& other) : digits_(other.digits_ ? std::make_unique<Digits>(*other.digits_) : nullptr) {}

Natural& Natural::operator=(const Natural& other) {
    if (this != &other) *this = Natural(other);
    return *this;
}

Natural::Digits& Natural::mutable_digits() {
    if (!digits_) digits_ = std::make_unique<Digits>();
    return *digits_;
}

Natural& Natural::operator+=(const Natural& other) {
    if (!other.digits_) return *this;
    mp_int& sum = mutable_digits().number;
    check(mp_add(&sum, &other.digits_->number, &sum));
    return *this;
}

Natural& Natural::operator-=(const Natural& other) {
    if (*this < other) throw std::domain_error("[search] a natural number would be less than 0");
    if (!other.digits_) return *this;
    mp_int& difference = mutable_digits().number;
    check(mp_sub(&difference, &other.digits_->number, &difference));
    return *this;
}

Natural& Natural::operator*=(const Natural& other) {
    if (!digits_ || !other.digits_) return *this = Natural();
    check(mp_mul(&digits_->number, &other.digits_->number, &digits_->number));
    return *this;
}

std::pair<Natural, Natural> Natural::divmod(const Natural& divisor) const {
    if (divisor == 0) throw std::domain_error("[search] a natural number is divided by 0");
    if (!digits_) return {};
    std::pair<Natural, Natural> result;
    check(mp_div(&digits_->number, &divisor.digits_->number, &result.first.mutable_digits().number,
                 &result.second.mutable_digits().number));
    return result;
}

std::strong_ordering Natural::compare(const Natural& other) const noexcept {
    if (!digits_ || !other.digits_) return bits() <=> other.bits();
    return static_cast<int>(mp_cmp(&digits_->number, &other.digits_->number)) <=> 0;
}

std::string Natural::to_string() const {
    if (!digits_) return "0";
    // A binary digit takes 0.30103 of a decimal one.
    std::string text(static_cast<std::size_t>(bits()) * 30103 / 100000 + 3, '\0');
    check(mp_to_radix(&digits_->number, text.data(), text.size(), nullptr, 10));
    text.resize(std::strlen(text.c_str()));
    return text;
}

std::optional<Natural> Natural::parse(std::string_view digits) {
    if (digits.empty() || !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
        return std::nullopt;
    Natural number;
    check(mp_read_radix(&number.mutable_digits().number, std::string(digits).c_str(), 10));
    return number;
}

int Natural::bits() const noexcept { return digits_ ? mp_count_bits(&digits_->number) : 0; }

double Natural::log10() const noexcept {
    if (bits() == 0) return -std::numeric_limits<double>::infinity();
    // The highest digits, slightly more than a double holds, and the number of digits below.
    const mp_int& number = digits_->number;
    double highest = 0;
    int below = number.used;
    for (; below > 0 && below > number.used - 3; --below)
        highest = std::ldexp(highest, MP_DIGIT_BIT) + static_cast<double>(number.dp[below - 1]);
    return std::log10(highest) + below * MP_DIGIT_BIT * std::log10(2.0);
}

Natural Natural::uniform_below(const Natural& end, const std::function<std::uint64_t()>& random) {
    if (end == 0) throw std::domain_error("[search] no natural number is less than 0");
    const auto bits = static_cast<std::size_t>((end - 1).bits());
    std::vector<unsigned char> bytes((bits + 63) / 64 * 8);
    while (true) {
        for (std::size_t i = 0; i < bytes.size(); i += 8) {
            // The first value drawn is the most significant; only its required bits are used.
            const std::uint64_t drawn = i == 0 ? random() >> (63 - (bits - 1) % 64) : random();
            for (std::size_t k = 0; k < 8; ++k) bytes[i + k] = static_cast<unsigned char>(drawn >> (56 - 8 * k));
        }
        Natural number;
        if (!bytes.empty()) check(mp_from_ubin(&number.mutable_digits().number, bytes.data(), bytes.size()));
        if (number < end) return number;
    }
}

}  // namespace cairn::search
