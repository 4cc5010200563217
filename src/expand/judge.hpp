#pragma once

#include "canon/forms.hpp"
#include "expand/classes.hpp"

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace cairn::inline v0::expand {

/// Proves spellings: by the nodes between a spelling and its value on one side and what both are made of on the other,
/// which is taken as given there; where that is not enough, by the forms of the whole graph. The forms use no other
/// law than the spelling names.
///
///     %7 = slice %6, %6 = matmul %5, %1     %9 = matmul %8, %1, %8 = slice %5     given: %1, %5
class Judge {
public:
    /// Graph and classes must outlive it. Throws Cancelled on a stop.
    Judge(const ir::GraphData& graph, const Classes& classes, std::stop_token stop);
    bool is_proved(ir::NodeId spelling);

private:
    struct Between {
        std::vector<ir::NodeId> nodes;  ///< oldest first
        std::vector<bool> is_given;
    };
    std::optional<Between> between(ir::NodeId value, ir::NodeId spelling) const;
    canon::Scaled form_of(ir::NodeId id, bool is_given, const std::map<ir::NodeId, canon::Scaled>& forms,
                          canon::Canon& canon) const;
    bool is_proved_between(ir::NodeId value, ir::NodeId spelling);
    bool is_proved_by_all(ir::NodeId value, ir::NodeId spelling);

    const ir::GraphData& graph_;
    const Classes& classes_;
    std::stop_token stop_;
    std::vector<bool> bound_;
    std::map<std::string, canon::Canon> canons_;  // by laws
    std::map<std::string, canon::Forms> forms_;   // by laws
};

}  // namespace cairn::inline v0::expand
