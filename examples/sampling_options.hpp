#pragma once

#include "cairn/text/sampler.hpp"

#include <CLI/CLI.hpp>

#include <string>

/// Command line options of programs that sample tokens.
namespace sampling {

struct Options {
    cairn::text::SamplerOptions sampler;
    bool greedy = false;
    bool ignore_eos = false;
};

void add_options(CLI::App& app, Options& options);

/// Throws cairn::Error(argument) for options that have no effect beside another one.
void refuse_without_effect(const CLI::App& app, const Options& options);

/// Throws the same, with a reason, if one of the options was given: the program writes no text.
void refuse_given(const CLI::App& app, const std::string& reason);

cairn::text::Sampler sampler(const Options& options);

}  // namespace sampling
