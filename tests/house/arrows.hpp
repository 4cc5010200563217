#pragma once

#include "tests/house/tree.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace cairn::house {

/// Which rooms' headers each room's files may include, itself excepted. This is the drawing of the house;
/// docs/layout.md shows the same one. Beside the folders of src/ the rooms are: `face` (include/cairn), `face/text`,
/// `face/models` (its folders), `error` (the two headers of the face that stand alone), `kernels`, `tests`,
/// `bench`, `examples`.
using Arrows = std::map<std::string, std::set<std::string>>;
const Arrows& allowed_arrows();

/// The room a path belongs to; empty for files of no room (build files in the root, documents).
std::string room_of(std::string_view path);

/// Every include of ours, from the roots `include/`, `src/` and the repository: must name a file that exists, of a room
/// that the including one may see.
Faults forbidden_arrows(const Tree& tree);

/// Folders that include each other in a ring, and files that do. A folder and one inside it count as one.
Faults cycles(const Tree& tree);

/// In cairn_room(<name> ... SEES ...): the name must be the folder's, each room seen an allowed one, and each room
/// whose headers the folder's files include must be listed.
Faults wrong_links(const Tree& tree);

/// docs/layout.md must name every folder with sources in it, and its table of arrows must be allowed_arrows().
Faults wrong_layout_page(const Tree& tree);

/// The path of the file that `name`, included by a file of `folder`, stands for; empty when it is not ours. Tests may
/// include what lies beside them by its bare name.
std::string resolve(const Tree& tree, const std::string& name, const std::string& folder);

}  // namespace cairn::house
