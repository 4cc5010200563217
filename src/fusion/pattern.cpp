#include "fusion/pattern.hpp"

#include "graph/ir/op_table.hpp"
#include "graph/types/text_cursor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cairn::fusion {
namespace {

// A number that is exact in every float dtype (or odd, unlike all sample sizes), and that no definition contains
// itself.
double sentinel_of(std::size_t hole, bool is_whole) {
    return (129.0 + 2 * static_cast<double>(hole)) / (is_whole ? 1 : 16384);
}

// Nothing if an attribute leaves no number free; else whether it leaves a whole number free.
std::optional<bool> is_left_free(const Attribute& attribute, const Problem& problem) {
    if (const auto* number = std::get_if<double>(&attribute.value))
        return std::isnan(*number) ? std::optional(false) : std::nullopt;
    const auto& list = std::get<std::vector<Dim>>(attribute.value);
    if (list.size() != 1 || list[0].symbol().empty()) return std::nullopt;
    std::vector<Symbols::Symbol> of_operands;
    for (const TensorDesc& operand : problem.inputs)
        for (const Dim& size : operand.shape) types::collect_symbols(size, of_operands);
    const bool is_size = std::any_of(of_operands.begin(), of_operands.end(),
                                     [&](const Symbols::Symbol& symbol) { return symbol.name == list[0].symbol(); });
    return is_size ? std::nullopt : std::optional(true);
}

// Sizes that differ between symbols, are even (a table of angles requires that), and do not simplify away.
std::vector<Dim> sample_sizes(std::size_t count) {
    std::vector<Dim> sizes;
    for (std::size_t i = 0; i < count; ++i) sizes.emplace_back(static_cast<std::int64_t>(6 + 4 * i));
    return sizes;
}

// True if the graphs have the same ops in the same order.
bool same_ops(const ir::GraphData& a, const ir::GraphData& b) {
    return std::equal(a.nodes().begin(), a.nodes().end(), b.nodes().begin(), b.nodes().end(),
                      [](const ir::Node& x, const ir::Node& y) { return x.op == y.op; });
}

// The operands with a 16-bit float in place of f32, which matches any float dtype.
std::vector<TensorDesc> in_16_bits(std::vector<TensorDesc> operands) {
    for (TensorDesc& operand : operands)
        if (operand.dtype == DType::f32) operand.dtype = DType::f16;
    return operands;
}

// The skeletons of a pattern. A mean over 768 elements multiplies by a constant, one over N by a value computed from N:
// if sizes affect the ops like this, there are two skeletons. A definition may also require a constant size (rope makes
// a table of it) and give only one. With `rounds`, skeletons of 16-bit floats are added if they differ: most composites
// compute these in f32.
std::vector<DefinitionInstance> skeletons_of(const Definition& definition, const Pattern& pattern, bool rounds) {
    const std::vector<Dim> sizes = sample_sizes(pattern.symbols->list().size());
    std::vector<TensorDesc> operands = pattern.problem.inputs;
    for (TensorDesc& operand : operands)
        for (Dim& dim : operand.shape)
            if (!dim.is_constant()) dim = pattern.symbols->substitute(dim, sizes);
    std::vector<std::vector<TensorDesc>> samples{operands, pattern.problem.inputs};
    if (rounds) samples.insert(samples.end(), {in_16_bits(operands), in_16_bits(pattern.problem.inputs)});
    std::vector<DefinitionInstance> result;
    for (const std::vector<TensorDesc>& sample : samples) {
        auto made = instantiate(definition, sample, pattern.problem.attributes, pattern.symbols);
        const auto is_same = [&](const DefinitionInstance& other) { return same_ops(*made->graph, *other.graph); };
        if (made && std::none_of(result.begin(), result.end(), is_same)) result.push_back(std::move(*made));
    }
    return result;
}

// For each operand, whether leading axes may be added: its first size must not occur among the later axes of an earlier
// operand. True for [R,D] of a layer norm, but not for its [D]; for keys [S,D], but not for a weight [K,N] with [R,K].
std::vector<bool> leading(const Problem& problem) {
    std::vector<bool> result;
    for (const TensorDesc& operand : problem.inputs) {
        bool free = !operand.shape.empty();
        for (std::size_t before = 0; before < result.size() && free; ++before) {
            const Shape& other = problem.inputs[before].shape;
            free = other.empty() || std::find(other.begin() + 1, other.end(), operand.shape[0]) == other.end();
        }
        result.push_back(free);
    }
    return result;
}

// True for exponents that definitions write themselves: 2, -0.5, 1.5.
bool is_plain_exponent(double exponent) { return std::trunc(2 * exponent) == 2 * exponent; }

void set_signature(Pattern& pattern) {
    const Normalizer& normalizer = pattern.forms->normalizer();
    const auto core_of = [&](ir::NodeId id) { return (*pattern.forms)[id].core; };
    const TermId root = core_of(pattern.skeleton.outputs[pattern.main_output]);
    pattern.features = FormFeatures(normalizer).of(root);
    pattern.outside = required_parts_of(normalizer, normalizer.term(root));
    // A free number may be 0, and then it occurs in no sum; a free exponent may have either sign.
    if (!pattern.holes.empty())
        std::erase_if(pattern.outside, [](const RequiredPart& part) { return part.kind == TermKind::sum; });
    bool has_free_exponent = false;
    for (TermId id = 0; id < normalizer.size(); ++id)
        if (const Term& term = normalizer.term(id); term.kind == TermKind::product)
            for (const ScaledTerm& power : term.parts)
                has_free_exponent = has_free_exponent || !is_plain_exponent(power.factor);
    if (!pattern.holes.empty() && has_free_exponent) pattern.outside.clear();
    const std::uint64_t kept = ops_in(normalizer, root);
    for (const ir::Node& node : pattern.skeleton.graph->nodes()) {
        pattern.has_expanded_exponentials = pattern.has_expanded_exponentials || normal_form::is_exponential(node.op);
        const std::uint64_t mark = op_bit(node.op);
        if (normal_form::is_opaque(node.op) && (kept & mark) == 0) pattern.absent_ops |= mark;
    }
    const std::vector<TermPosition> positions = term_positions(normalizer, root);
    for (const ir::NodeId input : pattern.skeleton.inputs) {
        pattern.paths.emplace_back();
        for (const TermPosition& position : positions)
            if (position.core == core_of(input)) pattern.paths.back().push_back(position.path);
    }
}

// The ops that have a counterpart in every match. With expanded exponentials boundary ops may have none
// (EmbeddingSearch::try_all_predecessors), but the features of the root remain.
std::uint64_t ops_of_every_match(const Pattern& pattern) {
    if (pattern.has_expanded_exponentials && pattern.skeleton.inputs.size() == 1) return pattern.features;
    std::uint64_t boundary = 0;
    for (const ir::Node& node : pattern.skeleton.graph->nodes())
        if (!is_arithmetic(node) && !node.operands.empty()) boundary |= op_bit(node.op);
    const ir::NodeId root = pattern.skeleton.outputs[pattern.main_output];
    return boundary & ops_in(pattern.forms->normalizer(), (*pattern.forms)[root].core) & ~pattern.absent_ops;
}

// Replaces a free axis in the text by each axis in turn, from the last; operands with more than one axis get new sizes
// for the axes after it. An axis that need not be written is left out if it is the last.
std::vector<std::string> with_axes(const std::string& text) {
    constexpr std::string_view omitted = "(-1)";
    for (const std::string_view open : {" axis=?", " axes=?"}) {
        const std::size_t at = text.find(open);
        if (at == std::string::npos) continue;
        const bool may_miss = text.compare(at + open.size(), omitted.size(), omitted) == 0;
        const std::size_t length = open.size() + (may_miss ? omitted.size() : 0);
        std::vector<std::string> texts;
        std::string behind;
        for (int axis = 1; axis <= static_cast<int>(max_axes); ++axis) {
            std::string written = text;
            for (std::size_t end = written.find(']'); end != std::string::npos && !behind.empty();) {
                const std::size_t begin = written.rfind('[', end);
                const bool is_wide = written.find(',', begin) < end;
                if (is_wide) written.insert(end, behind);
                end = written.find(']', end + 1 + (is_wide ? behind.size() : 0));
            }
            const bool is_given = axis > 1 || !may_miss;
            texts.push_back(written.replace(
                at, length, is_given ? fmt::format("{}({})", open.substr(0, 6), -axis) : std::string()));
            behind += fmt::format(",I{}", axis);
        }
        return texts;
    }
    return {text};
}

// The text with all operands, then without the last optional one (`f32[D]?`), and so on.
std::vector<std::string> with_operands(std::string text) {
    std::vector<std::string> texts;
    while (true) {
        std::string all = text;
        for (std::size_t at = all.find("]?"); at != std::string::npos; at = all.find("]?")) all.erase(at + 1, 1);
        texts.push_back(std::move(all));
        if (!text.ends_with("]?")) return texts;
        text.resize(text.rfind(' '));
    }
}

// The text with, or without, the first axes that may be missing (`f32[R?,D]`).
std::string with_first_axes(std::string text, bool keeps_axes) {
    for (std::size_t at = text.find("?,"); at != std::string::npos; at = text.find("?,")) {
        const std::size_t begin = keeps_axes ? at : text.rfind('[', at) + 1;
        text.erase(begin, at + (keeps_axes ? 1 : 2) - begin);
    }
    return text;
}

// The texts that a pattern represents; first axes that may be missing stay marked.
std::vector<std::string> marked_problems_of(const std::string& pattern) {
    std::vector<std::string> texts;
    for (const std::string& written : with_axes(pattern))
        for (std::string& one : with_operands(written)) texts.push_back(std::move(one));
    return texts;
}

// Parses a pattern, without a skeleton, with or without the first axes that may be missing; further leading axes may be
// present in both cases.
Pattern read(const Definition& definition, const std::string& text, bool has_first_axes) {
    Pattern pattern;
    pattern.definition = &definition;
    const std::string whole = with_first_axes(text, true);
    pattern.symbols = Symbols::create();
    pattern.problem = parse_problem(has_first_axes ? whole : with_first_axes(text, false), *pattern.symbols);
    pattern.allows_leading_axes =
        leading(has_first_axes || whole == text ? pattern.problem : parse_problem(whole, *Symbols::create()));
    pattern.holes = put_sentinels(pattern.problem);
    for (const TensorDesc& operand : pattern.problem.inputs)
        pattern.max_axes = std::max(pattern.max_axes, operand.shape.size());
    return pattern;
}

// True if both patterns are matched at the same places with operands of the same dtypes, so that one finds what the
// other does.
bool are_equivalent(const Pattern& a, const Pattern& b) {
    const std::vector<TensorDesc>&of_a = a.problem.inputs, &of_b = b.problem.inputs;
    if (!std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                    [](const TensorDesc& x, const TensorDesc& y) { return x.dtype == y.dtype; }))
        return false;
    const auto outermost = [](const Pattern& pattern) -> const Term& {
        return pattern.forms->normalizer().term((*pattern.forms)[pattern.skeleton.outputs[pattern.main_output]].core);
    };
    const Term &x = outermost(a), &y = outermost(b);
    return same_ops(*a.skeleton.graph, *b.skeleton.graph) && x.kind == y.kind && x.op == y.op && a.outside == b.outside;
}

// Appends the patterns of one text, except those that look like one from index `first` on.
void add_patterns(const Definition& definition, const std::string& text, bool has_first_axes, const GraphTraits& sought,
                  std::size_t first, std::vector<Pattern>& patterns) {
    const auto refuse = [&] {
        throw Error(ErrorKind::argument, "fuse",
                    fmt::format("definition {} does not take its pattern \"{}\"", definition.name, text));
    };
    Pattern written = read(definition, text, has_first_axes);
    if (written.max_axes > sought.axes) return;
    const bool is_product =
        definition.fusion_role == FusionRole::anchor || definition.fusion_role == FusionRole::product;
    const bool is_of_integers = !written.problem.inputs.empty() && !is_float(written.problem.inputs[0].dtype);
    if (is_product && is_of_integers && !sought.multiplies_integers) return;
    std::vector<DefinitionInstance> skeletons = skeletons_of(definition, written, sought.rounds);
    if (skeletons.empty()) refuse();
    for (DefinitionInstance& skeleton : skeletons) {
        Pattern pattern = &skeleton == &skeletons.back() ? std::move(written) : read(definition, text, has_first_axes);
        if (pattern.problem.definition != definition.name || skeleton.outputs.empty()) refuse();
        pattern.skeleton = std::move(skeleton);
        pattern.forms = std::make_unique<NormalForms>(*pattern.skeleton.graph);
        pattern.layout_hashes = std::make_unique<LayoutInsensitiveHash>(pattern.forms->normalizer());
        pattern.regions = std::make_unique<RegionCache>(*pattern.skeleton.graph);
        const auto& outputs = pattern.skeleton.outputs;
        pattern.main_output =
            static_cast<std::size_t>(std::max_element(outputs.begin(), outputs.end()) - outputs.begin());
        set_signature(pattern);
        if (const std::uint64_t absent = required_ops_of(definition) & ~ops_of_every_match(pattern); absent != 0)
            throw Error(ErrorKind::argument, "fuse",
                        fmt::format("definition {} requires {}, which matches of its pattern \"{}\" may lack",
                                    definition.name, fmt::join(definition.required_ops, ", "), text));
        if (std::any_of(patterns.begin() + static_cast<std::ptrdiff_t>(first), patterns.end(),
                        [&](const Pattern& other) { return are_equivalent(other, pattern); }))
            continue;
        // Built here and not on demand: a pattern is read by many threads.
        for (ir::NodeId id = 0; id < pattern.skeleton.graph->nodes().size(); ++id) pattern.regions->from(id);
        pattern.layout_hashes->of(pattern.forms->normalizer().size() - 1);
        patterns.push_back(std::move(pattern));
    }
}

}  // namespace

double Hole::number_in(const Attributes& attributes) const {
    const auto& value = attributes[attribute].value;
    return is_whole ? static_cast<double>(std::get<std::vector<Dim>>(value)[0].constant()) : std::get<double>(value);
}

void Hole::put(double number, Attributes& attributes) const {
    if (is_whole)
        attributes[attribute].value = std::vector<Dim>{static_cast<std::int64_t>(number)};
    else
        attributes[attribute].value = number;
}

std::vector<Hole> put_sentinels(Problem& pattern) {
    std::vector<Hole> holes;
    for (std::size_t i = 0; i < pattern.attributes.size(); ++i) {
        const std::optional<bool> whole = is_left_free(pattern.attributes[i], pattern);
        if (!whole) continue;
        const Hole& hole = holes.emplace_back(Hole{i, sentinel_of(holes.size(), *whole), *whole});
        hole.put(hole.sentinel, pattern.attributes);
    }
    return holes;
}

std::vector<RequiredPart> required_parts_of(const Normalizer& normalizer, const Term& term) {
    std::vector<RequiredPart> result;
    if (term.kind != TermKind::sum && term.kind != TermKind::product) return result;
    for (const ScaledTerm& part : term.parts) {
        const Term& inner = normalizer.term(part.core);
        const bool is_moved = inner.kind == TermKind::op && ir::info(inner.op).kind == ir::OpClass::movement;
        if (inner.kind == TermKind::one || inner.kind == TermKind::leaf || is_moved) continue;
        result.push_back({inner.kind, inner.op, term.kind == TermKind::product && part.factor < 0});
    }
    return result;
}

std::uint64_t ops_in(const Normalizer& normalizer, TermId core) {
    std::uint64_t ops = 0;
    std::vector<TermId> open{core};
    std::vector<bool> seen(normalizer.size(), false);
    while (!open.empty()) {
        const TermId at = open.back();
        open.pop_back();
        if (seen[at]) continue;
        seen[at] = true;
        const Term& term = normalizer.term(at);
        if (term.kind == TermKind::op) ops |= op_bit(term.op);
        for (const ScaledTerm& part : term.parts) open.push_back(part.core);
    }
    return ops;
}

std::optional<std::size_t> Pattern::operand_of(ir::NodeId id) const {
    const auto it = std::find(skeleton.inputs.begin(), skeleton.inputs.end(), id);
    return it == skeleton.inputs.end() ? std::nullopt
                                       : std::optional(static_cast<std::size_t>(it - skeleton.inputs.begin()));
}

std::vector<std::string> problems_of(const std::string& pattern) {
    std::vector<std::string> texts;
    for (const std::string& marked : marked_problems_of(pattern)) {
        texts.push_back(with_first_axes(marked, true));
        if (texts.back() != marked) texts.push_back(with_first_axes(marked, false));
    }
    return texts;
}

std::uint64_t required_ops_of(const Definition& definition) {
    std::uint64_t ops = 0;
    for (const std::string& name : definition.required_ops) {
        const std::optional<ir::Op> op = ir::find_op(name);
        if (!op)
            throw Error(ErrorKind::argument, "fuse",
                        fmt::format("definition {} requires the unknown op {}", definition.name, name));
        ops |= op_bit(*op);
    }
    return ops;
}

std::vector<Pattern> make_patterns(std::span<const Definition> definitions, const std::stop_token& stop,
                                   const GraphTraits& sought) {
    std::vector<Pattern> patterns;
    for (const Definition& definition : definitions) {
        if ((required_ops_of(definition) & ~sought.ops) != 0) continue;
        for (const std::string& pattern : definition.patterns)
            for (const std::string& text : marked_problems_of(pattern)) {
                if (stop.stop_requested()) throw Cancelled("fuse");
                const std::size_t first = patterns.size();
                add_patterns(definition, text, false, sought, first, patterns);
                if (text != with_first_axes(text, false)) add_patterns(definition, text, true, sought, first, patterns);
            }
    }
    return patterns;
}

}  // namespace cairn::fusion
