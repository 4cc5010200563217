#pragma once

#include "program/program.hpp"

#include <cstddef>
#include <map>
#include <vector>

namespace cairn::program {

/// True if `size` >= 0 is proved for all symbol values with limit <= 0 for each polynomial of limits_of(program). Tries
/// the algebra of sizes (provably_le), residue classes, then branch and bound.
bool is_nonnegative(const Dim& size, const Program& program);

/// True if `size` >= 0 is proved in each residue class of its symbols modulo the divisors of its quotients and
/// remainders: within a class these are polynomials. False if a divisor is not constant or there are too many classes.
///
///     floordiv(N, 2) - 2*floordiv(N - 1, 4)   ->   true: 2, 0, 1, 1 for N = 4n, 4n + 1, 4n + 2, 4n + 3
bool is_nonnegative_by_residues(const Dim& size);

/// Memoizing prover for sizes of one program. A size with a proved size as a factor is proved by its quotient.
class NonnegativeProver {
public:
    /// The program must outlive it.
    explicit NonnegativeProver(const Program& program) : program_(program) {}

    /// Cheap proof: by the algebra of sizes and by proved factors.
    bool proved_by_algebra(const Dim& size);
    /// Full proof: the cheap one, then is_nonnegative().
    bool proved(const Dim& size);
    Symbols& symbols() const noexcept { return *program_.symbols; }

private:
    struct Attempt {
        bool is_proved = false;
        std::size_t factors = 0;  ///< number of proved factors at that attempt
    };
    bool has_proved_factors(const Dim& size);

    const Program& program_;
    std::map<const detail::DimNode*, Attempt> by_algebra_;
    std::map<const detail::DimNode*, bool> by_all_;
    std::vector<Dim> factors_;  // proved sizes that are not constant
    int divisions_ = 0;         // divisions by factors so far, which are limited
};

}  // namespace cairn::program
