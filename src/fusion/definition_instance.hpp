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

/// A set of operands, by index; operands from the 63rd on share a bit, and one bit stands for the definition's numbers.
using OperandMask = std::uint64_t;
OperandMask operand_bit(std::size_t index);
inline constexpr OperandMask number_bit = OperandMask{1} << 63;
inline constexpr OperandMask all_operands = ~OperandMask{0};

/// A definition, expanded to a simplified graph of atomic ops for operands of given dtypes and shapes.
struct DefinitionInstance {
    std::shared_ptr<ir::GraphData> graph;
    std::vector<ir::NodeId> inputs, outputs;
    std::vector<OperandMask> reads;  ///< by node: the operands it is computed from

    /// True if output `output` has the dtype and shape of `node`.
    bool makes(std::size_t output, const ir::Node& node) const;
};

/// An instance in which some constants hold other numbers.
struct FilledInstance {
    struct Number {
        ir::NodeId constant;
        double value;
    };
    const DefinitionInstance* instance = nullptr;
    types::SmallVector<Number, 2> numbers = {};
};

/// Builds an instance; nothing if the definition rejects such operands or attributes.
std::optional<DefinitionInstance> instantiate(const Definition& definition, std::span<const TensorDesc> operands,
                                              const Attributes& attributes, const std::shared_ptr<Symbols>& symbols);

/// Cache of instances: identical layers use the same ones.
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
