#pragma once

#include "expand/classes.hpp"
#include "fuse/tiles.hpp"
#include "select/goal.hpp"
#include "select/judge.hpp"
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

/// How an operand of a candidate is wanted.
enum class Form : std::uint8_t {
    seen,    ///< where it lies, through its view
    dense,   ///< copied to memory of its own
    packed,  ///< in a packed layout
};

/// One operand: what has to be there, and how the kernel sees it.
struct Source {
    ir::NodeId node = 0;  ///< a spelling of the tile's input
    Form form = Form::seen;
    std::string_view layout;  ///< of a packed operand, as the kernel names it
    friend bool operator==(const Source&, const Source&) = default;
};

/// Those of a candidate: mostly few.
using Sources = types::ShortList<Source, 3>;

/// What a kernel said to a problem, for explain().
struct Verdict {
    std::string kernel;
    Refusal refusal;  ///< empty: it accepts
    Estimate estimate;
};

/// A kernel for a tile.
struct Candidate {
    int tile = -1;  ///< index among the tiles; -1 for a dense copy or a packing
    const Kernel* kernel = nullptr;
    AskedProblem problem;  ///< valid as long as the Candidates it is of
    Sources sources;       ///< of each problem input
    fuse::Nodes outputs;   ///< values that it makes, dense, each by its first spelling
    Estimate estimate;
};

/// Finds candidates; equal problems (of equal layers) are judged once.
class Candidates {
public:
    /// Throws Cancelled on a stop.
    Candidates(const ir::GraphData& graph, const expand::Classes& classes, const KernelSet& kernels, Isa isa,
               const CostSource& costs, bool use_packed, const std::stop_token& stop = {});
    /// Of a graph whose values have one spelling each.
    Candidates(const ir::GraphData& graph, const KernelSet& kernels, Isa isa, const CostSource& costs, bool use_packed,
               const std::stop_token& stop = {})
        : Candidates(graph, expand::Classes(graph), kernels, isa, costs, use_packed, stop) {}
    /// From here on these costs count. Candidates found before keep theirs.
    void set_costs(const CostSource& costs) { judge_.set_costs(costs); }

    /// All candidates of a tile: for each kernel of its definition the first form of operands it accepts among as seen,
    /// and views copied dense; and its packed form beside that; and as seen in other spellings of its operands.
    /// `cheapest`: of those with equal forms the cheapest only, in the place of the first; and less exact ones that are
    /// cheaper still.
    std::vector<Candidate> of_tile(const fuse::Tile& tile, int index, bool cheapest = false);
    /// Kernels that copy what a movement node sees out of the memory it is seen in.
    std::vector<Candidate> of_copy(ir::NodeId node);
    /// Kernels that pack a bound matrix.
    std::vector<Candidate> of_packing(ir::NodeId node, std::string_view layout);
    /// Lets the kernel of a chosen candidate prepare its problem. False: it could not and refuses it from then on.
    bool can_prepare(const Candidate& candidate);
    /// What every kernel said to a problem of that definition.
    std::vector<Verdict> verdicts(const Problem& problem);
    /// The kernels that were refused for their errors, whatever else was chosen.
    std::vector<Inexact> refused_for_errors() { return judge_.refused_for_errors(); }

    const expand::Classes& classes() const noexcept { return classes_; }
    /// The value in the memory where views of it look: versions of a state lie in the state's, all others in their own.
    Goal home(ir::NodeId node) const;
    const std::vector<ValueView>& views() const noexcept { return views_; }
    const std::vector<bool>& bound() const noexcept { return bound_; }
    const Layout* layout(std::string_view name) const noexcept;
    /// How a bound value is made from weights: equal where it is the same value in another bucket.
    std::string_view origin(ir::NodeId node) const { return origins_[node]; }
    /// The goal of a packed operand: a transposed view of a dense matrix is packed from that matrix.
    Goal packed(ir::NodeId node, std::string_view layout) const;

private:
    /// A problem, and how the operands are seen in it.
    struct Asked {
        Question* question;
        Sources sources;
    };
    void find_origins(const std::stop_token& stop);
    std::vector<ir::NodeId> seen_as(ir::NodeId value) const;
    std::vector<Sources> seen_ways(const fuse::Tile& tile) const;
    std::optional<Sources> with_copies(Sources sources) const;
    void add_forms(const fuse::Tile& tile, int index, const Sources& seen, const std::optional<Sources>& dense,
                   bool cheapest, std::vector<Candidate>& found);
    Asked ask(const fuse::Tile& tile, Sources sources);
    const TensorDesc* describe(const Source& source);
    const TensorDesc* made(ir::NodeId node);
    const TensorDesc* expanded(const TensorDesc* input, const TensorDesc* output, const std::string& definition);
    ir::NodeId memory_of(ir::NodeId output) const;
    Question& question_of(const fuse::Tile& tile, const Sources& sources);
    bool try_kernel(const Kernel& kernel, const fuse::Tile& tile, int index, const Asked& asked, bool cheapest,
                    std::vector<Candidate>& found);

    const ir::GraphData* graph_;
    expand::Classes classes_;
    const KernelSet* kernels_;
    bool use_packed_;
    Judge judge_;
    std::vector<ValueView> views_;
    std::vector<bool> bound_;
    std::vector<const TensorDesc*> seen_, made_;  // of each node, once it has been described: as operand, as output
    std::map<std::pair<const TensorDesc*, const TensorDesc*>, const TensorDesc*> expanded_[2];  // of products: [1]
    std::vector<const TensorDesc*> inputs_, outputs_;                                           // scratch
    std::vector<std::string> origins_;                                                          // of bound values
};

}  // namespace cairn::inline v0::select
