#include "accuracy/kernel_check/error_measurement.hpp"

#include "accuracy/kernel_check/kernel_error.hpp"
#include "cairn/error.hpp"

#include <limits>
#include <new>

namespace cairn::kernel_check {
namespace {

// Largest operation count of the reference, which takes about a tenth of a second for it.
constexpr double max_operations = 1e8;

}  // namespace

std::optional<Problem> comparison_problem(const Problem& problem, std::vector<std::int64_t> sizes,
                                          std::span<const Definition> definitions) {
    if (!is_comparable(problem)) return std::nullopt;
    const std::shared_ptr<Symbols> table = symbols_of(problem);
    const std::vector<Symbols::Symbol> symbols = table == nullptr ? std::vector<Symbols::Symbol>() : table->list();
    sizes.resize(symbols.size());
    try {
        do {
            Problem sized = at_sizes(problem, sizes);
            if (kernel_check::reference_operation_count(sized, definitions) <= max_operations) return sized;
        } while (kernel_check::halve(sizes, symbols));
    } catch (const InternalError&) { throw; } catch (const Error&) {
    }  // the definition rejects the problem
    return std::nullopt;
}

ErrorMeasurement measure_error(const Kernel& kernel, const Problem& compared, double promised,
                               std::span<const Definition> definitions, device::Backend& backend) {
    ErrorMeasurement figures{0, 0, promised, "uniform", to_string(compared)};
    try {
        const kernel_check::ErrorNorms error_norms = kernel_check::error_norms(kernel, compared, definitions, backend);
        figures.relative = error_norms.relative;
        figures.largest = error_norms.largest;
        return figures;
    } catch (const std::bad_alloc&) {
        throw Error(ErrorKind::memory, "check_kernel", "out of memory for a run of " + kernel.id);
    } catch (const Error& error) {
        if (error.kind() == ErrorKind::memory) throw;
    } catch (...) {}
    figures.relative = figures.largest = std::numeric_limits<double>::infinity();
    return figures;
}

}  // namespace cairn::kernel_check
