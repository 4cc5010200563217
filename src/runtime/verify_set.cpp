#include "runtime/verify_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace cairn::runtime {
namespace {

using program::Buffer;
using program::BufferKind;
using program::Program;

// Maximum number of combinations of sizes checked for coverage.
constexpr std::size_t max_cells = 1 << 16;

class SetVerifier {
public:
    explicit SetVerifier(const ProgramSet& set) : set_(set), symbols_(set.symbols->list()) {}

    std::string check() {
        std::set<std::string_view> names;
        for (const program::Port& port : set_.inputs)
            if (!names.insert(port.name).second) fault("two inputs are called {}", port.name);
        for (const BucketProgram& bucket : set_.buckets) {
            check_ranges(bucket);
            if (fault_.empty()) check_inputs(bucket);
            check_same_ports(bucket.program, false);
            check_planned(bucket.program);
            check_shared(bucket.program);
            if (fault_.empty()) check_exact(bucket);
        }
        if (fault_.empty()) check_covered();
        return fault_;
    }

private:
    template <typename... A>
    void fault(fmt::format_string<A...> text, A&&... values) {
        if (fault_.empty()) fault_ = fmt::format(text, std::forward<A>(values)...);
    }

    /// The exact program must be able to replace the inexact one.
    void check_exact(const BucketProgram& bucket) {
        if (bucket.exact.has_value() == bucket.inexact.empty())
            return fault("a bucket has an exact program besides its own, or values that are inexact, but not both");
        if (!bucket.exact) {
            if (stores_narrow_states(bucket.program))
                fault("a bucket whose states are stored narrower has no exact program");
            return;
        }
        const Program &own = bucket.program, &exact = *bucket.exact;
        const auto names = [](const Program& program) {
            std::vector<std::string> all;
            for (const Symbols::Symbol& symbol : program.symbols->list()) all.push_back(symbol.name);
            return all;
        };
        if (names(exact) != names(own)) return fault("two programs of a bucket have different symbols");
        BucketProgram exact_bucket;
        exact_bucket.ranges = bucket.ranges;
        exact_bucket.program = exact;
        check_ranges(exact_bucket);
        if (fault_.empty()) check_inputs(exact_bucket);
        check_same_ports(exact, true);
        check_planned(exact);
        check_shared(exact);
        for (const InexactValue& value : bucket.inexact) {
            const std::size_t ports = value.is_state ? own.states.size() : own.outputs.size();
            if (value.port < 0 || static_cast<std::size_t>(value.port) >= ports || !(value.allowed > 0))
                fault("a value of an inexact program is not one of its outputs or states, or has no tolerance");
        }
    }

    /// The range of one symbol that a bucket covers.
    Range range_of(const BucketProgram& bucket, const Symbols::Symbol& symbol) const {
        Range range{symbol.name, symbol.low, symbol.high};
        for (const Range& cut : bucket.ranges)
            if (cut.symbol == symbol.name)
                range.low = std::max(range.low, cut.low), range.high = std::min(range.high, cut.high);
        return range;
    }

    void check_ranges(const BucketProgram& bucket) {
        const auto known = [&](const std::string& name) {
            return std::any_of(symbols_.begin(), symbols_.end(), [&](const auto& s) { return s.name == name; });
        };
        for (const Range& range : bucket.ranges)
            if (!known(range.symbol)) fault("a bucket is for a range of the unknown symbol {}", range.symbol);
        for (const Symbols::Symbol& own : bucket.program.symbols->list())
            if (!known(own.name)) fault("a program has the symbol {}, which is not the graph's", own.name);
        for (const Symbols::Symbol& symbol : symbols_) {
            const Range range = range_of(bucket, symbol);
            if (range.low > range.high) fault("a bucket covers no value of {}", symbol.name);
            const std::optional<Dim> own = bucket.program.symbols->find(symbol.name);
            const bool is_covered =
                own ? own->lower_bound() <= range.low && range.high <= own->upper_bound() : range.low == range.high;
            if (!is_covered)
                fault("a bucket covers {} in {}..{}, its program does not", symbol.name, range.low, range.high);
        }
    }

    /// A program's inputs have the set's dtypes and shapes, with the bucket's fixed sizes substituted.
    void check_inputs(const BucketProgram& bucket) {
        Symbols& own = *bucket.program.symbols;
        std::vector<Dim> replacements;
        for (const Symbols::Symbol& symbol : symbols_) {
            const std::optional<Dim> found = own.find(symbol.name);
            replacements.push_back(found ? *found : Dim(range_of(bucket, symbol).low));
        }
        for (const program::Port& port : bucket.program.inputs) {
            const auto given = std::find_if(set_.inputs.begin(), set_.inputs.end(),
                                            [&](const program::Port& other) { return other.name == port.name; });
            if (given == set_.inputs.end()) return fault("the graph has no input {}", port.name);
            Shape shape;
            for (const Dim& size : given->desc.shape) shape.push_back(own.substitute(size, replacements));
            if (given->desc.dtype != port.desc.dtype || shape != port.desc.shape)
                fault("input {} is {} and in a program {}", port.name, cairn::to_string(given->desc),
                      cairn::to_string(port.desc));
        }
    }

    static DType stored_dtype(const Program& program, const program::StatePort& state) {
        return program.buffers[static_cast<std::size_t>(state.buffer)].desc.dtype;
    }

    /// Outputs and states are identified by their index in the first program. All programs store states in one dtype,
    /// except for exact programs, which use the declared dtype.
    void check_same_ports(const Program& program, bool as_shown) {
        const Program& first = set_.buckets[0].program;
        bool same = program.outputs.size() == first.outputs.size() && program.states.size() == first.states.size();
        for (std::size_t o = 0; same && o < first.outputs.size(); ++o) {
            const program::Port &a = program.outputs[o], &b = first.outputs[o];
            same = a.name == b.name && a.desc.dtype == b.desc.dtype && a.desc.shape.size() == b.desc.shape.size();
        }
        for (std::size_t s = 0; same && s < first.states.size(); ++s) {
            const program::StatePort &a = program.states[s], &b = first.states[s];
            same = a.name == b.name && a.axis == b.axis && a.before.symbol() == b.before.symbol() &&
                   a.live.dtype == b.live.dtype &&
                   stored_dtype(program, a) == (as_shown ? b.live.dtype : stored_dtype(first, b));
        }
        if (!same) fault("two programs differ in outputs or states");
    }

    void check_planned(const Program& program) {
        std::vector<bool> used(program.buffers.size(), false);
        for (const program::Instruction& instruction : program.run) {
            for (const auto* views : {&instruction.inputs, &instruction.outputs})
                for (const program::View& view : *views) used[static_cast<std::size_t>(view.buffer)] = true;
            if (instruction.workspace >= 0) used[static_cast<std::size_t>(instruction.workspace)] = true;
        }
        for (std::size_t b = 0; b < used.size(); ++b) {
            const BufferKind kind = program.buffers[b].kind;
            const bool in_arena =
                kind == BufferKind::transient || kind == BufferKind::output || kind == BufferKind::workspace;
            if (used[b] && in_arena && program.buffers[b].storage < 0) fault("buffer {} has no storage", b);
        }
    }

    /// Weights, states and bound values of equal name are shared by all programs and must agree.
    void check_shared(const Program& program) {
        for (const Buffer& buffer : program.buffers) {
            const bool shared = buffer.kind == BufferKind::weight || buffer.kind == BufferKind::state ||
                                buffer.kind == BufferKind::bound;
            if (!shared) continue;
            const DType stored = buffer.kind == BufferKind::state ? buffer.desc.dtype : DType::f32;
            const auto [it, fresh] = shared_.try_emplace({buffer.kind, buffer.name, stored}, &buffer);
            const bool same = cairn::to_string(it->second->desc) == cairn::to_string(buffer.desc) &&
                              it->second->bytes == buffer.bytes && it->second->data == buffer.data;
            if (!same) fault("{} {} differs between programs", program::to_string(buffer.kind), buffer.name);
        }
        // The first instruction that computes a bound value does so for all programs, together with its other results.
        for (const program::Instruction& instruction : program.bind) {
            std::string made;
            for (const program::View& view : instruction.outputs)
                made += program.buffers[static_cast<std::size_t>(view.buffer)].name + ' ';
            for (const program::View& view : instruction.outputs) {
                const std::string& name = program.buffers[static_cast<std::size_t>(view.buffer)].name;
                if (producers_.try_emplace(name, made).first->second != made)
                    fault("bound value {} is computed in two different ways", name);
            }
        }
    }

    /// Every combination of sizes has a bucket: the ends of all ranges split each symbol, and one value represents each
    /// piece.
    void check_covered() {
        std::vector<std::vector<std::int64_t>> starts;
        std::size_t cells = 1;
        for (const Symbols::Symbol& symbol : symbols_) {
            std::set<std::int64_t> cuts{symbol.low};
            for (const BucketProgram& bucket : set_.buckets) {
                const Range range = range_of(bucket, symbol);
                cuts.insert(range.low);
                if (range.high < symbol.high) cuts.insert(range.high + 1);
            }
            starts.emplace_back(cuts.begin(), cuts.end());
            cells *= cuts.size();
            if (cells > max_cells) return fault("there are more than {} combinations of sizes", max_cells);
        }
        std::vector<std::size_t> cell(symbols_.size(), 0);
        for (std::size_t c = 0; c < cells; ++c) {
            const bool covered =
                std::any_of(set_.buckets.begin(), set_.buckets.end(), [&](const BucketProgram& bucket) {
                    for (std::size_t s = 0; s < cell.size(); ++s) {
                        const Range range = range_of(bucket, symbols_[s]);
                        if (starts[s][cell[s]] < range.low || starts[s][cell[s]] > range.high) return false;
                    }
                    return true;
                });
            if (!covered) return fault("some sizes have no bucket");
            for (std::size_t s = 0; s < cell.size() && ++cell[s] == starts[s].size(); ++s) cell[s] = 0;
        }
    }

    const ProgramSet& set_;
    std::vector<Symbols::Symbol> symbols_;
    std::map<std::tuple<BufferKind, std::string, DType>, const Buffer*> shared_;
    std::map<std::string, std::string> producers_;  // per bound value: all results of its instruction
    std::string fault_;
};

}  // namespace

std::string verify_set(const ProgramSet& set) { return SetVerifier(set).check(); }

}  // namespace cairn::runtime
