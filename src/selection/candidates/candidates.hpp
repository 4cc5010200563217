#pragma once

#include "fusion/match.hpp"
#include "graph/types/layouts.hpp"
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

/// Candidates of a match: the kernels that can compute it, the forms of their operands, and their costs.
namespace cairn::selection {

/// A kernel's answer to a problem.
struct KernelAnswer {
    std::string kernel;
    Refusal refusal;  ///< empty: accepted
    Estimate estimate;
};

/// The devices whose memory holds the inputs and outputs of a graph, by name; the CPU for all others.
struct PortDevices {
    using ByName = std::map<std::string, Device, std::less<>>;
    ByName inputs = {}, outputs = {};
};

/// The devices that a program may use.
struct Devices {
    std::vector<Device> all{Device::cpu};
    Device of_states = Device::cpu;  ///< device whose memory holds the states
    PortDevices of_ports = {};
    std::vector<bool> transferable = {};  ///< by value (first expression): may be copied between devices; empty: none
    /// A relaxation in which all devices share one memory: the results of any kernel are available to all kernels. Its
    /// cost is a lower bound for programs that copy between devices. States and ports are then on the CPU.
    bool share_memory = false;
};

/// Finds candidates; equal problems (of equal layers) are queried once.
class Candidates {
public:
    /// Throws Cancelled on a stop.
    Candidates(const ir::GraphData& graph, const alternatives::EClasses& classes, const KernelSet& kernels,
               FeatureSet features, const CostModel& costs, bool use_packed, const std::stop_token& stop = {});
    /// For a graph whose values have one expression each.
    Candidates(const ir::GraphData& graph, const KernelSet& kernels, FeatureSet features, const CostModel& costs,
               bool use_packed, const std::stop_token& stop = {})
        : Candidates(graph, alternatives::EClasses(graph), kernels, features, costs, use_packed, stop) {}
    /// Replaces the costs. Candidates found before keep theirs.
    void set_costs(const CostModel& costs) {
        query_cache_.set_costs(costs);
        candidate_cache_.forget();
    }
    /// The error of roundings that a match does and the program does not (EClasses::rounded); part of its candidates'
    /// errors.
    double rounding_in(const fusion::Match& match) const;
    /// The devices to use; by default the CPU alone. Bound values are computed on the CPU except for packed forms;
    /// they and the inputs of a run are copied to other devices where they are needed.
    void set_devices(Devices devices) {
        devices_ = std::move(devices);
        candidate_cache_.forget();
    }
    const Devices& devices() const noexcept { return devices_; }
    /// The device whose memory holds an input, or an output, of the graph.
    Device device_of_input(ir::NodeId input) const;
    Device device_of_output(const ir::Output& output) const;

    /// Finds the layouts in which kernels can write the results of these matches: computed layouts in a run, packed
    /// ones at bind; within a tolerance also those to which kernels quantize large bound operands. Needed before
    /// of_match().
    void find_layouts(std::span<const fusion::Match> matches);
    /// The layouts in which kernels can write a value, named by its first expression; in order of the matches. A value
    /// of a run that is a reshape of an entire value also has the layouts of that value; a bound matrix that is a view
    /// of a written one, plain or transposed, has those of that matrix, by the names that describe the view.
    std::span<const std::string_view> layouts_of(ir::NodeId value) const noexcept;
    /// The bytes of a bound value in the layout of a goal, without the padding of small matrices.
    double bytes_of(const Goal& goal) const;
    /// The price of these bytes if the goal keeps them, as bytes in the memory of the host.
    double priced_bytes_of(const Goal& goal) const;
    /// The tensor that the memory of a goal in a layout holds, with the layout.
    TensorDesc tensor_in_layout(const Goal& goal) const;
    /// All candidates of a match. Each kernel of its definition is queried with operands read in place and, if it
    /// refuses those, with dense copies of views; beside that with its packed operands, with operands in computed
    /// layouts, with other expressions of its operands, and with operands that it widens itself, as they are stored or
    /// rounded for it; each with plain results and with results in the layouts that it writes. `cheapest`: of
    /// candidates with equal operand forms and equal layouts of results only the cheapest, in the position of the
    /// first, and less exact ones that are cheaper still.
    std::vector<Candidate> of_match(const fusion::Match& match, int index, bool cheapest = false);
    /// Kernels that copy a node out of the memory that it is a view of, to the same device or another.
    std::vector<Candidate> of_copy(ir::NodeId node, Device from = Device::cpu, Device to = Device::cpu);
    /// Kernels that copy a value from a computed layout to plain memory of the same device.
    std::vector<Candidate> of_layout_copy(ir::NodeId value, std::string_view layout, Device device);
    /// Kernels that pack a bound matrix. Throws Error(unsupported) for an unknown layout.
    std::vector<Candidate> of_packing(ir::NodeId node, std::string_view layout, Device device = Device::cpu);
    /// Lets the kernel of a chosen candidate prepare its problem. False: preparing failed, and it refuses it from then
    /// on.
    bool can_prepare(const Candidate& candidate);
    /// The answer of every kernel of the problem's definition.
    std::vector<KernelAnswer> answers(const Problem& problem);
    /// The candidate's kernel at each setting allowed for its problem, the first in front; empty without knobs.
    std::vector<const Kernel*> settings(const Candidate& candidate) {
        return query_cache_.settings(query_cache_.query(candidate.problem.kept().ref()), *candidate.kernel);
    }
    /// The query of a problem.
    KernelQuery& query(const Problem& problem) { return query_cache_.query(problem); }
    /// The queries made when the candidates of a match were last computed; empty if they never were.
    std::span<KernelQuery* const> queries_for(int match) const;
    /// Number of different matches queried since costs or devices last changed.
    std::size_t queried_matches() const noexcept { return candidate_cache_.size(); }
    /// The value whose memory a match's output is written to: a reshape of an entire value shares that value's memory.
    ir::NodeId memory_of(ir::NodeId output) const;

    const alternatives::EClasses& classes() const noexcept { return classes_; }
    /// The goal that provides the memory of a node's value: the state's memory for versions of a state, otherwise its
    /// own.
    Goal storage_goal(ir::NodeId node, Device device = Device::cpu) const;
    /// The goal of an output of a candidate.
    Goal output_goal(const Candidate& candidate, std::size_t output) const;
    /// True if it is the goal of an output; false for a goal that a copy or a packing produces.
    bool is_output_goal(const Goal& goal, const Candidate& candidate) const;
    /// True if the memory that a node is a view of may be on the device; a state is on one device only.
    bool can_be_viewed(ir::NodeId node, Device device) const;
    /// True if that memory exists whatever is selected: inputs, weights, constants and states.
    bool is_available(ir::NodeId node, Device device) const;
    /// True if its value is on the device in any case and copied from there to others: inputs, and bound values
    /// that the CPU computes.
    bool is_transfer_source(ir::NodeId node, Device device) const;
    /// A node's value as an operand on a device; `transferred` if it may have been copied there.
    KernelOperand operand_of(ir::NodeId node, OperandForm form, Device device) const;
    /// True if a node lies in the memory of another node or of a state.
    bool is_view(ir::NodeId node) const { return views_[node].base != node || is_state_version(graph_->node(node)); }
    /// True if the node is a reshape of another, entire value, in the memory of that value.
    bool is_reshaped(ir::NodeId node) const;
    const std::vector<ValueView>& views() const noexcept { return views_; }
    const std::vector<bool>& bound() const noexcept { return bound_; }
    const Layout* layout(std::string_view name) const noexcept { return types::find_layout(kernels_->layouts, name); }
    /// Digest of the computation of a bound value from weights: equal for the same value in another bucket.
    std::string_view bound_digest(ir::NodeId node) const { return bound_digests_[node]; }
    /// The goal of an operand in a layout. A transposed view of a dense matrix is packed from that matrix.
    Goal packed(ir::NodeId node, std::string_view layout, Device device = Device::cpu) const;

private:
    /// A query, and the operands that it was made with.
    struct OperandQuery {
        KernelQuery* query;
        KernelOperands operands;
    };
    std::vector<ir::NodeId> strided_expressions(ir::NodeId value) const;
    /// True for a bound value that the CPU computes: all but those that a copy_to pins.
    bool is_bound_on_cpu(ir::NodeId node) const;
    Device memory_for(Device device) const { return devices_.share_memory ? Device::cpu : device; }
    std::vector<KernelOperands> strided_alternatives(const fusion::Match& match, Device device) const;
    std::optional<KernelOperands> with_copies(KernelOperands operands) const;
    std::optional<KernelOperands> as_stored(const Kernel& kernel, const fusion::Match& match,
                                            const KernelOperands& strided, std::optional<DType> rounded) const;
    std::vector<DType> rounded_dtypes(const Kernel& kernel, const fusion::Match& match) const;
    std::vector<KernelOperands> as_packed(const Kernel& kernel, const KernelOperands& strided) const;
    const TensorDesc* written_at_bind(const Goal& goal) const;
    TensorDesc packed_tensor(const Goal& goal) const;
    void add_quantized_layouts(std::span<const fusion::Match> matches, std::vector<LayoutNames>& found);
    std::string_view layout_through_view(ir::NodeId node, const Shape& matrix, std::string_view name) const;
    std::vector<KernelOperands> in_computed_layouts(const Kernel& kernel, const KernelOperands& operands) const;
    LayoutNames written_layouts(const Kernel& kernel, const fusion::Match& match, KernelQuery& plain);
    void add_on_device(Device device, const fusion::Match& match, int index, bool cheapest,
                       std::vector<Candidate>& found);
    void add_operand_forms(Device device, const fusion::Match& match, int index, const KernelOperands& strided,
                           const std::optional<KernelOperands>& dense, bool cheapest, std::vector<Candidate>& found);
    std::optional<OperandQuery> make_query(const fusion::Match& match, KernelOperands operands);
    void note_queries(int match);
    std::vector<Candidate> rounded(std::vector<Candidate> found, const fusion::Match& match) const;
    std::vector<Candidate> from_cache(const CandidateCache::CachedCandidates& known, const fusion::Match& match,
                                      int index);
    /// True for the match that makes a new version of a state (not for one that copies a version).
    bool changes_state(const fusion::Match& match) const;
    const TensorDesc* describe(const KernelOperand& operand);
    const TensorDesc* dense_desc(ir::NodeId node);
    const TensorDesc* expanded(const TensorDesc* input, const TensorDesc* output, bool is_product);
    KernelQuery* query_of(const fusion::Match& match, const KernelOperands& operands, const LayoutNames& layouts = {});
    bool is_worth_moving(const fusion::Match& match, std::size_t output) const;
    bool describe_result_view(const fusion::Match& match, std::size_t output);
    bool try_kernel(const Kernel& row, const fusion::Match& match, int index, const OperandQuery& asked, bool cheapest,
                    std::vector<Candidate>& found, const LayoutNames& layouts = {});
    bool try_outputs(const Kernel& row, const fusion::Match& match, int index, const OperandQuery& asked, bool cheapest,
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
    std::vector<LayoutNames> layouts_;  // of each value; no element if no kernel writes layouts
    std::map<ir::NodeId, std::vector<const TensorDesc*>> written_at_bind_;  // of bound values, as kernels write them
    ValueSignatures signatures_;
    CandidateCache candidate_cache_;
    std::vector<const TensorDesc*> dense_descs_;  // of each node, once described as an output
    std::map<std::pair<const TensorDesc*, const TensorDesc*>, const TensorDesc*> expanded_[2];  // [1]: of products
    std::vector<const TensorDesc*> inputs_, outputs_;                                           // scratch
    CandidateCache::Queries queries_;                                                           // of the current match
    std::vector<CandidateCache::Queries> queries_by_match_;                                     // by match
};

}  // namespace cairn::selection
