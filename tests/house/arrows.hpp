#pragma once

#include "tests/house/tree.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace cairn::house {

/// Permitted includes: for each room, the other rooms whose headers its files may include. docs/layout.md has the same
/// table. A room is a folder of src/ that is one object library, or one of `face` (the public headers, include/cairn),
/// `face/text` and `face/models` (its folders), `error` (error.hpp and version.hpp, which include no other public
/// headers), `kernels`, `tests`, `bench`, `examples`, `shipped_timings`.
using PermittedIncludes = std::map<std::string, std::set<std::string>>;
const PermittedIncludes& permitted_includes();

/// The room of a path; empty for files outside rooms (build files in the root, documents).
std::string room_of(std::string_view path);

/// Every include of a project header must name an existing file, by its path from `include/`, `src/` or the repository
/// root, in a room that the including room may see.
Faults forbidden_includes(const Tree& tree);

/// Include cycles between folders, and between files. A folder and a folder inside it count as one.
Faults cycles(const Tree& tree);

/// In cairn_room(<name> ... SEES ...), the name must be that of the folder, SEES may list permitted rooms only, and it
/// must list every room whose headers the folder's files include.
Faults wrong_room_declarations(const Tree& tree);

/// docs/layout.md must name every folder with sources, and its table under `## Arrows` must equal permitted_includes().
Faults layout_page_faults(const Tree& tree);

/// Path of the file that a file in `folder` includes as `name`; empty if it is not in the tree. Tests may include files
/// of their own folder by the bare name.
std::string resolve(const Tree& tree, const std::string& name, const std::string& folder);

}  // namespace cairn::house
