#include "search/parts.hpp"

#include <algorithm>
#include <memory_resource>
#include <unordered_map>

namespace cairn::search {
namespace {

// What a part takes beside its goals.
constexpr std::size_t part_work = 8;

/// Which goals are connected by goals no higher than themselves. The highest of a connected set stands above all
/// others: so the sets are the subtrees of a forest.
class Connected {
public:
    explicit Connected(const Problem& problem);
    /// Whether a goal is connected with `top`, a higher one, by goals no higher than `top`.
    bool holds(std::size_t top, std::size_t goal) const {
        return place_[goal] >= place_[top] && place_[goal] < place_[top] + size_[top];
    }

private:
    std::vector<std::size_t> place_, size_;  // of each subtree: where it lies when the forest is laid out, and how much
};

Connected::Connected(const Problem& problem)
    : place_(static_cast<std::size_t>(problem.goals())), size_(place_.size(), 1) {
    const std::size_t count = place_.size();
    std::vector<std::size_t> above(count, count), link(count);
    const auto top_of = [&](std::size_t goal) {
        while (link[goal] != goal) goal = link[goal] = link[link[goal]];
        return goal;
    };
    for (std::size_t g = 0; g < count; ++g) {
        link[g] = g;
        for (int choice = problem.first(static_cast<int>(g)); choice < problem.first(static_cast<int>(g) + 1);
             ++choice) {
            const Alternative alternative = problem.alternative(choice);
            for (const auto& goals : {alternative.needs, alternative.provides})
                for (const int goal : goals)
                    if (const std::size_t top = top_of(static_cast<std::size_t>(goal)); top != g) {
                        link[top] = above[top] = g;
                        size_[g] += size_[top];
                    }
        }
    }
    std::vector<std::size_t> next(count + 1, 0);
    for (std::size_t g = count; g-- > 0;) {
        place_[g] = next[above[g]];
        next[above[g]] += size_[g];
        next[g] = place_[g] + 1;
    }
}

class Parts {
public:
    Parts(const Reduced& reduced, Space& space, Limits& limits)
        : reduced_(reduced),
          problem_(reduced.problem),
          space_(space),
          limits_(limits),
          connected_(problem_),
          steps_(problem_, reduced.circles),
          highest_(static_cast<std::size_t>(problem_.goals()), none) {}

    std::optional<Set> run() {
        State roots;
        for (const int root : problem_.roots()) add_goal(roots, root, false);
        const Way start = split(roots, none);
        for (std::size_t g = highest_.size(); g-- > 0;)
            for (int part = highest_[g]; part != none; part = at(part).next)
                if (limits_.stop.stop_requested() || !expand(part)) return std::nullopt;
        for (const int first : highest_)
            for (int part = first; part != none; part = at(part).next) at(part).set = set_of(at(part));
        limits_.states += parts_.size();
        return left_of(start);
    }

private:
    static constexpr int none = -1;

    /// A choice, and the parts that are left after it.
    struct Way {
        int choice;
        std::size_t first, end;  // in `left_`
    };
    /// Pending goals of one connected set; the highest is not provided.
    struct Part {
        StateView state;
        int next;                             // of the parts with the same highest goal
        std::size_t first_way = 0, ways = 0;  // in `ways_`
        Set set = Space::none;
    };

    Part& at(int part) { return parts_[static_cast<std::size_t>(part)]; }
    Way split(StateView state, int choice);
    int part_of(StateView state);
    bool expand(int part);
    Set set_of(const Part& part);
    Set left_of(const Way& way);

    const Reduced& reduced_;
    const Problem& problem_;
    Space& space_;
    Limits& limits_;
    Connected connected_;
    Steps steps_;
    std::vector<int> highest_;  // of each goal: a part in which it is the highest
    std::size_t work_ = 0;
    std::pmr::monotonic_buffer_resource pool_;
    std::vector<Part> parts_;
    std::pmr::unordered_map<StateView, int> index_{&pool_};
    std::vector<Way> ways_;
    std::vector<int> left_;
    State rest_, passed_, part_;  // scratch
    std::vector<Set> sets_;       // scratch
};

/// Takes the highest goal with all that it is connected with, then the highest of the rest. What is provided takes
/// nothing more, once it is the highest.
Parts::Way Parts::split(StateView state, int choice) {
    Way way{choice, left_.size(), 0};
    rest_ = state;
    while (!rest_.empty()) {
        const char32_t top = rest_.front();
        work_ += rest_.size() + part_work;
        if ((top & 1U) != 0) {
            steps_.pass(rest_, passed_);
            rest_.swap(passed_);
            continue;
        }
        steps_.split(
            rest_,
            [&](int goal) {
                return connected_.holds(static_cast<std::size_t>(goal_of(top)), static_cast<std::size_t>(goal));
            },
            part_, passed_);
        rest_.swap(passed_);
        left_.push_back(part_of(part_));
    }
    way.end = left_.size();
    return way;
}

int Parts::part_of(StateView state) {
    if (const auto known = index_.find(state); known != index_.end()) return known->second;
    const auto made = static_cast<int>(parts_.size());
    int& first = highest_[static_cast<std::size_t>(goal_of(state.front()))];
    parts_.push_back({kept(state, pool_), first});
    first = made;
    index_.emplace(parts_.back().state, made);
    return made;
}

/// Finds what is left of a part after each alternative of its highest goal. False where that has become too much work.
bool Parts::expand(int part) {
    const StateView state = at(part).state;
    const int top = goal_of(state.front());
    // So much for each goal passed: a problem that does not fall apart takes too much right from its top.
    const std::size_t most_work = small_work + goal_work * (highest_.size() - static_cast<std::size_t>(top));
    if (parts_.size() > limits_.state_limit || work_ > most_work) return false;
    const std::size_t first_way = ways_.size();
    State next;
    for (int choice = problem_.first(top); choice < problem_.first(top + 1); ++choice)
        if (steps_.choose(state, top, choice, next, [](int) { return true; })) ways_.push_back(split(next, choice));
    at(part).first_way = first_way;
    at(part).ways = ways_.size() - first_way;
    return true;
}

Set Parts::left_of(const Way& way) {
    sets_.clear();
    for (std::size_t i = way.first; i < way.end; ++i) sets_.push_back(at(left_[i]).set);
    return space_.product(sets_);
}

/// All that is left after its ways is lower, and has its set.
Set Parts::set_of(const Part& part) {
    Space::Sum sum;
    for (std::size_t w = part.first_way; w < part.first_way + part.ways; ++w)
        space_.add(sum, reduced_.sets[static_cast<std::size_t>(ways_[w].choice)], left_of(ways_[w]));
    return space_.set_of(sum);
}

}  // namespace

std::optional<Set> paths_by_parts(const Reduced& reduced, Space& space, Limits& limits) {
    return Parts(reduced, space, limits).run();
}

}  // namespace cairn::search
