#include "apps/models/adapter_bank.hpp"
#include "cairn/error.hpp"

#include <algorithm>

/// Whether an adapter fits a model: modules, shapes and targets.
namespace cairn::inline v0::models {
namespace {

std::string matrix_text(std::int64_t rows, std::int64_t columns) {
    return '[' + std::to_string(rows) + ',' + std::to_string(columns) + ']';
}

/// True if a target of PEFT, a name or the end of one, means the module.
bool means(std::string_view target, std::string_view module) {
    return module == target || (module.size() > target.size() && module.ends_with(target) &&
                                module[module.size() - target.size() - 1] == '.');
}

/// The name with `#` in place of each number: the same for all layers.
std::string layer_pattern(const std::string& module) {
    std::string pattern;
    for (std::size_t i = 0; i < module.size(); ++i) {
        const bool is_digit = module[i] >= '0' && module[i] <= '9';
        if (!is_digit) pattern += module[i];
        if (is_digit && !pattern.ends_with('#')) pattern += '#';
    }
    return pattern;
}

/// A module that classifiers alone read; adapters of all linear layers have one for it.
bool is_pooler(std::string_view module) { return means("pooler.dense", module) || means("pooler", module); }

/// The tensor that a saved module replaces; null if the model has none.
const WeightSpec* replaced_by(const SavedTensor& saved, const std::vector<WeightSpec>& weights,
                              const std::string& prefix) {
    for (const WeightSpec& spec : weights) {
        const bool is_tied = std::ranges::find(spec.tied_names, saved.name) != spec.tied_names.end();
        if (saved.name == spec.name || prefix + saved.name == spec.name || is_tied) return &spec;
    }
    return nullptr;
}

}  // namespace

void AdapterBank::check_fit(const NamedAdapter& named, const std::vector<WeightSpec>& weights) const {
    const LoraAdapter::State& state = named.adapter.state();
    FaultList faults;
    check_updates(named.adapter, faults);
    check_layers(named.adapter, faults);
    if (options_.form == AdapterForm::merged) {
        check_merge(named.adapter, weights, faults);
    } else {
        for (const SavedTensor& saved : state.saved)
            faults.add(saved.name + " is saved as a whole (modules_to_save), which AdapterForm::merged alone supports");
    }
    if (!faults.empty())
        throw Error(ErrorKind::file, "adapter",
                    state.origin + " does not fit this " + names_.model + ": " + faults.text());
}

void AdapterBank::check_updates(const LoraAdapter& adapter, FaultList& faults) const {
    std::set<const LoraUpdate*> used;
    for (const AdapterSite& site : sites_) {
        const LoraUpdate* update = update_at(adapter, site);
        if (update == nullptr) continue;
        used.insert(update);
        if (update->in != site.in || update->out != site.out)
            faults.add(update->module + " is for a weight " + matrix_text(update->out, update->in) +
                       ", the model's is " + matrix_text(site.out, site.in));
        if (has_inputs() && update->rank > site.rank)
            faults.add(update->module + " has rank " + std::to_string(update->rank) + ", the model was made for " +
                       (site.rank == 0 ? "none there" : "at most " + std::to_string(site.rank)));
    }
    for (const LoraUpdate& update : adapter.updates())
        if (!used.contains(&update) && !is_pooler(update.module))
            faults.add(update.module + " is no projection of the model");
}

/// Of targets that the config lists by name, each must mean a module, and in all layers or in none.
void AdapterBank::check_layers(const LoraAdapter& adapter, FaultList& faults) const {
    const LoraAdapter::State& state = adapter.state();
    for (const std::string& target : state.targets) {
        const bool is_known =
            std::ranges::any_of(sites_, [&](const AdapterSite& site) { return means(target, site.module); }) ||
            std::ranges::any_of(adapter.updates(),
                                [&](const LoraUpdate& update) { return means(target, update.module); });
        if (!is_known) faults.add("target_modules names " + target + ", which the model does not have");
    }
    if (state.targets.empty() || !state.changes_all_layers) return;
    std::set<std::string> changed;
    for (const AdapterSite& site : sites_)
        if (update_at(adapter, site) != nullptr) changed.insert(layer_pattern(site.module));
    for (const AdapterSite& site : sites_)
        if (update_at(adapter, site) == nullptr && changed.contains(layer_pattern(site.module)))
            faults.add(site.module + " has no lora_A and lora_B, as other layers have");
}

std::map<std::string, const SavedTensor*, std::less<>> AdapterBank::saved_names(
    const LoraAdapter& adapter, const std::vector<WeightSpec>& weights) const {
    std::map<std::string, const SavedTensor*, std::less<>> names;
    for (const SavedTensor& saved : adapter.state().saved)
        if (const WeightSpec* spec = replaced_by(saved, weights, names_.prefix)) names.emplace(spec->name, &saved);
    return names;
}

void AdapterBank::check_merge(const LoraAdapter& adapter, const std::vector<WeightSpec>& weights,
                              FaultList& faults) const {
    for (const AdapterSite& site : sites_) {
        if (update_at(adapter, site) == nullptr) continue;
        if (site.is_tied())
            faults.add(site.module + " has the weight of " + site.weight + ", to which an adapter cannot be merged");
        if (!site.block_type.empty())
            faults.add(site.weight + " is in blocks of " + site.block_type + ", to which an adapter cannot be merged");
    }
    for (const SavedTensor& saved : adapter.state().saved) {
        const WeightSpec* spec = replaced_by(saved, weights, names_.prefix);
        if (spec == nullptr)
            faults.add(saved.name + " is no tensor of the model");
        else if (spec->shape != saved.shape || !spec->block_type.empty() || spec->is_transposed)
            faults.add(saved.name + " is " + to_string(Shape(saved.shape.begin(), saved.shape.end())) +
                       ", the model's is " + (spec->block_type.empty() ? "" : spec->block_type + ' ') +
                       to_string(Shape(spec->shape.begin(), spec->shape.end())));
    }
}

}  // namespace cairn::inline v0::models
