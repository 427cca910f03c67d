//===- Formatter.h - sources in the one form ------------------------------===//
#ifndef TILE_DSL_FORMATTER_H
#define TILE_DSL_FORMATTER_H

#include "dsl/Source.h"

namespace tile::dsl {

struct FormatOptions {
  unsigned width = 100; // columns of a line, where its words allow it
  unsigned indent = 4;
};

/// Lays the tokens of a file out anew: statements on lines of their own, indented by their blocks;
/// long lines broken where the language lets them. Keeps comments, single blank lines, the columns
/// of comments behind code, parentheses, `2*i` without spaces and the line breaks between the
/// clauses of a head. The result has the same syntax tree and is its own formatted form. A file
/// whose tokens are broken comes back unchanged.
std::string format(const SourceFile &file, const FormatOptions &options = {});

} // namespace tile::dsl

#endif // TILE_DSL_FORMATTER_H
