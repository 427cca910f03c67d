//===- CallErrors.cpp - what is wrong with the words of a call ------------===//

#include "frontend/cli/CallErrors.h"
#include "frontend/cli/Session.h"

#include "llvm/ADT/StringExtras.h"

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

static std::string helpOf(const CLI::App &command) {
  return command.get_name() == "tilec" ? "tilec --help" : "tilec help " + command.get_name();
}

static std::vector<std::string> flagsOf(const CLI::Option &option) {
  std::vector<std::string> names;
  for (const std::string &name : option.get_lnames())
    names.push_back("--" + name);
  for (const std::string &name : option.get_snames())
    names.push_back("-" + name);
  return names;
}

/// "--in NAME=SPEC"
static std::string formOf(const CLI::Option &option) {
  return flagsOf(option).front() + " " + option.get_type_name();
}

/// "--json", or "FILE[:NAME]" of an argument.
static std::string nameOf(const CLI::Option &option) {
  return option.nonpositional() ? flagsOf(option).front() : option.get_name(true, false);
}

//===-- Options before they are parsed ------------------------------------===//

/// The option that a word begins; null for none. What stands behind the name is `value`, if that is
/// part of the word: --set=i=64, -Werror.
static const CLI::Option *optionAt(const CLI::App &command, llvm::StringRef word,
                                   std::optional<llvm::StringRef> &value) {
  value.reset();
  if (word.size() < 2 || word.front() != '-')
    return nullptr;
  auto [name, behind] = word.split('=');
  if (word.starts_with("--")) {
    if (name.size() != word.size())
      value = behind;
  } else if (word.size() > 2) {
    name = word.take_front(2);
    value = word.drop_front(2);
  }
  for (const CLI::Option *option : command.get_options())
    if (llvm::is_contained(flagsOf(*option), name))
      return option;
  return nullptr;
}

Outcome<Done> tile::frontend::cli::checkWords(const CLI::App &command,
                                              llvm::ArrayRef<std::string> words) {
  std::map<const CLI::Option *, unsigned> counts;
  std::optional<llvm::StringRef> value, next;
  for (size_t n = 0; n < words.size() && words[n] != "--"; ++n) {
    const CLI::Option *option = optionAt(command, words[n], value);
    if (!option)
      continue;
    std::string name = flagsOf(*option).front();
    if (option->get_items_expected_max() == 0) {
      if (value)
        return Failure::usage(
            {"option '" + name + "' takes no value", "leave out '=" + value->str() + "'"});
      continue;
    }
    int wanted = option->get_items_expected_min() - (value ? 1 : 0);
    for (; wanted > 0; --wanted, ++n)
      if (n + 1 == words.size() || words[n + 1] == "--" || optionAt(command, words[n + 1], next))
        return Failure::usage(
            {"option '" + name +
                 (option->get_items_expected_min() > 1 ? "' takes two values" : "' has no value"),
             "write " + formOf(*option)});
    if (++counts[option] > 1 && option->get_expected_max() < CLI::detail::expected_max_vector_size)
      return Failure::usage({"option '" + name + "' is given twice", "which of them is meant?"});
  }
  return Done{};
}

//===-- What CLI11 refuses ------------------------------------------------===//

/// What other tools call an option, or this one did.
static std::string otherName(llvm::StringRef flag) {
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> names[] = {
      {"--kernel", "--entry"}, {"--graph", "--entry"},   {"--output", "-o"},
      {"--out-file", "-o"},    {"--include", "-I"},      {"--type", "--bind"},
      {"--tile", "--set"},     {"--tile-size", "--set"}, {"--input", "--in"},
      {"--arch", "--target"},  {"--colour", "--color"}};
  for (auto [other, ours] : names)
    if (flag == other)
      return ours.str();
  return "";
}

Failure tile::frontend::cli::rejectExtra(const CLI::App &command,
                                         const std::vector<std::string> &extras) {
  auto endOfOptions = llvm::find(extras, "--");
  auto extra = std::find_if(extras.begin(), endOfOptions, [](const std::string &word) {
    return word.size() > 1 && word.front() == '-';
  });
  if (extra == endOfOptions) {
    extra = extras.begin() + (endOfOptions == extras.begin() && extras.size() > 1 ? 1 : 0);
    return Failure::usage(
        {"unexpected argument '" + *extra + "'", "`" + helpOf(command) + "` says what it takes"});
  }
  std::string flag = extra->substr(0, extra->find('='));
  std::vector<std::string> known;
  for (const CLI::Option *option : command.get_options())
    llvm::append_range(known, flagsOf(*option));
  std::string ours = otherName(flag);
  std::string advice =
      llvm::is_contained(known, ours) ? "did you mean `" + ours + "`?" : didYouMean(flag, known);
  return Failure::usage({"unknown option '" + flag + "'",
                         advice.empty() ? "`" + helpOf(command) + "` lists the options" : advice});
}

/// Two that were given and exclude each other.
static std::optional<Failure> excludedIn(const CLI::App &command) {
  for (const CLI::Option *option : command.get_options())
    for (const CLI::Option *other : option->get_excludes())
      if (option->count() && other->count())
        return Failure::usage({nameOf(*option) + " and " + nameOf(*other) + " don't go together",
                               "leave out one of them"});
  return std::nullopt;
}

Failure tile::frontend::cli::refusedBy(const CLI::ParseError &error, const CLI::App &command) {
  if (auto failure = excludedIn(command))
    return *std::move(failure);
  if (dynamic_cast<const CLI::RequiredError *>(&error))
    for (const CLI::Option *option : command.get_options())
      if (option->get_required() && !option->count())
        return Failure::usage(
            {"`tilec " + command.get_name() + "` needs " + nameOf(*option),
             "`" + helpOf(command) + "` " +
                 (llvm::StringRef(command.get_footer()).contains("Examples") ? "has examples"
                                                                             : "says more")});
  auto [message, hint] = llvm::StringRef(error.what()).split('\n');
  return Failure::usage({message.str(), hint.str()});
}

//===-- Help --------------------------------------------------------------===//

namespace {
class HelpFormatter : public CLI::Formatter {
public:
  HelpFormatter() {
    label("Positionals", "Arguments");
    label("SUBCOMMAND", "COMMAND");
    column_width(30);
  }

  std::string make_option_opts(const CLI::Option *option) const override {
    std::string text;
    if (option->get_type_size() == 0)
      return text;
    if (option->nonpositional())
      text += " " + option->get_type_name();
    if (!option->get_default_str().empty())
      text += " [" + option->get_default_str() + "]";
    return text;
  }
};
} // namespace

std::shared_ptr<CLI::Formatter> tile::frontend::cli::helpFormatter() {
  return std::make_shared<HelpFormatter>();
}
