#pragma once

#include "fusion/match.hpp"
#include "rewrite/alternatives/e_classes.hpp"
#include "selection/candidates/candidate_cache.hpp"
#include "selection/candidates/goal.hpp"
#include "selection/candidates/kernel_query.hpp"
#include "selection/candidates/value_signature.hpp"
#include "selection/candidates/views.hpp"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

/// Which kernels can compute which tile, from operands in which form, and at what cost.
namespace cairn::selection {

/// What a kernel said to a problem.
struct KernelAnswer {
    std::string kernel;
    Refusal refusal;  ///< empty: it accepts
    Estimate estimate;
};

/// Which devices a program may use, and for what.
struct Devices {
    std::vector<Device> all{Device::cpu};
    Device of_states = Device::cpu;       ///< where the memory of states is
    std::vector<bool> transferable = {};  ///< of each value, by its first spelling: copied between them; empty: none
    /// All are one place: what any kernel makes is there for all kernels. No program is like this, and none that copies
    /// whatever to wherever costs less. States are then on the CPU.
    bool share_memory = false;
};

/// Finds candidates; equal problems (of equal layers) are judged once.
class Candidates {
public:
    /// Throws Cancelled on a stop.
    Candidates(const ir::GraphData& graph, const alternatives::EClasses& classes, const KernelSet& kernels,
               FeatureSet features, const CostModel& costs, bool use_packed, const std::stop_token& stop = {});
    /// Of a graph whose values have one spelling each.
    Candidates(const ir::GraphData& graph, const KernelSet& kernels, FeatureSet features, const CostModel& costs,
               bool use_packed, const std::stop_token& stop = {})
        : Candidates(graph, alternatives::EClasses(graph), kernels, features, costs, use_packed, stop) {}
    /// From here on these costs count. Candidates found before keep theirs.
    void set_costs(const CostModel& costs) {
        query_cache_.set_costs(costs);
        candidate_cache_.forget();
    }
    /// What a tile rounds that the program does not (EClasses::rounded): a part of its candidates' errors.
    double rounding_in(const fusion::Match& match) const;
    /// Only the CPU, until others are told. What is given in a run lies on the CPU, and what is bound is made there but
    /// for packed forms; both are copied to other devices where they are wanted.
    void set_devices(Devices devices) {
        devices_ = std::move(devices);
        candidate_cache_.forget();
    }
    const Devices& devices() const noexcept { return devices_; }

    /// All candidates of a tile: for each kernel of its definition the first form of operands it accepts among as seen,
    /// and views copied dense; and its packed form beside that; and as seen in other spellings of its operands; and
    /// with what it widens itself as that is stored, or rounded to be stored so.
    /// `cheapest`: of those with equal forms the cheapest only, in the place of the first; and less exact ones that are
    /// cheaper still.
    std::vector<Candidate> of_match(const fusion::Match& match, int index, bool cheapest = false);
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
        return query_cache_.settings(query_cache_.query(candidate.problem.kept().ref()), *candidate.kernel);
    }
    /// The question that a problem is.
    KernelQuery& query(const Problem& problem) { return query_cache_.query(problem); }
    /// What was put to kernels when the candidates of a tile were last asked for; nothing where they never were.
    std::span<KernelQuery* const> queries_for(int match) const;
    /// Of how many tiles nothing was known, since costs or devices were told.
    std::size_t matches_asked() const noexcept { return candidate_cache_.size(); }
    /// The value whose memory a tile output is written to: a reshape of all of a value is that value's memory.
    ir::NodeId memory_of(ir::NodeId output) const;

    const alternatives::EClasses& classes() const noexcept { return classes_; }
    /// The value in the memory where views of it look: versions of a state lie in the state's, all others in their own.
    Goal storage_goal(ir::NodeId node, Device device = Device::cpu) const;
    /// True where the memory that a node is seen in is on the device: a state is on one.
    bool can_be_viewed(ir::NodeId node, Device device) const;
    /// True where that memory is there whatever is chosen: of inputs, weights and constants, and of states.
    bool is_available(ir::NodeId node, Device device) const;
    /// True where its value is on the device in any case and copied from there to others: what is given, and what is
    /// bound, which the CPU makes.
    bool is_transfer_source(ir::NodeId node, Device device) const;
    /// A node's value as an operand on a device, brought there where it may be.
    KernelOperand operand_of(ir::NodeId node, OperandForm form, Device device) const;
    /// True of a node that lies in the memory of another, or of a state.
    bool is_view(ir::NodeId node) const { return views_[node].base != node || is_state_version(graph_->node(node)); }
    const std::vector<ValueView>& views() const noexcept { return views_; }
    const std::vector<bool>& bound() const noexcept { return bound_; }
    const Layout* layout(std::string_view name) const noexcept;
    /// How a bound value is made from weights: equal where it is the same value in another bucket.
    std::string_view bound_digest(ir::NodeId node) const { return bound_digests_[node]; }
    /// The goal of a packed operand: a transposed view of a dense matrix is packed from that matrix.
    Goal packed(ir::NodeId node, std::string_view layout, Device device = Device::cpu) const;

private:
    /// A problem, and how the operands are seen in it.
    struct OperandQuery {
        KernelQuery* query;
        KernelOperands operands;
    };
    std::vector<ir::NodeId> strided_expressions(ir::NodeId value) const;
    Device memory_for(Device device) const { return devices_.share_memory ? Device::cpu : device; }
    std::vector<KernelOperands> strided_alternatives(const fusion::Match& match, Device device) const;
    std::optional<KernelOperands> with_copies(KernelOperands operands) const;
    std::optional<KernelOperands> as_stored(const Kernel& kernel, const fusion::Match& match,
                                            const KernelOperands& strided, bool rounded) const;
    std::optional<KernelOperands> as_packed(const Kernel& kernel, const KernelOperands& strided) const;
    void add_on_device(Device device, const fusion::Match& match, int index, bool cheapest,
                       std::vector<Candidate>& found);
    void add_operand_forms(Device device, const fusion::Match& match, int index, const KernelOperands& strided,
                           const std::optional<KernelOperands>& dense, bool cheapest, std::vector<Candidate>& found);
    std::optional<OperandQuery> make_query(const fusion::Match& match, KernelOperands operands);
    void note_queries(int match);
    std::vector<Candidate> rounded(std::vector<Candidate> found, const fusion::Match& match) const;
    std::vector<Candidate> from_cache(const CandidateCache::CachedCandidates& known, const fusion::Match& match,
                                      int index);
    /// True for the tile that makes a new version of a state (not for one that copies a version).
    bool changes_state(const fusion::Match& match) const;
    const TensorDesc* describe(const KernelOperand& operand);
    const TensorDesc* dense_desc(ir::NodeId node);
    const TensorDesc* expanded(const TensorDesc* input, const TensorDesc* output, bool is_product);
    KernelQuery* query_of(const fusion::Match& match, const KernelOperands& operands);
    bool is_worth_moving(const fusion::Match& match, std::size_t output) const;
    bool describe_result_view(const fusion::Match& match, std::size_t output);
    bool try_kernel(const Kernel& row, const fusion::Match& match, int index, const OperandQuery& asked, bool cheapest,
                    std::vector<Candidate>& found);

    const ir::GraphData* graph_;
    alternatives::EClasses classes_;
    const KernelSet* kernels_;
    bool use_packed_;
    KernelQueryCache query_cache_;
    Devices devices_;
    std::vector<ValueView> views_;
    std::vector<std::string> bound_digests_;
    std::vector<bool> bound_;
    ValueSignatures signatures_;
    CandidateCache candidate_cache_;
    std::vector<const TensorDesc*> dense_descs_;  // of each node, once it has been described as output
    std::map<std::pair<const TensorDesc*, const TensorDesc*>, const TensorDesc*> expanded_[2];  // of products: [1]
    std::vector<const TensorDesc*> inputs_, outputs_;                                           // scratch
    CandidateCache::Questions queries_;                                                         // for the tile at hand
    std::vector<CandidateCache::Questions> queries_by_match_;                                   // of each tile
};

}  // namespace cairn::selection
