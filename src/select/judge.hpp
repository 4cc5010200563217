#pragma once

#include "cairn/explanation.hpp"
#include "select/asked.hpp"
#include "select/cost.hpp"
#include "types/index.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

/// What kernels say to problems. Equal problems (of equal layers) are put to them once.
namespace cairn::inline v0::select {

/// A kernel's answer.
struct Judged {
    Refusal refusal;    ///< empty: it accepts
    Estimate estimate;  ///< of one that accepts
    bool prepared = false;
    RefusedBy by = RefusedBy::nobody;
};

/// A problem, and what the kernels asked so far have said to it.
class Question {
public:
    Question(const ShortProblem& problem, std::pmr::memory_resource& pool) : problem_(problem, pool), answers_(&pool) {}
    AskedProblem problem() const noexcept { return AskedProblem(problem_); }
    /// Calls visit(kernel, judged) for each kernel that has been asked.
    template <typename Visit>
    void for_each_answer(const Visit& visit) const {
        for (const Answer& answer : answers_) visit(*answer.kernel, answer.judged);
    }

private:
    friend class Judge;
    /// What was asked last: a refusal came there.
    enum class Asked : std::uint8_t { nothing, accepts, repeats, error, cost, workspace, all };
    struct Answer {
        const Kernel* kernel;
        Asked asked = Asked::nothing;
        Judged judged = {};
    };

    KeptProblem problem_;
    std::vector<SizedProblem> sized_;
    std::pmr::vector<Answer> answers_;
};

class Judge {
public:
    Judge(const KernelSet& kernels, FeatureSet features, const CostSource& costs, const Symbols& symbols);

    /// From here on these costs count, for what was asked already too; the rules stay.
    void set_costs(const CostSource& costs);
    /// What errors may be, of those that count now.
    double tolerance() const noexcept { return costs_.tolerance; }
    /// The question that a problem is, its descriptions being of descs(). It stays where it is.
    Question& question(const ShortProblem& problem);
    Question& question(const Problem& problem);
    Descs& descs() noexcept { return descs_; }
    /// Kernels for this definition, in list order, each at its first setting.
    std::span<const Kernel* const> kernels_of(const std::string& definition) const;
    /// The setting of a kernel that counts for a question: the first, unless another is known to be faster, or rules or
    /// the lock leave only others.
    const Kernel& best_setting(Question& question, const Kernel& kernel);
    /// A kernel at each setting that may be used for a question, the first in front; nothing of a kernel without knobs.
    std::vector<const Kernel*> settings(const Question& question, const Kernel& kernel) const;
    /// What a kernel says. The reference holds until another one is asked.
    const Judged& judged(Question& question, const Kernel& kernel) { return answer(question, kernel).judged; }
    /// Keeps the question small until it is asked again.
    static void put_away(Question& question);
    /// Lets a kernel prepare what it accepts. False: it could not and refuses it from then on.
    bool can_prepare(Question& question, const Kernel& kernel);

private:
    Question::Answer& answer(Question& question, const Kernel& kernel) const;
    void ask(Question& question, Question::Answer& answer) const;
    void ask_again(Question& question, Question::Answer& answer) const;
    std::span<const Kernel* const> settings_besides_first(const Kernel& kernel) const;
    bool is_known(Question& question, const Kernel& setting) const;
    Refusal ruled_out(const Kernel& kernel, const Question& question) const;
    bool can_do(const Kernel& kernel, const Problem& problem) const;
    Refusal accepts(const Kernel& kernel, const Question& question) const;
    Refusal repeats(const Kernel& kernel, const Problem& problem) const;
    void name_failure(Question& question, Estimate& estimate) const;
    Refusal error(const Kernel& kernel, Question& question, Estimate& estimate) const;
    Refusal look_up(const Kernel& kernel, const Question& question, Estimate& estimate) const;
    Refusal beyond_tolerance(double error, bool is_measured) const;
    Refusal workspace(const Kernel& kernel, const Question& question) const;
    std::span<const SizedProblem> sized(Question& question) const;

    FeatureSet features_;
    CostSource costs_;
    const Symbols* symbols_;
    std::vector<std::vector<std::int64_t>> sizes_;
    std::unordered_map<std::string, std::vector<const Kernel*>> kernels_;        // by definition
    std::unordered_map<std::string_view, std::vector<const Kernel*>> settings_;  // besides the first, by its id
    Descs descs_;
    std::pmr::monotonic_buffer_resource pool_;
    std::pmr::deque<Question> questions_{&pool_};
    types::Index index_;  // of `questions_`, by hash
};

}  // namespace cairn::inline v0::select
