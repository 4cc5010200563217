#pragma once

#include "expand/classes.hpp"
#include "fuse/tiles.hpp"
#include "select/goal.hpp"
#include "select/judge.hpp"
#include "select/known_tiles.hpp"
#include "select/looks.hpp"
#include "select/views.hpp"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

/// Which kernels can compute which tile, from operands in which form, and at what cost.
namespace cairn::inline v0::select {

/// What a kernel said to a problem.
struct KernelAnswer {
    std::string kernel;
    Refusal refusal;  ///< empty: it accepts
    Estimate estimate;
};

/// Which devices a program may use, and for what.
struct Devices {
    std::vector<Device> all{Device::cpu};
    Device of_states = Device::cpu;     ///< where the memory of states is
    std::vector<bool> may_travel = {};  ///< of each value, by its first spelling: copied between them; empty: none
    /// All are one place: what any kernel makes is there for all kernels. No program is like this, and none that copies
    /// whatever to wherever costs less. States are then on the CPU.
    bool share_memory = false;
};

/// Finds candidates; equal problems (of equal layers) are judged once.
class Candidates {
public:
    /// Throws Cancelled on a stop.
    Candidates(const ir::GraphData& graph, const expand::Classes& classes, const KernelSet& kernels,
               FeatureSet features, const CostSource& costs, bool use_packed, const std::stop_token& stop = {});
    /// Of a graph whose values have one spelling each.
    Candidates(const ir::GraphData& graph, const KernelSet& kernels, FeatureSet features, const CostSource& costs,
               bool use_packed, const std::stop_token& stop = {})
        : Candidates(graph, expand::Classes(graph), kernels, features, costs, use_packed, stop) {}
    /// From here on these costs count. Candidates found before keep theirs.
    void set_costs(const CostSource& costs) {
        judge_.set_costs(costs);
        known_tiles_.forget();
    }
    /// What a tile rounds that the program does not (Classes::rounded): a part of its candidates' errors.
    double rounding_in(const fuse::Tile& tile) const;
    /// Only the CPU, until others are told. What is given in a run lies on the CPU, and what is bound is made there but
    /// for packed forms; both are copied to other devices where they are wanted.
    void set_devices(Devices devices) {
        devices_ = std::move(devices);
        known_tiles_.forget();
    }
    const Devices& devices() const noexcept { return devices_; }

    /// All candidates of a tile: for each kernel of its definition the first form of operands it accepts among as seen,
    /// and views copied dense; and its packed form beside that; and as seen in other spellings of its operands; and
    /// with what it widens itself as that is stored, or rounded to be stored so.
    /// `cheapest`: of those with equal forms the cheapest only, in the place of the first; and less exact ones that are
    /// cheaper still.
    std::vector<Candidate> of_tile(const fuse::Tile& tile, int index, bool cheapest = false);
    /// Kernels that copy what a node sees out of the memory it is seen in, to the same device or another.
    std::vector<Candidate> of_copy(ir::NodeId node, Device from = Device::cpu, Device to = Device::cpu);
    /// Kernels that pack a bound matrix.
    std::vector<Candidate> of_packing(ir::NodeId node, std::string_view layout, Device device = Device::cpu);
    /// Lets the kernel of a chosen candidate prepare its problem. False: it could not and refuses it from then on.
    bool can_prepare(const Candidate& candidate);
    /// What every kernel said to a problem of that definition.
    std::vector<KernelAnswer> answers(const Problem& problem);
    /// Its kernel at each setting that may be used for what it was asked, the first in front; nothing without knobs.
    std::vector<const Kernel*> settings(const Candidate& candidate) {
        return judge_.settings(judge_.question(candidate.problem.kept().words()), *candidate.kernel);
    }
    /// The question that a problem is.
    Question& question(const Problem& problem) { return judge_.question(problem); }
    /// What was put to kernels when the candidates of a tile were last asked for; nothing where they never were.
    std::span<Question* const> asked_for(int tile) const;
    /// Of how many tiles nothing was known, since costs or devices were told.
    std::size_t tiles_asked() const noexcept { return known_tiles_.size(); }
    /// The value whose memory a tile output is written to: a reshape of all of a value is that value's memory.
    ir::NodeId memory_of(ir::NodeId output) const;

    const expand::Classes& classes() const noexcept { return classes_; }
    /// The value in the memory where views of it look: versions of a state lie in the state's, all others in their own.
    Goal home(ir::NodeId node, Device device = Device::cpu) const;
    /// True where the memory that a node is seen in is on the device: a state is on one.
    bool can_be_seen(ir::NodeId node, Device device) const;
    /// True where that memory is there whatever is chosen: of inputs, weights and constants, and of states.
    bool is_there(ir::NodeId node, Device device) const;
    /// True where its value is on the device in any case and copied from there to others: what is given, and what is
    /// bound, which the CPU makes.
    bool is_sent(ir::NodeId node, Device device) const;
    /// A node's value as an operand on a device, brought there where it may be.
    Source source_of(ir::NodeId node, Form form, Device device) const;
    /// True of a node that lies in the memory of another, or of a state.
    bool is_view(ir::NodeId node) const { return views_[node].base != node || is_state_version(graph_->node(node)); }
    const std::vector<ValueView>& views() const noexcept { return views_; }
    const std::vector<bool>& bound() const noexcept { return bound_; }
    const Layout* layout(std::string_view name) const noexcept;
    /// How a bound value is made from weights: equal where it is the same value in another bucket.
    std::string_view origin(ir::NodeId node) const { return origins_[node]; }
    /// The goal of a packed operand: a transposed view of a dense matrix is packed from that matrix.
    Goal packed(ir::NodeId node, std::string_view layout, Device device = Device::cpu) const;

private:
    /// A problem, and how the operands are seen in it.
    struct Asked {
        Question* question;
        Sources sources;
    };
    std::vector<ir::NodeId> seen_as(ir::NodeId value) const;
    Device memory_for(Device device) const { return devices_.share_memory ? Device::cpu : device; }
    std::vector<Sources> seen_ways(const fuse::Tile& tile, Device device) const;
    std::optional<Sources> with_copies(Sources sources) const;
    std::optional<Sources> as_stored(const Kernel& kernel, const fuse::Tile& tile, const Sources& seen,
                                     bool rounded) const;
    std::optional<Sources> as_packed(const Kernel& kernel, const Sources& seen) const;
    void add_on(Device device, const fuse::Tile& tile, int index, bool cheapest, std::vector<Candidate>& found);
    void add_forms(Device device, const fuse::Tile& tile, int index, const Sources& seen,
                   const std::optional<Sources>& dense, bool cheapest, std::vector<Candidate>& found);
    std::optional<Asked> ask(const fuse::Tile& tile, Sources sources);
    void note_asked(int tile);
    std::vector<Candidate> rounded(std::vector<Candidate> found, const fuse::Tile& tile) const;
    std::vector<Candidate> of_known(const KnownTiles::Known& known, const fuse::Tile& tile, int index);
    /// True for the tile that makes a new version of a state (not for one that copies a version).
    bool changes_state(const fuse::Tile& tile) const;
    const TensorDesc* describe(const Source& source);
    const TensorDesc* made(ir::NodeId node);
    const TensorDesc* expanded(const TensorDesc* input, const TensorDesc* output, bool is_product);
    Question* question_of(const fuse::Tile& tile, const Sources& sources);
    bool is_worth_moving(const fuse::Tile& tile, std::size_t output) const;
    bool describe_moved(const fuse::Tile& tile, std::size_t output);
    bool try_kernel(const Kernel& row, const fuse::Tile& tile, int index, const Asked& asked, bool cheapest,
                    std::vector<Candidate>& found);

    const ir::GraphData* graph_;
    expand::Classes classes_;
    const KernelSet* kernels_;
    bool use_packed_;
    Judge judge_;
    Devices devices_;
    std::vector<ValueView> views_;
    std::vector<std::string> origins_;
    std::vector<bool> bound_;
    Looks looks_;
    KnownTiles known_tiles_;
    std::vector<const TensorDesc*> made_;  // of each node, once it has been described as output
    std::map<std::pair<const TensorDesc*, const TensorDesc*>, const TensorDesc*> expanded_[2];  // of products: [1]
    std::vector<const TensorDesc*> inputs_, outputs_;                                           // scratch
    KnownTiles::Questions asked_;                                                               // for the tile at hand
    std::vector<KnownTiles::Questions> asked_for_;                                              // of each tile
};

}  // namespace cairn::inline v0::select
