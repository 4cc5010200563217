#pragma once

#include "graph/types/dim_solve.hpp"
#include "runtime/program_set.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Solves for the values of symbols: the declared shapes of inputs and states against the shapes that were given.
namespace cairn::runtime {

/// A size of a tensor that was given: of one axis, or its number of elements.
struct GivenSize {
    static constexpr int elements = -1;

    std::string_view kind;             ///< "input" or "state"
    std::string_view name;             ///< of it
    const TensorDesc* desc = nullptr;  ///< as the graph has it
    int axis = elements;
    std::int64_t size = 0;

    detail::SizeEquation equation() const noexcept;
};
inline GivenSize given_size(const program::Port& input, int axis, std::int64_t size) noexcept {
    return {"input", input.name, &input.desc, axis, size};
}

/// Solves given sizes for symbols. Only the constructor and error messages allocate memory.
///
///     input f32[1,3,32*h,32*w], given 64 on axis 2 and 96 on axis 3   ->   h = 2, w = 3
class SizeSolver {
public:
    /// For the inputs of a graph.
    explicit SizeSolver(const ProgramSet& set);
    /// For sizes over these symbols, in the order of their table. `max_given` bounds the sizes that are added.
    SizeSolver(std::vector<Symbols::Symbol> symbols, std::size_t max_given);

    /// Forgets all values and sizes.
    void begin();
    void know(std::size_t symbol, std::int64_t value);
    bool knows(std::size_t symbol) const noexcept { return known_[symbol] != 0; }
    std::int64_t value(std::size_t symbol) const noexcept { return values_[symbol]; }
    /// Of all symbols; 0 of those that are not known.
    std::span<const std::int64_t> values() const noexcept { return values_; }

    void add(const GivenSize& given) { given_.push_back(given); }
    /// Takes one symbol after the other of which sizes depend on no other unknown one, and solves these sizes for it
    /// together. What several values satisfy stays unknown. Where no value satisfies them: what is wrong, naming the
    /// tensor, the axis, its size and the nearest sizes that fit. Empty: nothing is.
    std::string solve();
    /// What is wrong where a size that depends on known symbols alone is another; empty: nothing is.
    std::string check() const;
    /// Why a symbol stays unknown: `input "x" has 4 on axis 0, which is floordiv(h, 2) for h = 8 and for 9`. Empty
    /// where no size has it as its only unknown symbol.
    std::string ambiguity(std::size_t symbol);

private:
    bool depends_on(const GivenSize& given, std::size_t symbol) const noexcept;
    /// The number of unknown symbols in a size, two at most, and the last of them.
    int count_unknown(const GivenSize& given, std::size_t& symbol) const noexcept;
    /// Gathers the equations that have this unknown symbol and no other.
    void gather(std::size_t symbol);
    detail::Unknown unknown(std::size_t symbol) const noexcept;
    /// What is wrong with the gathered equations, which have no solution.
    std::string fault(std::size_t symbol) const;
    /// ` at n = 3` of the symbols in a size beside one.
    std::string others_text(const GivenSize& given, std::size_t symbol) const;

    std::vector<Symbols::Symbol> symbols_;
    std::vector<std::int64_t> values_;
    std::vector<char> known_;
    std::vector<GivenSize> given_;
    std::vector<GivenSize> gathered_;  // those that equations_ stand for
    std::vector<detail::SizeEquation> equations_;
};

}  // namespace cairn::runtime
