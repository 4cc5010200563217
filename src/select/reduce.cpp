#include "select/reduce.hpp"

#include "cairn/error.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace cairn::inline v0::select {
namespace {

// A goal is not taken into its user where that would leave the user with more alternatives than this.
constexpr std::size_t most_alternatives = 64;

struct Option {
    Alternative alternative;  // needs and provides ascending
    int decision;             // index into the reduction's decisions
};

bool includes(const std::vector<int>& all, const std::vector<int>& some) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

bool holds(const std::vector<int>& goals, int goal) { return std::binary_search(goals.begin(), goals.end(), goal); }

std::vector<int> merged(const std::vector<int>& a, const std::vector<int>& b) {
    std::vector<int> result;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
    return result;
}

}  // namespace

class Reducer {
public:
    Reducer(const SearchProblem& problem, const std::stop_token& stop)
        : stop_(stop), options_(problem.goals.size()), brings_(problem.goals.size(), false), roots_(problem.roots) {
        std::sort(roots_.begin(), roots_.end());
        const std::vector<bool> reachable = reachable_goals(problem);
        const auto possible = [&](int goal) { return reachable[static_cast<std::size_t>(goal)]; };
        for (std::size_t g = 0; g < options_.size(); ++g) {
            go_on();
            for (std::size_t a = 0; a < problem.goals[g].size(); ++a) {
                const std::vector<int>& needs = problem.goals[g][a].needs;
                if (!std::all_of(needs.begin(), needs.end(), possible)) continue;
                Option option{problem.goals[g][a], decided({static_cast<int>(g), static_cast<int>(a)})};
                std::sort(option.alternative.needs.begin(), option.alternative.needs.end());
                std::sort(option.alternative.provides.begin(), option.alternative.provides.end());
                brings_[g] = brings_[g] || !option.alternative.provides.empty() ||
                             std::any_of(option.alternative.needs.begin(), option.alternative.needs.end(),
                                         [&](int need) { return brings(need); });
                options_[g].push_back(std::move(option));
            }
            prune(options_[g]);
        }
        for (const int root : problem.roots)
            if (!possible(root))
                throw Error(ErrorKind::unsupported, "select", "goal " + std::to_string(root) + " cannot be reached");
    }

    Reduction run() {
        while (drop_unused() || absorb()) {}
        return numbered();
    }

private:
    void go_on() const {
        if (stop_.stop_requested()) throw Cancelled("select");
    }

    std::vector<Option>& options(int goal) { return options_[static_cast<std::size_t>(goal)]; }
    bool brings(int goal) const { return brings_[static_cast<std::size_t>(goal)]; }

    int decided(Reduction::Decision decision) {
        result_.decisions_.push_back(decision);
        return static_cast<int>(result_.decisions_.size()) - 1;
    }

    bool beats(const Alternative& a, const Alternative& b) const {
        if (a.cost > b.cost || a.provides != b.provides || !includes(b.needs, a.needs)) return false;
        return std::all_of(b.needs.begin(), b.needs.end(),
                           [&](int need) { return !brings(need) || holds(a.needs, need); });
    }

    /// Keeps options none of the others beats; of equal ones the first.
    void prune(std::vector<Option>& options) const {
        std::vector<Option> kept;
        for (Option& option : options) {
            if (std::any_of(kept.begin(), kept.end(),
                            [&](const Option& o) { return beats(o.alternative, option.alternative); }))
                continue;
            std::erase_if(kept, [&](const Option& o) { return beats(option.alternative, o.alternative); });
            kept.push_back(std::move(option));
        }
        options = std::move(kept);
    }

    /// Forgets goals nothing rests on.
    bool drop_unused() {
        std::vector<bool> needed(options_.size(), false);
        for (const int root : roots_) needed[static_cast<std::size_t>(root)] = true;
        for (std::size_t g = options_.size(); g-- > 0;)
            if (needed[g])
                for (const Option& option : options_[g])
                    for (const auto* goals : {&option.alternative.needs, &option.alternative.provides})
                        for (const int goal : *goals) needed[static_cast<std::size_t>(goal)] = true;
        bool changed = false;
        for (std::size_t g = 0; g < options_.size(); ++g)
            if (!needed[g] && !options_[g].empty()) options_[g].clear(), changed = true;
        return changed;
    }

    /// Takes every goal that it may into its only user.
    bool absorb() {
        constexpr int none = -1, several = -2;
        std::vector<int> user(options_.size(), none);
        const auto note = [&](int goal, int by) {
            int& known = user[static_cast<std::size_t>(goal)];
            known = known == none || known == by ? by : several;
        };
        const auto note_all = [&](int by) {
            for (const Option& option : options(by)) {
                for (const int need : option.alternative.needs) note(need, by);
                for (const int goal : option.alternative.provides) user[static_cast<std::size_t>(goal)] = several;
            }
        };
        for (const int root : roots_) user[static_cast<std::size_t>(root)] = several;
        bool changed = false;
        // All that can need a goal or provide it is higher: it has been noted when the goal's turn comes.
        for (int goal = static_cast<int>(options_.size()) - 1; goal >= 0; --goal) {
            go_on();
            const int by = user[static_cast<std::size_t>(goal)];
            if (by >= 0 && absorb_into(goal, by)) {
                changed = true;
                note_all(by);
            } else {
                note_all(goal);
            }
        }
        return changed;
    }

    bool absorb_into(int goal, int by) {
        std::vector<Option> joined;
        for (const Option& upper : options(by)) {
            if (!holds(upper.alternative.needs, goal)) {
                joined.push_back(upper);
                continue;
            }
            for (const Option& lower : options(goal)) {
                const bool twice = std::any_of(lower.alternative.provides.begin(), lower.alternative.provides.end(),
                                               [&](int other) { return holds(upper.alternative.provides, other); });
                if (twice) continue;
                Option both = upper;
                std::erase(both.alternative.needs, goal);
                both.alternative.cost += lower.alternative.cost;
                both.alternative.needs = merged(both.alternative.needs, lower.alternative.needs);
                both.alternative.provides = merged(both.alternative.provides, lower.alternative.provides);
                both.decision = decided({-1, -1, upper.decision, lower.decision});
                joined.push_back(std::move(both));
            }
        }
        prune(joined);
        // None left: the search will say that there is no way.
        if (joined.empty() || joined.size() > std::max(most_alternatives, options(by).size())) return false;
        options(by) = std::move(joined);
        options(goal).clear();
        return true;
    }

    Reduction numbered() {
        // What can only come along has no option of its own.
        std::vector<bool> kept(options_.size(), false);
        for (const int root : roots_) kept[static_cast<std::size_t>(root)] = true;
        for (std::size_t g = 0; g < options_.size(); ++g)
            for (const Option& option : options_[g]) {
                kept[g] = true;
                for (const auto* goals : {&option.alternative.needs, &option.alternative.provides})
                    for (const int goal : *goals) kept[static_cast<std::size_t>(goal)] = true;
            }
        std::vector<int> number(options_.size(), -1);
        for (std::size_t g = 0; g < options_.size(); ++g) {
            if (!kept[g]) continue;
            number[g] = static_cast<int>(result_.problem.goals.size());
            auto& alternatives = result_.problem.goals.emplace_back();
            auto& starts = result_.starts_.emplace_back();
            for (Option& option : options_[g]) {
                for (auto* goals : {&option.alternative.needs, &option.alternative.provides})
                    for (int& goal : *goals) goal = number[static_cast<std::size_t>(goal)];
                alternatives.push_back(std::move(option.alternative));
                starts.push_back(option.decision);
            }
        }
        for (const int root : roots_) result_.problem.roots.push_back(number[static_cast<std::size_t>(root)]);
        return std::move(result_);
    }

    const std::stop_token& stop_;
    std::vector<std::vector<Option>> options_;
    std::vector<bool> brings_;  // whether it, or something below it, may provide further goals
    std::vector<int> roots_;
    Reduction result_;
};

void Reduction::decide(int goal, int alternative, std::vector<int>& choice) const {
    std::vector<int> open{starts_[static_cast<std::size_t>(goal)][static_cast<std::size_t>(alternative)]};
    while (!open.empty()) {
        const Decision& decision = decisions_[static_cast<std::size_t>(open.back())];
        open.pop_back();
        if (decision.goal >= 0) choice[static_cast<std::size_t>(decision.goal)] = decision.alternative;
        for (const int part : {decision.first, decision.second})
            if (part >= 0) open.push_back(part);
    }
}

std::vector<bool> reachable_goals(const SearchProblem& problem) {
    std::vector<bool> reachable(problem.goals.size(), false);
    const auto reached = [&](int goal) { return reachable[static_cast<std::size_t>(goal)]; };
    // What comes along with a higher goal may open a way to goals in between, so once is not always enough.
    for (bool changed = true; changed;) {
        changed = false;
        const auto reach = [&](std::size_t goal) {
            changed = changed || !reachable[goal];
            reachable[goal] = true;
        };
        for (std::size_t g = 0; g < problem.goals.size(); ++g)
            for (const Alternative& alternative : problem.goals[g]) {
                if (!std::all_of(alternative.needs.begin(), alternative.needs.end(), reached)) continue;
                reach(g);
                for (const int goal : alternative.provides) reach(static_cast<std::size_t>(goal));
            }
    }
    return reachable;
}

Reduction reduce(const SearchProblem& problem, const std::stop_token& stop) { return Reducer(problem, stop).run(); }

}  // namespace cairn::inline v0::select
