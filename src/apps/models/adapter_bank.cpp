#include "apps/models/adapter_bank.hpp"

#include "apps/models/gguf_names.hpp"
#include "cairn/error.hpp"
#include "cairn/lora.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cairn::inline v0::models {
namespace {

constexpr const char* ids_input = "adapter";
constexpr const char* used_symbol = "adapted";
const std::string weight_end = ".weight";

/// The row of b that a model has at `row`, of heads that a file stores interleaved.
std::int64_t stored_row(std::int64_t row, std::int64_t rows, std::int64_t heads) {
    const std::int64_t width = rows / heads, at = row % width, half = width / 2;
    return row - at + (at < half ? 2 * at : 2 * (at - half) + 1);
}

bool changes_anything(const NamedAdapter& named) {
    return named.scale != 0 &&
           std::ranges::any_of(named.adapter.updates(), [](const auto& each) { return each.scale != 0; });
}

}  // namespace

AdapterBank::AdapterBank(ModuleNames names, AdapterOptions options)
    : names_(std::move(names)), options_(std::move(options)) {
    std::set<std::string> known;
    for (const NamedAdapter& each : options_.list) {
        if (each.name.empty() || !known.insert(each.name).second)
            refuse(ErrorKind::argument, "each adapter needs a name of its own, got \"" + each.name + "\"");
        if (!std::isfinite(each.scale)) refuse(ErrorKind::argument, "the scale of " + each.name + " is not finite");
        if (options_.max_rank != 0 && each.adapter.rank() > options_.max_rank)
            refuse(ErrorKind::argument, each.name + " has rank " + std::to_string(each.adapter.rank()) +
                                            ", more than max_rank " + std::to_string(options_.max_rank));
    }
    if (options_.form == AdapterForm::merged && options_.list.size() > 1)
        refuse(ErrorKind::argument, "one adapter can be merged, got " + std::to_string(options_.list.size()));
    if (!options_.list.empty()) chosen_ = {0};
    if (options_.max_rank < 0) refuse(ErrorKind::argument, "max_rank must be at least 0");
}

void AdapterBank::refuse(ErrorKind kind, const std::string& what) const { throw Error(kind, names_.model, what); }

void AdapterBank::begin(Graph& graph, const Dim& batch) {
    sites_.clear();
    if (!has_inputs()) return;
    used_ = graph.symbol(used_symbol, 0, 1);
    if (options_.form == AdapterForm::rows) ids_ = graph.input(ids_input, DType::i32, {batch});
}

/// The rank of the inputs of a site.
std::int64_t AdapterBank::rank_at(const AdapterSite& site) const {
    std::int64_t rank = 0;
    for (const NamedAdapter& each : options_.list)
        if (const LoraUpdate* update = update_at(each.adapter, site)) rank = std::max(rank, update->rank);
    return rank == 0 || options_.max_rank == 0 ? rank : options_.max_rank;
}

std::optional<Tensor> AdapterBank::changed_product(const Tensor& x, const Tensor& w, const std::string& module,
                                                   const WeightSpec& spec, MatrixOrder order) {
    if (options_.list.empty()) return std::nullopt;
    auto site = std::ranges::find(sites_, module, &AdapterSite::module);
    if (site == sites_.end()) {
        AdapterSite made{.module = module,
                         .weight = spec.name,
                         .order = order,
                         .in = w.dim(0).constant(),
                         .out = w.dim(1).constant(),
                         .heads = spec.heads,
                         .is_stored_transposed = spec.is_transposed,
                         .block_type = spec.block_type,
                         .a_name = "lora_A." + module,
                         .b_name = "lora_B." + module};
        made.rank = rank_at(made);
        if (has_inputs() && made.rank > 0) {
            Graph graph(x.graph());
            const Dim rank = used_ * made.rank;
            Shape a{rank, made.in}, b{rank, made.out};
            if (options_.form == AdapterForm::rows)
                for (Shape* shape : {&a, &b})
                    shape->insert(shape->begin(), Dim(static_cast<std::int64_t>(options_.list.size())));
            made.a = graph.input(made.a_name, DType::f32, a);
            made.b = graph.input(made.b_name, DType::f32, b);
        }
        site = sites_.insert(sites_.end(), std::move(made));
    }
    if (site->a.empty()) return std::nullopt;
    const Tensor a = swap_axes(site->a, -1, -2);
    return options_.form == AdapterForm::rows ? lora(x, w, a, site->b, ids_) : lora(x, w, a, site->b);
}

void AdapterBank::end(const std::vector<WeightSpec>& weights) {
    for (const NamedAdapter& each : options_.list) check_fit(each, weights);
    elements_.clear();
    if (!has_inputs()) return;
    auto all = std::make_shared<Elements>();
    for (const NamedAdapter& each : options_.list) {
        append(each, *all);
        if (options_.form == AdapterForm::rows) continue;
        elements_.push_back(std::move(all));
        all = std::make_shared<Elements>();
    }
    if (options_.form == AdapterForm::rows) elements_.push_back(std::move(all));
    for (AdapterSite& site : sites_) site.a = site.b = {};  // they keep the graph in memory
    ids_ = {};
}

std::vector<Split> AdapterBank::with_splits(std::vector<Split> splits) const {
    const auto is_own = [](const Split& split) { return split.symbol == used_symbol; };
    if (has_inputs() && std::ranges::none_of(splits, is_own)) splits.push_back({used_symbol, {0}});
    return splits;
}

const LoraUpdate* AdapterBank::update_at(const LoraAdapter& adapter, const AdapterSite& site) const {
    const std::vector<LoraUpdate>& updates = adapter.updates();
    const auto named = [&](std::string_view module) {
        const auto it = std::ranges::lower_bound(updates, module, {}, &LoraUpdate::module);
        return it == updates.end() || it->module != module ? nullptr : &*it;
    };
    if (const std::string& architecture = adapter.state().architecture; !architecture.empty()) {
        const auto found = stored_name(site.module + weight_end, names_.gguf(architecture == "llama"));
        return found ? named(std::string_view(found->stored).substr(0, found->stored.size() - weight_end.size()))
                     : nullptr;
    }
    if (const LoraUpdate* update = named(site.module)) return update;
    return site.module.starts_with(names_.prefix) ? named(site.module.substr(names_.prefix.size())) : nullptr;
}

/// b as the graph reads it, [R, N], with the rows of heads in the model's order.
std::vector<float> AdapterBank::transposed_b(const LoraAdapter& adapter, const AdapterSite& site,
                                             const LoraUpdate& update) const {
    bool is_interleaved = false;
    if (adapter.state().architecture == "llama")
        if (const auto found = stored_name(site.module + weight_end, names_.gguf(true)))
            is_interleaved = found->row->is_interleaved;
    std::vector<float> result(update.b.size());
    for (std::int64_t n = 0; n < update.out; ++n) {
        const std::int64_t from = is_interleaved ? stored_row(n, update.out, site.heads) : n;
        for (std::int64_t r = 0; r < update.rank; ++r)
            result[static_cast<std::size_t>(r * update.out + n)] =
                update.b[static_cast<std::size_t>(from * update.rank + r)];
    }
    return result;
}

/// Appends the elements of an adapter at each changed site, padded with zeros to the rank of the site.
void AdapterBank::append(const NamedAdapter& named, Elements& elements) const {
    std::size_t place = 0;
    for (const AdapterSite& site : sites_) {
        if (site.rank == 0) continue;
        if (place == elements.a.size()) elements.a.emplace_back(), elements.b.emplace_back();
        std::vector<float>&a = elements.a[place], &b = elements.b[place];
        ++place;
        const std::size_t a_end = a.size() + static_cast<std::size_t>(site.rank * site.in),
                          b_end = b.size() + static_cast<std::size_t>(site.rank * site.out);
        if (const LoraUpdate* update = update_at(named.adapter, site)) {
            a.insert(a.end(), update->a.begin(), update->a.end());
            const double scale = named.scale * update->scale;
            for (const float element : transposed_b(named.adapter, site, *update))
                b.push_back(static_cast<float>(scale * static_cast<double>(element)));
        }
        a.resize(a_end);
        b.resize(b_end);
    }
}

std::vector<std::string> AdapterBank::names() const {
    std::vector<std::string> all;
    for (const NamedAdapter& each : options_.list) all.push_back(each.name);
    return all;
}

std::int32_t AdapterBank::index_of(std::string_view name) const {
    if (name.empty()) return -1;
    const auto it = std::ranges::find(options_.list, name, &NamedAdapter::name);
    if (it != options_.list.end()) return static_cast<std::int32_t>(it - options_.list.begin());
    std::string known;
    for (const NamedAdapter& each : options_.list) known += (known.empty() ? "" : ", ") + each.name;
    refuse(ErrorKind::argument, "there is no adapter \"" + std::string(name) + "\"; " +
                                    (known.empty() ? "the model was made without adapters" : "there are " + known));
}

void AdapterBank::add(const NamedAdapter& adapter) {
    if (options_.form != AdapterForm::exchanged || options_.list.empty())
        refuse(ErrorKind::argument, "adapters can be added to a model that was made with AdapterForm::exchanged");
    if (adapter.name.empty() ||
        std::ranges::find(options_.list, adapter.name, &NamedAdapter::name) != options_.list.end())
        refuse(ErrorKind::argument, "each adapter needs a name of its own, got \"" + adapter.name + "\"");
    if (!std::isfinite(adapter.scale)) refuse(ErrorKind::argument, "the scale of " + adapter.name + " is not finite");
    check_fit(adapter, {});
    auto elements = std::make_shared<Elements>();
    append(adapter, *elements);
    options_.list.push_back(adapter);
    elements_.push_back(std::move(elements));
}

void AdapterBank::set(CompiledGraph& compiled, std::string_view name) {
    const std::int32_t index = index_of(name);
    if (options_.form == AdapterForm::merged && !options_.list.empty())
        refuse(ErrorKind::argument, "the adapter is merged with the weights: it cannot be exchanged");
    chosen_ = {index};
    set_inputs(compiled);
}

void AdapterBank::set(CompiledGraph& compiled, std::span<const std::string> names) {
    if (options_.form != AdapterForm::rows)
        refuse(ErrorKind::argument, "rows of their own adapters need AdapterForm::rows");
    std::vector<std::int32_t> chosen;
    for (const std::string& name : names) chosen.push_back(index_of(name));
    if (chosen.empty()) refuse(ErrorKind::argument, "adapters of no rows");
    chosen_ = std::move(chosen);
    set_inputs(compiled);
}

void AdapterBank::set_inputs(CompiledGraph& compiled) const {
    if (!has_inputs()) return;
    static constexpr float none = 0;
    const bool is_used = std::ranges::any_of(chosen_, [&](std::int32_t index) {
        return index >= 0 && changes_anything(options_.list[static_cast<std::size_t>(index)]);
    });
    const bool is_of_rows = options_.form == AdapterForm::rows;
    const Elements* elements =
        !is_used ? nullptr : elements_[is_of_rows ? 0 : static_cast<std::size_t>(chosen_[0])].get();
    const auto count = static_cast<std::int64_t>(options_.list.size());
    std::size_t place = 0;
    for (const AdapterSite& site : sites_) {
        if (site.rank == 0) continue;
        const auto set_one = [&](const std::string& input, const std::vector<std::vector<float>>* all,
                                 std::int64_t columns) {
            const float* data = elements == nullptr ? &none : (*all)[place].data();
            const std::int64_t rank = elements == nullptr ? 0 : site.rank;
            if (is_of_rows)
                compiled.set(input, data, {count, rank, columns});
            else
                compiled.set(input, data, {rank, columns});
        };
        set_one(site.a_name, elements == nullptr ? nullptr : &elements->a, site.in);
        set_one(site.b_name, elements == nullptr ? nullptr : &elements->b, site.out);
        ++place;
    }
}

void AdapterBank::before_run(CompiledGraph& compiled, std::int64_t rows) {
    if (!has_inputs() || options_.form != AdapterForm::rows) return;
    if (chosen_.size() != 1 && static_cast<std::int64_t>(chosen_.size()) != rows)
        refuse(ErrorKind::argument,
               std::to_string(rows) + " rows, but adapters were set for " + std::to_string(chosen_.size()));
    ids_of_run_ = chosen_;
    ids_of_run_.resize(static_cast<std::size_t>(rows), chosen_[0]);
    compiled.set(ids_input, ids_of_run_.data(), {rows});
}

}  // namespace cairn::inline v0::models
