#include "tests/fuzz/kernels/Harness.h"

#include <csignal>
#include <cstring>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

using namespace tile::fuzz;

//===-- A check in a process of its own -----------------------------------===//

Outcome tile::fuzz::runApart(const std::function<Outcome()> &run) {
  int ends[2];
  Outcome outcome{Outcome::Kind::Failed, "harness", "no process", 0, 0};
  if (pipe(ends) != 0)
    return outcome;
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    alarm(60);
    Outcome result = run();
    std::string text =
        std::to_string(static_cast<int>(result.kind)) + result.category + '\n' + result.detail;
    ssize_t written = write(ends[1], text.data(), std::min<size_t>(text.size(), 60000));
    _exit(written < 0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<size_t>(count));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    bool hangs = WTERMSIG(status) == SIGALRM;
    outcome.category = hangs ? "hang" : "crash";
    outcome.detail = strsignal(WTERMSIG(status));
  } else if (!text.empty()) {
    size_t end = text.find('\n');
    outcome.kind = static_cast<Outcome::Kind>(text[0] - '0');
    outcome.category = text.substr(1, end - 1);
    outcome.detail = end == std::string::npos ? "" : text.substr(end + 1);
  }
  return outcome;
}

Outcome tile::fuzz::checkApart(const Program &program, const HarnessOptions &options) {
  return runApart([&] { return check(program, options); });
}

//===-- Smaller programs --------------------------------------------------===//

namespace {
/// A program with one change; none where the n-th change doesn't exist.
using Edit = std::function<bool(Node &node)>;

class Shrinker {
public:
  Shrinker(Program program, std::string category, int trials)
      : best(std::move(program)), category(std::move(category)), trials(trials) {}

  Program run() {
    for (bool improved = true; improved && trials > 0;) {
      improved = false;
      while (trials > 0 && (dropSizes() || shrinkDims()))
        improved = true;
      improved |= pass();
    }
    return best;
  }

private:
  bool accept(const Program &candidate) {
    if (trials-- <= 0 || candidate.str().size() > best.str().size() ||
        (candidate.str() == best.str() && candidate.dims == best.dims &&
         candidate.sizes == best.sizes))
      return false;
    Outcome outcome = checkApart(candidate);
    if (outcome.kind != Outcome::Kind::Failed || outcome.category != category)
      return false;
    best = candidate;
    return true;
  }

  bool dropSizes() {
    for (size_t n = 0; n < best.sizes.size(); ++n) {
      Program candidate = best;
      candidate.sizes.erase(candidate.sizes.begin() + static_cast<int64_t>(n));
      if (accept(candidate))
        return true;
    }
    return false;
  }

  bool shrinkDims() {
    for (const auto &[name, value] : std::map(best.dims))
      for (int64_t smaller : {int64_t(0), int64_t(1), int64_t(2), value / 2, value - 1})
        if (smaller >= 0 && smaller < value) {
          Program candidate = best;
          candidate.dims[name] = smaller;
          if (accept(candidate))
            return true;
        }
    return false;
  }

  static Node *nodeAt(Node &node, size_t &index) {
    if (index-- == 0)
      return &node;
    for (Node &child : node.children)
      if (Node *found = nodeAt(child, index))
        return found;
    return nullptr;
  }
  Node *find(Program &program, size_t index) {
    if (Node *found = nodeAt(program.body, index))
      return found;
    for (Node &declaration : program.declarations)
      if (Node *found = nodeAt(declaration, index))
        return found;
    return nullptr;
  }

  /// The edits that a node allows, the greatest first.
  static std::vector<Edit> editsOf(const Node &node) {
    std::vector<Edit> edits;
    for (size_t n = 0; n < node.children.size(); ++n) {
      if (node.kind == Node::Kind::Block) {
        edits.push_back([n](Node &block) {
          block.children.erase(block.children.begin() + static_cast<int64_t>(n));
          return true;
        });
        edits.push_back([n](Node &block) { return splice(block, n); });
      } else if (node.kind == Node::Kind::Expression) {
        edits.push_back([n](Node &expression) {
          Node child = expression.children[n];
          expression = std::move(child);
          return true;
        });
      }
    }
    if (node.kind == Node::Kind::Expression && !node.type.empty())
      for (const char *number : {"0", "1"}) {
        std::string text = node.type == "bool" ? (*number == '0' ? "false" : "true")
                                               : node.type + "(" + number + ")";
        edits.push_back([text](Node &expression) {
          if (expression.text == text || expression.text.size() <= 4)
            return false;
          expression.text = text;
          expression.children.clear();
          return true;
        });
      }
    if (node.kind == Node::Kind::Statement)
      edits.push_back(dropCondition);
    return edits;
  }

  /// A statement's block in its place.
  static bool splice(Node &block, size_t n) {
    Node statement = block.children[n];
    for (const Node &child : statement.children)
      if (child.kind == Node::Kind::Block) {
        block.children.erase(block.children.begin() + static_cast<int64_t>(n));
        block.children.insert(block.children.begin() + static_cast<int64_t>(n),
                              child.children.begin(), child.children.end());
        return true;
      }
    return false;
  }

  static bool dropCondition(Node &node) {
    size_t begin = node.text.find(" if ");
    if (begin == std::string::npos)
      return false;
    size_t end = node.text.find(" {", begin);
    if (size_t word = node.text.find(" reassociable", begin); word < end)
      end = word;
    node.text.erase(begin, end == std::string::npos ? end : end - begin);
    return true;
  }

  bool pass() {
    bool improved = false;
    for (size_t index = 0; trials > 0; ++index) {
      Node *node = find(best, index);
      if (!node)
        break;
      size_t count = editsOf(*node).size();
      for (size_t n = 0; n < count && trials > 0; ++n) {
        Program candidate = best;
        Node *copy = find(candidate, index);
        std::vector<Edit> edits = copy ? editsOf(*copy) : std::vector<Edit>();
        if (n >= edits.size() || !edits[n](*copy) || !accept(candidate))
          continue;
        improved = true;
        n = static_cast<size_t>(-1); // the node is another one now
        Node *changed = find(best, index);
        count = changed ? editsOf(*changed).size() : 0;
      }
    }
    return improved;
  }

  Program best;
  std::string category;
  int trials;
};
} // namespace

Program tile::fuzz::shrink(const Program &program, const std::string &category, int trials) {
  return Shrinker(program, category, trials).run();
}
