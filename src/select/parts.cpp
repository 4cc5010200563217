#include "select/parts.hpp"

#include "cairn/error.hpp"
#include "select/region.hpp"
#include "types/hash.hpp"
#include "types/index.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

namespace cairn::inline v0::select {
namespace {

// What a part takes beside its goals.
constexpr std::size_t part_work = 8;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Which goals are connected by goals no higher than themselves. The highest of a connected set stands above all
/// others: so the sets are the subtrees of a forest.
class Connected {
public:
    explicit Connected(const SearchProblem& problem);
    /// Whether a goal is connected with `top`, a higher one, by goals no higher than `top`.
    bool holds(std::size_t top, std::size_t goal) const {
        return place_[goal] >= place_[top] && place_[goal] < place_[top] + size_[top];
    }

private:
    std::vector<std::size_t> place_, size_;  // of each subtree: where it lies when the forest is laid out, and how much
};

Connected::Connected(const SearchProblem& problem) : place_(problem.goals.size()), size_(problem.goals.size(), 1) {
    const std::size_t count = problem.goals.size();
    std::vector<std::size_t> above(count, count), link(count);
    const auto top_of = [&](std::size_t goal) {
        while (link[goal] != goal) goal = link[goal] = link[link[goal]];
        return goal;
    };
    for (std::size_t g = 0; g < count; ++g) {
        link[g] = g;
        for (const Alternative& alternative : problem.goals[g])
            for (const auto* goals : {&alternative.needs, &alternative.provides})
                for (const int goal : *goals)
                    if (const std::size_t top = top_of(static_cast<std::size_t>(goal)); top != g) {
                        link[top] = above[top] = g;
                        size_[g] += size_[top];
                    }
    }
    std::vector<std::size_t> next(count + 1, 0);
    for (std::size_t g = count; g-- > 0;) {
        place_[g] = next[above[g]];
        next[above[g]] += size_[g];
        next[g] = place_[g] + 1;
    }
}

class PartsSearch {
public:
    PartsSearch(const SearchProblem& problem, const SearchOptions& options)
        : problem_(problem), options_(options), connected_(problem), highest_(problem.goals.size(), none) {}

    std::optional<PartsResult> run() {
        Frontier roots;
        for (const int root : problem_.roots) add_goal(roots, static_cast<char32_t>(root), false);
        const Way start = split(roots, 0);
        for (std::size_t g = highest_.size(); g-- > 0;)
            for (int part = highest_[g]; part != none; part = at(part).next)
                if (!expand(part)) return std::nullopt;
        for (const int first : highest_)
            for (int part = first; part != none; part = at(part).next) evaluate(at(part));
        PartsResult result;
        result.states = parts_.size();
        result.cost = cost_of(start);
        if (result.cost < infinity) collect(start, result);
        return result;
    }

private:
    static constexpr int none = -1;

    /// An alternative, and the parts that are left after it.
    struct Way {
        int alternative;
        std::size_t first, end;  // in `left_`
    };
    /// Pending goals of one connected set; the highest is not provided.
    struct Part {
        std::size_t begin, size;              // in `codes_`
        int next;                             // of the parts with the same highest goal
        std::size_t first_way = 0, ways = 0;  // in `ways_`
        double cost = infinity;
        std::size_t best = 0;
    };

    Part& at(int part) { return parts_[static_cast<std::size_t>(part)]; }
    std::span<const char32_t> goals_of(const Part& part) const {
        return std::span(codes_).subspan(part.begin, part.size);
    }
    static std::size_t goal_of(char32_t code) { return code >> 1; }

    Way split(const Frontier& pending, int alternative);
    int part_of(std::span<const char32_t> goals);
    bool expand(int part);
    void evaluate(Part& part);
    double cost_of(const Way& way) {
        double cost = 0;
        for (std::size_t i = way.first; i < way.end; ++i) cost += at(left_[i]).cost;
        return cost;
    }
    void collect(const Way& start, PartsResult& result);

    const SearchProblem& problem_;
    const SearchOptions& options_;
    Connected connected_;
    std::vector<int> highest_;  // of each goal: a part in which it is the highest
    std::size_t work_ = 0;
    std::vector<Part> parts_;
    std::vector<char32_t> codes_;
    std::vector<Way> ways_;
    std::vector<int> left_;
    types::Index index_;    // of `parts_`, by hash
    Frontier rest_, part_;  // scratch
};

/// Takes the highest goal with all that it is connected with, then the highest of the rest. What is provided takes
/// nothing more, once it is the highest.
PartsSearch::Way PartsSearch::split(const Frontier& pending, int alternative) {
    Way way{alternative, left_.size(), 0};
    rest_ = pending;
    while (!rest_.empty()) {
        const char32_t top = rest_.front();
        work_ += rest_.size() + part_work;
        if ((top & 1U) != 0) {
            rest_.erase(0, 1);
            continue;
        }
        part_.clear();
        std::size_t kept = 0;
        for (const char32_t code : rest_)
            if (connected_.holds(goal_of(top), goal_of(code)))
                part_.push_back(code);
            else
                rest_[kept++] = code;
        rest_.resize(kept);
        left_.push_back(part_of(part_));
    }
    way.end = left_.size();
    return way;
}

int PartsSearch::part_of(std::span<const char32_t> goals) {
    std::size_t hash = goals.size();
    for (const char32_t code : goals) types::mix(hash, code);
    int known = none;
    index_.each(hash, [&](std::uint32_t number) {
        if (known == none && std::ranges::equal(goals_of(parts_[number]), goals)) known = static_cast<int>(number);
    });
    if (known != none) return known;
    const auto made = static_cast<int>(parts_.size());
    index_.add(hash, static_cast<std::uint32_t>(made));
    int& first = highest_[goal_of(goals.front())];
    parts_.push_back({codes_.size(), goals.size(), first});
    first = made;
    codes_.insert(codes_.end(), goals.begin(), goals.end());
    return made;
}

/// Finds what is left of a part after each alternative of its highest goal. False where that has become too much work.
bool PartsSearch::expand(int part) {
    if (options_.stop.stop_requested()) throw Cancelled("select");
    const std::span<const char32_t> goals = goals_of(at(part));
    const std::size_t top = goal_of(goals.front());
    // So much for each goal passed: a problem that does not fall apart takes too much right from its top.
    const std::size_t most_work = small_work + goal_work * (highest_.size() - top);
    if (parts_.size() > options_.state_limit || work_ > most_work) return false;
    const Frontier rest(goals.begin() + 1, goals.end());
    at(part).first_way = ways_.size();
    const auto& alternatives = problem_.goals[top];
    Frontier next;
    for (std::size_t a = 0; a < alternatives.size(); ++a) {
        // A value has one maker: what is provided already is not provided again.
        const auto& provides = alternatives[a].provides;
        if (std::any_of(provides.begin(), provides.end(),
                        [&](int goal) { return is_provided(rest, static_cast<char32_t>(goal)); }))
            continue;
        next = rest;
        for (const int need : alternatives[a].needs) add_goal(next, static_cast<char32_t>(need), false);
        for (const int goal : provides) add_goal(next, static_cast<char32_t>(goal), true);
        ways_.push_back(split(next, static_cast<int>(a)));
    }
    at(part).ways = ways_.size() - at(part).first_way;
    return true;
}

/// All that is left after its ways is lower, and has been evaluated.
void PartsSearch::evaluate(Part& part) {
    const auto& alternatives = problem_.goals[goal_of(codes_[part.begin])];
    for (std::size_t w = part.first_way; w < part.first_way + part.ways; ++w) {
        const double cost = alternatives[static_cast<std::size_t>(ways_[w].alternative)].cost + cost_of(ways_[w]);
        if (cost < part.cost) part.cost = cost, part.best = w;
    }
}

void PartsSearch::collect(const Way& start, PartsResult& result) {
    std::vector<int> open(left_.begin() + static_cast<std::ptrdiff_t>(start.first),
                          left_.begin() + static_cast<std::ptrdiff_t>(start.end));
    while (!open.empty()) {
        const Part& part = at(open.back());
        open.pop_back();
        const Way& way = ways_[part.best];
        result.choices.emplace_back(static_cast<int>(goal_of(codes_[part.begin])), way.alternative);
        for (std::size_t i = way.first; i < way.end; ++i) open.push_back(left_[i]);
    }
}

}  // namespace

std::optional<PartsResult> search_parts(const SearchProblem& problem, const SearchOptions& options) {
    return PartsSearch(problem, options).run();
}

}  // namespace cairn::inline v0::select
