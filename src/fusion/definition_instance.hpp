#pragma once

#include "cairn/kernel.hpp"
#include "graph/ir/graph_data.hpp"
#include "graph/types/small_vector.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cairn::fusion {

/// A set of operands, by number; those from the 63rd on share a bit, and one stands for the numbers of the definition.
using OperandMask = std::uint64_t;
OperandMask operand_bit(std::size_t index);
inline constexpr OperandMask number_bit = OperandMask{1} << 63;
inline constexpr OperandMask all_operands = ~OperandMask{0};

/// A definition as a simplified graph of atomic ops on operands of given dtypes and shapes.
struct DefinitionInstance {
    std::shared_ptr<ir::GraphData> graph;
    std::vector<ir::NodeId> inputs, outputs;
    std::vector<OperandMask> reads;  ///< of each node: the operands it is computed from

    /// True when output `output` has the dtype and shape of `node`.
    bool makes(std::size_t output, const ir::Node& node) const;
};

/// An instance, some constants of which hold other numbers.
struct FilledInstance {
    struct Number {
        ir::NodeId constant;
        double value;
    };
    const DefinitionInstance* instance = nullptr;
    types::SmallVector<Number, 2> numbers = {};
};

/// Builds one; nothing where the definition does not take such operands or attributes.
std::optional<DefinitionInstance> instantiate(const Definition& definition, std::span<const TensorDesc> operands,
                                              const Attributes& attributes, const std::shared_ptr<Symbols>& symbols);

/// Instances already built: identical layers ask for the same ones.
class InstanceCache {
public:
    explicit InstanceCache(std::shared_ptr<Symbols> symbols) : symbols_(std::move(symbols)) {}
    const std::optional<DefinitionInstance>& of(const Definition& definition, std::span<const TensorDesc> operands,
                                                const Attributes& attributes);

private:
    using Key = std::pair<std::string, std::vector<std::uint64_t>>;  // names of attributes | all else
    std::shared_ptr<Symbols> symbols_;
    std::map<Key, std::optional<DefinitionInstance>> known_;
};

}  // namespace cairn::fusion
