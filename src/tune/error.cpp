#include "tune/error.hpp"

#include "cairn/error.hpp"
#include "check/distance.hpp"

#include <limits>

namespace cairn::inline v0::tune {
namespace {

// The reference takes about a tenth of a second for as many.
constexpr double most_steps = 1e8;

}  // namespace

std::optional<Problem> comparable(const Kernel& kernel, const Problem& problem, std::vector<std::int64_t> sizes,
                                  std::span<const Definition> definitions) {
    if (!check::is_comparable(kernel, problem)) return std::nullopt;
    const std::shared_ptr<Symbols> table = symbols_of(problem);
    const std::vector<Symbols::Symbol> symbols = table == nullptr ? std::vector<Symbols::Symbol>() : table->list();
    sizes.resize(symbols.size());
    try {
        do {
            Problem sized = at_sizes(problem, sizes);
            if (check::steps_of(sized, definitions) <= most_steps) return sized;
        } while (check::halve(sizes, symbols));
    } catch (const InternalError&) { throw; } catch (const Error&) {
    }  // its definition refuses it
    return std::nullopt;
}

ErrorFigures measure_error(const Kernel& kernel, const Problem& compared, double promised,
                           std::span<const Definition> definitions, device::ThreadPool& pool) {
    ErrorFigures figures{0, 0, promised, "uniform", to_string(compared)};
    try {
        const check::Distance distance = check::distance(kernel, compared, definitions, pool);
        figures.relative = distance.relative;
        figures.largest = distance.largest;
    } catch (...) { figures.relative = figures.largest = std::numeric_limits<double>::infinity(); }
    return figures;
}

}  // namespace cairn::inline v0::tune
