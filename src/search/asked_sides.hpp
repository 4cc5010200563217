#pragma once

#include "search/explore.hpp"
#include "search/shares.hpp"
#include "search/ties.hpp"
#include "search/unfolded.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

/// The sides of a problem (sides.hpp), each of which is asked again and again for its cheapest path.
namespace cairn::search {

/// The cheapest path of each side: what it costs with its shares, and without shared goals, and which part of its
/// shared goals it takes.
struct Cheapests {
    explicit Cheapests(std::size_t sides) : costs(sides, 0), own_costs(sides, 0), shares(sides), takes(sides) {}
    double cost() const { return std::accumulate(costs.begin(), costs.end(), 0.0); }

    std::vector<double> costs, own_costs;
    std::vector<std::vector<double>> shares;
    Takes takes;
};

/// All paths of each side, found once. What always costs the same is of one kind.
class AskedSides {
public:
    /// Finds the paths of a side.
    using Explore = std::function<Exploration(const Problem&, const Repeat&)>;

    /// The problem must outlive this object.
    AskedSides(const Problem& problem, std::span<const int> side_of, const Repeat& repeat);

    /// False where a side has no path, or cannot be searched exactly, or what is done to the blocks is not the same.
    bool add_all(const Explore& explore);
    /// Makes one of shared goals that stand in the same places of equal layers, or tells all apart. False where those
    /// of blocks do not stand in the same places.
    bool tie(bool tied);
    /// The same as tie(false); shares of those that were tied become shares of each.
    Shares untied(const Shares& tied);

    std::size_t size() const noexcept { return sides_.size(); }
    /// What is shared, by what is tied.
    const std::vector<SharedGoal>& shared_goals() const noexcept { return shared_; }
    bool is_tied() const noexcept { return is_tied_; }

    void find_cheapest(std::size_t side, const Shares& shares, Cheapests& all);
    /// How much more than the cheapest path of its side one with it costs at least, of each alternative, at the shares
    /// asked for last; 0 for those of shared goals.
    std::vector<double> above() const;
    /// The path that those of the sides are together: they meet in goals that rest on nothing. Asks once more for what
    /// was cheapest at other shares. Choices are numbered in full.
    std::vector<int> whole_path(const Cheapests& all);

private:
    struct Side {
        Excerpt own;
        Repeat repeat;
        SideChoices choices;
        std::shared_ptr<const Space> space;
        Set all;
        Unfolded paths{Space(), Space::none};
        std::vector<int> kinds = {};     // of own choices, those of shared goals first
        std::vector<double> costs = {};  // of kinds, those of shared goals at its shares
        std::vector<int> counts = {};    // of those: how many goals are tied
    };

    bool add_side(int number, const Explore& explore);
    bool are_blocks_tied() const;

    const Problem& problem_;
    std::span<const int> side_of_;
    Repeat repeat_;
    std::vector<Side> sides_;
    std::vector<SharedGoal> shared_;
    bool is_tied_ = false;
};

}  // namespace cairn::search
