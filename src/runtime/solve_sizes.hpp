#pragma once

#include "graph/types/dim_solve.hpp"
#include "runtime/program_set.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Declares the solver for symbol values, from declared and given shapes of inputs and states.
namespace cairn::runtime {

/// A given size of a tensor: of one axis, or its number of elements.
struct GivenSize {
    static constexpr int elements = -1;

    std::string_view kind;             ///< "input" or "state"
    std::string_view name;             ///< of the tensor
    const TensorDesc* desc = nullptr;  ///< as declared in the graph
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
    /// For sizes over these symbols, in the order of their table. `max_given` is the maximum number of sizes added.
    SizeSolver(std::vector<Symbols::Symbol> symbols, std::size_t max_given);

    /// Forgets all values and sizes.
    void begin();
    void set_known(std::size_t symbol, std::int64_t value);
    bool is_known(std::size_t symbol) const noexcept { return known_[symbol] != 0; }
    std::int64_t value(std::size_t symbol) const noexcept { return values_[symbol]; }
    /// The values of all symbols; 0 for unknown ones.
    std::span<const std::int64_t> values() const noexcept { return values_; }

    void add(const GivenSize& given) { given_.push_back(given); }
    /// Solves by substitution: takes one symbol after another that is the only unknown of some sizes, and solves these
    /// sizes for it together. A symbol with several solutions stays unknown. Returns the fault if there is no solution,
    /// naming the tensor, the axis, its size and the nearest sizes that fit; else empty.
    std::string solve();
    /// Checks the sizes of axes that depend on known symbols alone. Returns the first fault; empty if there is none.
    std::string check() const;
    /// Why a symbol stays unknown: `input "x" has 4 on axis 0, which is floordiv(h, 2) for h = 8 and for 9`. Empty if
    /// no size has it as its only unknown symbol.
    std::string ambiguity(std::size_t symbol);

private:
    bool depends_on(const GivenSize& given, std::size_t symbol) const noexcept;
    /// The number of unknown symbols in a size, two at most, and the last of them.
    int count_unknown(const GivenSize& given, std::size_t& symbol) const noexcept;
    /// Gathers the equations whose only unknown is this symbol.
    void gather(std::size_t symbol);
    detail::Unknown unknown(std::size_t symbol) const noexcept;
    /// The fault of the gathered equations, which have no solution.
    std::string fault(std::size_t symbol) const;
    /// ` at n = 3`: the values of a size's symbols other than this one.
    std::string others_text(const GivenSize& given, std::size_t symbol) const;

    std::vector<Symbols::Symbol> symbols_;
    std::vector<std::int64_t> values_;
    std::vector<char> known_;
    std::vector<GivenSize> given_;
    std::vector<GivenSize> gathered_;  // the sizes of equations_
    std::vector<detail::SizeEquation> equations_;
};

}  // namespace cairn::runtime
