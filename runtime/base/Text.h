// Small text helpers for messages.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tile::runtime {

/// `text` with what steers a terminal (control characters but for the ends of lines and tabs, and
/// marks that turn the direction of text) as escapes, such as \x1b.
std::string visible(std::string_view text);

/// `json`, which has no control characters but ends of lines, with the same characters as escapes
/// of JSON, such as \u009b: whoever parses it gets what was written.
std::string visibleJson(std::string_view json);

/// `text` between single quotes, with control characters escaped and long text cut, so that text
/// from a damaged file can't garble a terminal.
std::string quote(std::string_view text);

/// The candidate most like `text`, or "" if none is close enough to be meant.
std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates);

/// "17 bytes", "1.5 GiB".
std::string formatBytes(uint64_t bytes);

/// "3x4", "scalar" for rank 0: the way shapes are written on the command line.
std::string formatShape(std::span<const int64_t> shape);

/// The parts joined by `separator`.
std::string join(std::span<const std::string_view> parts, std::string_view separator);

} // namespace tile::runtime
