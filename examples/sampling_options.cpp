#include "examples/sampling_options.hpp"

#include "examples/support.hpp"

namespace sampling {

void add_options(CLI::App& app, Options& options) {
    app.add_flag("--greedy", options.greedy, "always take the most likely token");
    app.add_option("--temperature", options.sampler.temperature,
                   "logits are divided by it: below 1 likely tokens become likelier, above 1 less so, 0 is greedy");
    app.add_option("--top-k", options.sampler.top_k, "sample among the k most likely tokens; 0 is off");
    app.add_option("--top-p", options.sampler.top_p,
                   "sample among the most likely tokens that together have this probability; 1 is off");
    app.add_option("--repetition-penalty", options.sampler.repetition_penalty,
                   "above 1 penalizes tokens that occurred before");
    app.add_option("--seed", options.sampler.seed, "equal seeds give equal texts");
    app.add_flag("--ignore-eos", options.ignore_eos, "go on after the end-of-text token");
}

void refuse_without_effect(const CLI::App& app, const Options& options) {
    const std::initializer_list<const char*> choices = {"--top-k", "--top-p", "--seed"};
    if (options.greedy) {
        support::refuse_given(app, {"--temperature"}, "--greedy always takes the most likely token");
        support::refuse_given(app, choices, "--greedy always takes the most likely token");
    }
    if (options.sampler.temperature == 0)
        support::refuse_given(app, choices, "temperature 0 always takes the most likely token");
}

void refuse_given(const CLI::App& app, const std::string& reason) {
    support::refuse_given(
        app, {"--greedy", "--temperature", "--top-k", "--top-p", "--repetition-penalty", "--seed", "--ignore-eos"},
        reason);
}

cairn::text::Sampler sampler(const Options& options) {
    cairn::text::SamplerOptions chosen = options.sampler;
    if (options.greedy) chosen.temperature = 0;
    return cairn::text::Sampler(chosen);
}

}  // namespace sampling
