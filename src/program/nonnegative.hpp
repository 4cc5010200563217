#pragma once

#include "program/program.hpp"

#include <cstddef>
#include <map>
#include <vector>

namespace cairn::program {

/// True when `size` >= 0 is proved for all symbol values at which no polynomial of limits_of(program) is above 0. In
/// turn: the algebra of sizes (provably_le), residue classes, branch and bound.
bool is_nonnegative(const Dim& size, const Program& program);

/// True when `size` >= 0 is proved for each residue class of its symbols modulo the divisors that quotients and
/// remainders take of them: within a class these are polynomials. False where a divisor is no constant or there are too
/// many classes.
///
///     floordiv(N, 2) - 2*floordiv(N - 1, 4)   ->   true: 0 at N = 4n and above, 0, 1 and 1 in the other classes
bool is_nonnegative_by_residues(const Dim& size);

/// Proves sizes of one program, each once. A size that a size proved before divides is proved by the quotient.
class NonnegativeProver {
public:
    /// The program must outlive it.
    explicit NonnegativeProver(const Program& program) : program_(program) {}

    /// By the algebra of sizes and by factors: what takes little time.
    bool proved_by_algebra(const Dim& size);
    /// By all means.
    bool proved(const Dim& size);
    Symbols& symbols() const noexcept { return *program_.symbols; }

private:
    struct Attempt {
        bool is_proved = false;
        std::size_t factors = 0;  ///< how many there were then
    };
    bool has_proved_factors(const Dim& size);

    const Program& program_;
    std::map<const detail::DimNode*, Attempt> by_algebra_;
    std::map<const detail::DimNode*, bool> by_all_;
    std::vector<Dim> factors_;  // proved, and not constant
    int divisions_ = 0;         // by factors so far: their number is limited
};

}  // namespace cairn::program
