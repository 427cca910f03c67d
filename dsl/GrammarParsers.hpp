//===- GrammarParsers.hpp - building blocks of the rules ------------------===//
//
// Parsers of single tokens, directives for brackets and lists, and the actions
// that store attributes. The tokens always end with End, which no parser here
// consumes, so none compares with `last`.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DSL_GRAMMARPARSERS_HPP
#define TILE_DSL_GRAMMARPARSERS_HPP

#include "dsl/Grammar.h"
#include "dsl/GrammarActions.h"

#include <type_traits>

namespace tile::dsl::grammar {

template <typename C>
State &stateOf(const C &context) {
  return x3::get<StateTag>(context);
}

/// Writes a parser's result where one is wanted.
template <typename T, typename Attribute>
void store(T &&value, Attribute &attribute) {
  if constexpr (!std::is_same_v<std::remove_const_t<Attribute>, x3::unused_type>)
    attribute = std::forward<T>(value);
}

//===-- Tokens ------------------------------------------------------------===//

/// A token of a kind, or a word that is none elsewhere.
struct TokenParser : x3::parser<TokenParser> {
  using attribute_type = Token;
  static constexpr bool has_attribute = true;

  constexpr explicit TokenParser(TokenKind kind, Word word = Word::None) : kind(kind), word(word) {}

  template <typename C, typename R, typename A>
  bool parse(Iterator &first, const Iterator &, const C &, R &, A &attribute) const {
    if (first->kind != kind || (word != Word::None && first->word != word))
      return false;
    store(*first, attribute);
    ++first;
    return true;
  }

  TokenKind kind;
  Word word;
};
constexpr TokenParser tok(TokenKind kind) { return TokenParser(kind); }
constexpr TokenParser tok(Word word) { return TokenParser(TokenKind::Ident, word); }

/// A token that a predicate accepts.
template <typename Accepts>
struct TokenIfParser : x3::parser<TokenIfParser<Accepts>> {
  using attribute_type = Token;
  static constexpr bool has_attribute = true;

  constexpr explicit TokenIfParser(Accepts accepts) : accepts(accepts) {}

  template <typename C, typename R, typename A>
  bool parse(Iterator &first, const Iterator &, const C &, R &, A &attribute) const {
    if (!accepts(first->kind))
      return false;
    store(*first, attribute);
    ++first;
    return true;
  }

  Accepts accepts;
};

/// A name; `what` is what messages call it.
struct NameParser : x3::parser<NameParser> {
  using attribute_type = Ident;
  static constexpr bool has_attribute = true;

  constexpr explicit NameParser(const char *what) : what(what) {}

  template <typename C, typename R, typename A>
  bool parse(Iterator &first, const Iterator &, const C &context, R &, A &attribute) const {
    if (first->kind != TokenKind::Ident)
      return false;
    store(stateOf(context).ident(*first), attribute);
    ++first;
    return true;
  }

  const char *what;
};
inline constexpr NameParser name("a name");
inline constexpr NameParser typeName("a type");

/// The end of a statement, entry or declaration: a separator, which it takes, or what cannot be
/// part of one.
struct EndParser : x3::parser<EndParser> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;

  constexpr EndParser(const char *what, bool inBlock) : what(what), inBlock(inBlock) {}

  template <typename C, typename R, typename A>
  bool parse(Iterator &first, const Iterator &, const C &, R &, A &) const {
    if (first->kind == TokenKind::Newline || first->kind == TokenKind::Semi) {
      ++first;
      return true;
    }
    return first->kind == TokenKind::End || (inBlock && first->kind == TokenKind::RBrace);
  }

  const char *what;
  bool inBlock;
};

/// Notes where a statement, entry or declaration begins; fails where none can.
struct BeginParser : x3::parser<BeginParser> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;

  constexpr explicit BeginParser(bool inBlock) : inBlock(inBlock) {}

  template <typename C, typename R, typename A>
  bool parse(Iterator &first, const Iterator &, const C &context, R &, A &) const {
    State &state = stateOf(context);
    const bool over = first->kind == TokenKind::RBrace || atDeclaration(state, first);
    if (first->kind == TokenKind::End || (inBlock && over))
      return false;
    state.begun = first;
    return true;
  }

  bool inBlock;
};

//===-- Directives --------------------------------------------------------===//

/// Gives a parser the name that messages use.
template <typename Subject>
struct Named : x3::unary_parser<Subject, Named<Subject>> {
  static constexpr bool is_pass_through_unary = true;

  constexpr Named(const Subject &subject, const char *what)
      : x3::unary_parser<Subject, Named>(subject), what(what) {}

  template <typename C, typename R, typename A>
  bool parse(Iterator &first, const Iterator &last, const C &context, R &rcontext,
             A &attribute) const {
    return this->subject.parse(first, last, context, rcontext, attribute);
  }

  const char *what;
};

/// What stands between two brackets; one level of nesting.
template <typename Subject>
struct Enclosed : x3::unary_parser<Subject, Enclosed<Subject>> {
  static constexpr bool has_attribute = false;

  constexpr Enclosed(const Subject &subject, TokenKind open, TokenKind close, const char *what)
      : x3::unary_parser<Subject, Enclosed>(subject), open(open), close(close), what(what) {}

  template <typename C, typename R, typename A>
  bool parse(Iterator &first, const Iterator &last, const C &context, R &rcontext, A &) const {
    if (first->kind != open)
      return false;
    State &state = stateOf(context);
    const Iterator opener = first;
    const Nesting nesting(state, opener);
    ++first;
    if (!this->subject.parse(first, last, context, rcontext, x3::unused))
      failExpected(state, first, what);
    if (first->kind != close)
      failUnclosed(state, first, opener, close, false);
    ++first;
    return true;
  }

  TokenKind open, close;
  const char *what;
};

/// Elements between two brackets, separated by commas; the last may have one.
template <typename Subject>
struct List : x3::unary_parser<Subject, List<Subject>> {
  static constexpr bool has_attribute = false;

  constexpr List(const Subject &element, TokenKind open, TokenKind close, const char *what)
      : x3::unary_parser<Subject, List>(element), open(open), close(close), what(what) {}

  template <typename C, typename R, typename A>
  bool parse(Iterator &first, const Iterator &last, const C &context, R &rcontext, A &) const {
    if (first->kind != open)
      return false;
    State &state = stateOf(context);
    const Iterator opener = first;
    const Nesting nesting(state, opener);
    do {
      ++first; // the opener or a comma
      if (first->kind == close)
        break;
      if (!this->subject.parse(first, last, context, rcontext, x3::unused)) {
        if (first->kind == TokenKind::Newline || first->kind == TokenKind::End)
          failUnclosed(state, first, opener, close, true);
        failExpected(state, first, what);
      }
    } while (first->kind == TokenKind::Comma);
    if (first->kind != close)
      failUnclosed(state, first, opener, close, true);
    ++first;
    return true;
  }

  TokenKind open, close;
  const char *what;
};

/// Counts one level of nesting.
template <typename Subject>
struct Nested : x3::unary_parser<Subject, Nested<Subject>> {
  static constexpr bool is_pass_through_unary = true;

  constexpr explicit Nested(const Subject &subject) : x3::unary_parser<Subject, Nested>(subject) {}

  template <typename C, typename R, typename A>
  bool parse(Iterator &first, const Iterator &last, const C &context, R &rcontext,
             A &attribute) const {
    const Nesting nesting(stateOf(context), first);
    return this->subject.parse(first, last, context, rcontext, attribute);
  }
};

/// Sets the range of the rule's value to what the subject takes.
template <typename Subject>
struct WithRange : x3::unary_parser<Subject, WithRange<Subject>> {
  static constexpr bool is_pass_through_unary = true;

  constexpr explicit WithRange(const Subject &subject)
      : x3::unary_parser<Subject, WithRange>(subject) {}

  template <typename C, typename R, typename A>
  bool parse(Iterator &first, const Iterator &last, const C &context, R &rcontext,
             A &attribute) const {
    const uint32_t begin = first->begin;
    if (!this->subject.parse(first, last, context, rcontext, attribute))
      return false;
    rcontext.range = {begin, first[-1].end};
    return true;
  }
};

/// `make(subject)` with the directive's arguments bound: what `directive(…)[subject]` needs.
template <typename Make>
struct Directive {
  Make make;
  template <typename Subject>
  constexpr auto operator[](const Subject &subject) const {
    return make(x3::as_parser(subject));
  }
};
template <typename Make>
Directive(Make) -> Directive<Make>;

constexpr auto named(const char *what) {
  return Directive{
      [=](const auto &subject) { return Named<std::decay_t<decltype(subject)>>(subject, what); }};
}
constexpr auto enclosed(TokenKind open, TokenKind close, const char *what) {
  return Directive{[=](const auto &subject) {
    return Enclosed<std::decay_t<decltype(subject)>>(subject, open, close, what);
  }};
}
constexpr auto list(TokenKind open, TokenKind close, const char *what) {
  return Directive{[=](const auto &element) {
    return List<std::decay_t<decltype(element)>>(element, open, close, what);
  }};
}
inline constexpr auto inParentheses =
    enclosed(TokenKind::LParen, TokenKind::RParen, "an expression");
inline constexpr auto inBraces = enclosed(TokenKind::LBrace, TokenKind::RBrace, "a statement");
constexpr auto parenthesesOf(const char *what) {
  return list(TokenKind::LParen, TokenKind::RParen, what);
}
constexpr auto bracketsOf(const char *what) {
  return list(TokenKind::LBracket, TokenKind::RBracket, what);
}
inline constexpr Directive nested{
    [](const auto &subject) { return Nested<std::decay_t<decltype(subject)>>(subject); }};

inline constexpr Directive withRange{
    [](const auto &subject) { return WithRange<std::decay_t<decltype(subject)>>(subject); }};

//===-- Actions -----------------------------------------------------------===//

/// Stores the attribute in a member of the rule's value.
template <auto Member>
constexpr auto set =
    [](auto &context) { x3::_val(context).*Member = std::move(x3::_attr(context)); };
/// Appends the attribute to a member of the rule's value.
template <auto Member>
constexpr auto add =
    [](auto &context) { (x3::_val(context).*Member).push_back(std::move(x3::_attr(context))); };
/// Stores a constant in a member of the rule's value.
template <auto Member, auto value>
constexpr auto put = [](auto &context) { x3::_val(context).*Member = value; };
/// Makes the attribute the rule's value.
inline constexpr auto become = [](auto &context) {
  x3::_val(context) = std::move(x3::_attr(context));
};
/// Makes the rule's value a pointer to the attribute; null means that there was an error.
inline constexpr auto box = [](auto &context) {
  using Boxed = typename std::decay_t<decltype(x3::_val(context))>::element_type;
  x3::_val(context) = std::make_unique<Boxed>(std::move(x3::_attr(context)));
};

/// The token behind the one read last.
template <typename C>
Iterator behind(const C &context) {
  return x3::_where(context).begin();
}

//===-- Handlers ----------------------------------------------------------===//

template <Recovery (*recover)(State &, Iterator &, Iterator, const std::string &)>
struct Recovering {
  template <typename C>
  x3::error_handler_result on_error(Iterator &first, const Iterator &,
                                    const x3::expectation_failure<Iterator> &error,
                                    const C &context) {
    const Recovery result = recover(stateOf(context), first, error.where(), error.which());
    return result == Recovery::Accept ? x3::error_handler_result::accept
                                      : x3::error_handler_result::rethrow;
  }
};

} // namespace tile::dsl::grammar

namespace boost::spirit::x3 {

template <>
struct get_info<tile::dsl::grammar::TokenParser> {
  using result_type = std::string;
  std::string operator()(const tile::dsl::grammar::TokenParser &parser) const {
    return parser.word == tile::dsl::Word::None
               ? tile::dsl::describe(parser.kind)
               : "`" + std::string(tile::dsl::spelling(parser.word)) + "`";
  }
};
template <>
struct get_info<tile::dsl::grammar::NameParser> {
  using result_type = std::string;
  std::string operator()(const tile::dsl::grammar::NameParser &parser) const { return parser.what; }
};
template <>
struct get_info<tile::dsl::grammar::EndParser> {
  using result_type = std::string;
  std::string operator()(const tile::dsl::grammar::EndParser &parser) const { return parser.what; }
};
template <typename Subject>
struct get_info<tile::dsl::grammar::Named<Subject>> {
  using result_type = std::string;
  std::string operator()(const tile::dsl::grammar::Named<Subject> &parser) const {
    return parser.what;
  }
};
template <typename Subject>
struct get_info<tile::dsl::grammar::List<Subject>> {
  using result_type = std::string;
  std::string operator()(const tile::dsl::grammar::List<Subject> &parser) const {
    return tile::dsl::describe(parser.open);
  }
};
template <typename Subject>
struct get_info<tile::dsl::grammar::Enclosed<Subject>> {
  using result_type = std::string;
  std::string operator()(const tile::dsl::grammar::Enclosed<Subject> &parser) const {
    return tile::dsl::describe(parser.open);
  }
};
// What is expected of a sequence is its first part, of alternatives any.
template <typename Left, typename Right>
struct get_info<sequence<Left, Right>> {
  using result_type = std::string;
  std::string operator()(const sequence<Left, Right> &parser) const { return what(parser.left); }
};
template <typename Left, typename Right>
struct get_info<alternative<Left, Right>> {
  using result_type = std::string;
  std::string operator()(const alternative<Left, Right> &parser) const {
    return what(parser.left) + " or " + what(parser.right);
  }
};
/// An action changes nothing about what is expected.
template <typename Subject, typename Action>
struct get_info<action<Subject, Action>> {
  using result_type = std::string;
  std::string operator()(const action<Subject, Action> &parser) const {
    return what(parser.subject);
  }
};

} // namespace boost::spirit::x3

#endif // TILE_DSL_GRAMMARPARSERS_HPP
