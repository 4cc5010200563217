#include "search/ties.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

namespace cairn::search {
namespace {

/// What a shared goal stands for in each side, and what it costs; goals that agree in this are tied.
struct Standing {
    std::vector<int> originals;
    double cost = 0;
    friend auto operator<=>(const Standing&, const Standing&) = default;
};

std::map<int, Standing> standings_of(std::span<const SideChoices> sides) {
    std::map<int, Standing> standings;
    for (std::size_t s = 0; s < sides.size(); ++s)
        for (std::size_t c = 0; c < sides[s].goals.size(); ++c) {
            if (sides[s].goals[c] < 0) continue;
            Standing& standing = standings[sides[s].goals[c]];
            standing.originals.resize(sides.size(), -1);
            standing.originals[s] = sides[s].originals[c];
            standing.cost = sides[s].costs[c];
        }
    return standings;
}

class Kinds {
public:
    Kinds(std::span<const SideChoices> sides, const Repeat& repeat) : sides_(sides) {
        std::map<Standing, std::size_t> numbers;
        for (auto& [goal, standing] : standings_of(sides)) {
            const auto [it, fresh] = numbers.try_emplace(std::move(standing), ties_.goals.size());
            if (fresh) ties_.goals.push_back({it->first.cost, {}, 0});
            ties_.goals[it->second].count += repeat.times(goal);
            tied_[goal] = it->second;
        }
        for (std::size_t s = 0; s < sides.size(); ++s) add_side(s);
    }
    Ties ties() { return std::move(ties_); }

private:
    void add_side(std::size_t s) {
        const SideChoices& side = sides_[s];
        std::vector<int>& kinds = ties_.kinds.emplace_back(side.costs.size(), -1);
        std::vector<double>& costs = ties_.costs.emplace_back();
        const auto add_kind = [&](double cost) {
            costs.push_back(cost);
            return static_cast<int>(costs.size()) - 1;
        };
        std::vector<int> places(ties_.goals.size(), -1);
        for (std::size_t c = 0; c < kinds.size(); ++c) {
            if (side.goals[c] < 0) continue;
            const std::size_t tied = tied_.at(side.goals[c]);
            if (places[tied] < 0) {
                places[tied] = add_kind(side.costs[c]);
                ties_.goals[tied].at.emplace_back(s, static_cast<std::size_t>(places[tied]));
            }
            kinds[c] = places[tied];
        }
        std::vector<int> known(kinds.size(), -1);  // of each original
        for (std::size_t c = 0; c < kinds.size(); ++c) {
            if (side.goals[c] >= 0) continue;
            int& kind = known[static_cast<std::size_t>(side.originals[c])];
            if (kind < 0) kind = add_kind(side.costs[c]);
            kinds[c] = costs[static_cast<std::size_t>(kind)] == side.costs[c] ? kind : add_kind(side.costs[c]);
        }
    }

    std::span<const SideChoices> sides_;
    std::map<int, std::size_t> tied_;  // of each shared goal
    Ties ties_;
};

}  // namespace

std::vector<int> originals_of(const Space& space, std::size_t choices) {
    constexpr int unnamed = -1;
    std::vector<int> originals(choices, unnamed);
    for (int renaming = 0; renaming < space.renamings(); ++renaming)
        for (const auto& [choice, name] : space.names_of(renaming)) {
            int& original = originals[static_cast<std::size_t>(name)];
            // What stands for several is like none of them.
            original = original == unnamed || original == choice ? choice : name;
        }
    for (std::size_t c = 0; c < choices; ++c)
        if (originals[c] == unnamed) originals[c] = static_cast<int>(c);
    return originals;
}

bool Ties::any() const {
    return std::any_of(goals.begin(), goals.end(), [](const SharedGoal& goal) { return goal.count > 1; });
}

Ties ties_of(std::span<const SideChoices> sides, const Repeat& repeat) { return Kinds(sides, repeat).ties(); }

}  // namespace cairn::search
