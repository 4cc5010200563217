#include "driver/validate_kernels.hpp"
#include "accuracy/metric/float_limits.hpp"

#include "accuracy/kernel_check/tolerance.hpp"
#include "fusion/pattern.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/problem_graph.hpp"
#include "graph/types/isa_levels.hpp"
#include "graph/types/knobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

namespace cairn::driver {
namespace {

template <typename... A>
[[noreturn]] void refuse(fmt::format_string<A...> text, A&&... values) {
    throw Error(ErrorKind::argument, "context", fmt::format(text, std::forward<A>(values)...));
}

/// True if a name may be used in text forms.
bool is_valid_name(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return c > ' ' && c < 0x7f && std::string_view("{}()[]|,\"").find(c) == std::string_view::npos;
    });
}

/// The number of operands and results of a definition's problems; -1: any number.
struct Arity {
    int inputs = -1, outputs = -1;
};

class Checker {
public:
    Checker(const KernelSet& extra, const KernelSet& known) : extra_(extra), known_(known) {}

    void check() {
        for (const KernelSet* set : {&known_, &extra_})
            for (const Definition& definition : set->definitions)
                if (!is_valid_name(definition.name) || is_builtin(definition.name) || ir::find_op(definition.name) ||
                    !definitions_.insert(definition.name).second)
                    refuse("the name \"{}\" of a definition is ill-formed or taken", definition.name);
        for (const KernelSet* set : {&known_, &extra_})
            for (const Layout& layout : set->layouts) add_layout(layout);
        for (const Layout& layout : extra_.layouts) check(layout);
        for (const Definition& definition : extra_.definitions) check(definition);
        for (const KernelSet* set : {&known_, &extra_})
            for (const Kernel& kernel : set->kernels)
                if (!ids_.insert(kernel.id).second) refuse("two kernels have the id {}", kernel.id);
        for (const Kernel& kernel : extra_.kernels) check(kernel);
        for (const DeviceRates& device : extra_.devices) check(device);
    }

private:
    static bool is_fused_body(std::string_view name) { return name == "elementwise" || name == "fused"; }
    static bool is_builtin(std::string_view name) { return is_fused_body(name) || name == "pack"; }

    void add_layout(const Layout& layout) {
        if (!is_valid_name(layout.name) || !layouts_.emplace(layout.name, layout.transposed).second)
            refuse("the name \"{}\" of a layout is ill-formed or taken", layout.name);
        if (layout.bytes == nullptr) refuse("layout {} lacks bytes", layout.name);
        if (layout.is_computed) computed_.insert(layout.name);
    }

    /// The name of a transposed form must be unique to this layout, or be a layout whose transposed form is this one.
    void check(const Layout& layout) const {
        if (layout.has_parameter && !layout.is_computed)
            refuse("layout {} has a parameter but is not computed", layout.name);
        if (layout_parameter(layout.name) > 0) refuse("the name of layout {} ends in a parameter", layout.name);
        if (layout.transposed.empty()) return;
        if (layout.is_computed) refuse("layout {} is computed and has a transposed form", layout.name);
        const auto row = layouts_.find(layout.transposed);
        const bool right = row == layouts_.end() ? is_valid_name(layout.transposed)
                                                 : row->second == layout.name && layout.transposed != layout.name;
        if (!right) refuse("layout {} cannot have the transposed form \"{}\"", layout.name, layout.transposed);
    }

    bool is_packed_layout(const std::string& name) const {
        return !computed_.contains(name) && std::any_of(layouts_.begin(), layouts_.end(), [&](const auto& row) {
            return row.first == name || row.second == name;
        });
    }

    static Problem parsed(std::string_view what, const std::string& name, const std::string& text) {
        try {
            const auto symbols = Symbols::create();
            return parse_problem(text, *symbols);
        } catch (const Error& error) { refuse("{} of {} does not parse: {}", what, name, error.what()); }
    }

    /// The problem texts that a pattern expands to.
    static std::vector<std::string> problems_of(const std::string& name, const std::string& pattern) {
        try {
            return fusion::problems_of(pattern);
        } catch (const std::exception&) { refuse("a pattern of {} does not parse: {}", name, pattern); }
    }

    static void check(const Definition& definition) {
        if (definition.build == nullptr) refuse("definition {} lacks build", definition.name);
        for (const std::string& op : definition.required_ops)
            if (!ir::find_op(op)) refuse("definition {} requires the unknown op {}", definition.name, op);
        for (const std::string& pattern : definition.patterns)
            for (const std::string& text : problems_of(definition.name, pattern))
                if (const Problem problem = parsed("a pattern", definition.name, text);
                    problem.definition != definition.name)
                    refuse("a pattern of {} is for {}", definition.name, problem.definition);
    }

    void check(const Kernel& kernel) const {
        if (!is_valid_name(kernel.id))
            refuse("the kernel id \"{}\" is empty or holds what text forms cannot", kernel.id);
        const bool has_code = kernel.code != nullptr, enqueues = kernel.enqueue != nullptr;
        const int forms = int{kernel.run != nullptr} + int{has_code} + int{enqueues};
        if (forms == 0 || kernel.accepts == nullptr)
            refuse("kernel {} lacks accepts, or run, code and enqueue", kernel.id);
        if (forms > 1) refuse("kernel {} has more than one of run, code and enqueue", kernel.id);
        if (has_code && kernel.device == Device::cpu)
            refuse("kernel {} has code, which the CPU does not run", kernel.id);
        if (enqueues && kernel.device == Device::cpu)
            refuse("kernel {} has enqueue, but the CPU has no stream", kernel.id);
        if (const FeatureSet missing = missing_prerequisites(kernel.needs); !missing.empty())
            refuse("kernel {} needs {} without {}, which that requires", kernel.id, to_string(kernel.needs),
                   to_string(missing));
        const bool known =
            definitions_.contains(kernel.definition) || ir::find_op(kernel.definition) || is_builtin(kernel.definition);
        if (!known) refuse("kernel {} is for the unknown definition {}", kernel.id, kernel.definition);
        if (!kernel.knobs.empty()) check_knobs(kernel);
        for (const std::string& sample : kernel.samples) {
            const Problem problem = parsed("a sample", kernel.id, sample);
            if (problem.definition != kernel.definition)
                refuse("a sample of {} is for {}, the kernel for {}", kernel.id, problem.definition, kernel.definition);
            if (kernel.error == nullptr) continue;
            for (const Kernel& setting : all_settings(kernel)) check_error(setting, problem);
        }
        if (kernel.output_layout && kernel.definition == "pack")
            refuse("kernel {} packs and names the layout that it writes", kernel.id);
        if (!kernel.in_place.empty() || !kernel.packed_inputs.empty() || !kernel.widened_inputs.empty() ||
            !kernel.layout_inputs.empty())
            check_operands(kernel);
    }

    static void check_knobs(const Kernel& kernel) {
        std::set<std::string> names;
        for (const auto& [name, values] : kernel.knobs) {
            if (!is_valid_name(name) || name.find('=') != std::string::npos || !names.insert(name).second)
                refuse("the name \"{}\" of a knob of {} is ill-formed or taken", name, kernel.id);
            if (values.empty() || std::set<std::int64_t>(values.begin(), values.end()).size() != values.size())
                refuse("the knob {} of {} needs values that are all different", name, kernel.id);
        }
        if (count_settings(kernel) > max_settings)
            refuse("the knobs of {} have more than {} settings", kernel.id, max_settings);
    }

    void check(const DeviceRates& rates) const {
        const std::string name = to_string(rates.device);
        if (rates.device == Device::cpu) refuse("the rates of the CPU are measured and cannot be given");
        int rows = 0;
        for (const KernelSet* set : {&known_, &extra_})
            rows += static_cast<int>(std::count_if(set->devices.begin(), set->devices.end(),
                                                   [&](const auto& other) { return other.device == rates.device; }));
        if (rows > 1) refuse("device {} has rates twice", name);
        for (const double rate : {rates.flops, rates.bandwidth, rates.link_bandwidth})
            if (!(rate > 0 && std::isfinite(rate))) refuse("a rate of device {} is {}: it must be above 0", name, rate);
        const auto check_optional = [&](double rate) {
            if (!(rate >= 0 && std::isfinite(rate)))
                refuse("a rate of device {} is {}: it must not be below 0", name, rate);
        };
        for (const double rate : rates.arithmetic_flops) check_optional(rate);
        check_optional(rates.cache_bandwidth);
        for (const double seconds : {rates.launch_seconds, rates.link_seconds, rates.step_seconds})
            if (!(seconds >= 0 && std::isfinite(seconds)))
                refuse("a time of device {} is {}: it must not be below 0", name, seconds);
    }

    static void check_error(const Kernel& kernel, const Problem& sample) {
        double error = 0;
        try {
            error = kernel.error(sample);
        } catch (const std::exception& fault) { refuse("the error of {} fails: {}", kernel.id, fault.what()); }
        if (!accuracy::is_valid_error_bound(error))
            refuse("the error of {} is {}: it must be finite and not below 0", kernel.id, error);
    }

    void check_operands(const Kernel& kernel) const {
        const Arity arity = arity_of(kernel.definition, !kernel.in_place.empty());
        const auto exists = [](int operand, int count) { return operand >= 0 && (count < 0 || operand < count); };
        for (const InPlace& pair : kernel.in_place) {
            if (!exists(pair.input, arity.inputs))
                refuse("kernel {} works in place of input {}, which {} does not have", kernel.id, pair.input,
                       kernel.definition);
            if (!exists(pair.output, arity.outputs))
                refuse("kernel {} works in place with output {}, which {} does not have", kernel.id, pair.output,
                       kernel.definition);
        }
        for (const int input : kernel.widened_inputs)
            if (!exists(input, arity.inputs))
                refuse("kernel {} widens input {}, which {} does not have", kernel.id, input, kernel.definition);
        std::set<int> packed;
        std::set<std::pair<int, std::string>> alternatives;
        int previous = -1;
        for (const LayoutInput& wanted : kernel.packed_inputs) {
            if (!exists(wanted.input, arity.inputs))
                refuse("kernel {} wants input {} packed, which {} does not have", kernel.id, wanted.input,
                       kernel.definition);
            const bool is_known = !packed.insert(wanted.input).second;
            if (const int before = std::exchange(previous, wanted.input); is_known && before != wanted.input)
                refuse("kernel {} names layouts of input {} before and after those of another", kernel.id,
                       wanted.input);
            if (!alternatives.emplace(wanted.input, wanted.layout).second)
                refuse("kernel {} names the layout \"{}\" for input {} twice", kernel.id, wanted.layout, wanted.input);
            if (wanted.layout.empty() || !is_packed_layout(wanted.layout))
                refuse("kernel {} wants the unknown layout \"{}\"", kernel.id, wanted.layout);
        }
        for (const LayoutInput& read : kernel.layout_inputs) {
            if (!exists(read.input, arity.inputs))
                refuse("kernel {} reads input {} in a layout, which {} does not have", kernel.id, read.input,
                       kernel.definition);
            if (packed.contains(read.input))
                refuse("kernel {} reads input {} both packed and in a computed layout", kernel.id, read.input);
            if (!computed_.contains(read.layout))
                refuse("kernel {} reads \"{}\", which is no computed layout", kernel.id, read.layout);
        }
    }

    /// The largest arity among a definition's patterns.
    Arity arity_of(const std::string& name, bool with_outputs) const {
        if (const auto op = ir::find_op(name)) return {ir::info(*op).max_operands, 1};
        if (is_fused_body(name)) return {};
        if (name == "pack") return {1, 1};
        Arity most{0, 0};
        for (const KernelSet* set : {&known_, &extra_})
            for (const Definition& definition : set->definitions) {
                if (definition.name != name) continue;
                if (definition.patterns.empty()) return {};
                for (const std::string& pattern : definition.patterns)
                    for (const std::string& text : problems_of(name, pattern)) {
                        const Problem problem = parsed("a pattern", name, text);
                        most.inputs = std::max(most.inputs, static_cast<int>(problem.inputs.size()));
                        if (with_outputs) most.outputs = std::max(most.outputs, results_of(definition, problem));
                    }
            }
        return most;
    }

    static int results_of(const Definition& definition, Problem pattern) {
        try {
            fusion::put_sentinels(pattern);
            const Graph graph = ir::problem_graph(pattern, {&definition, 1});
            return static_cast<int>(graph.data()->outputs().size());
        } catch (const std::exception& error) {
            refuse("definition {} cannot build its pattern: {}", definition.name, error.what());
        }
    }

    const KernelSet& extra_;
    const KernelSet& known_;
    std::set<std::string> definitions_, ids_;
    std::map<std::string, std::string> layouts_;  // with the names of their transposed forms
    std::set<std::string> computed_;              // of `layouts_`
};

}  // namespace

void validate_kernels(const KernelSet& extra, const KernelSet& known) { Checker(extra, known).check(); }

}  // namespace cairn::driver
