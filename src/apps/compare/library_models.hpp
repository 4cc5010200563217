#pragma once

#include "apps/compare/implementation.hpp"

#include <memory>

/// The models of cairn::models as implementations in this process. Times include the tokenizer.
namespace cairn::compare {

std::unique_ptr<Implementation> make_encoder(const ImplementationSettings& implementation, const Settings& settings);
std::unique_ptr<Implementation> make_decoder(const ImplementationSettings& implementation, const Settings& settings);
std::unique_ptr<Implementation> make_lexicon(const ImplementationSettings& implementation, const Settings& settings);

}  // namespace cairn::compare
