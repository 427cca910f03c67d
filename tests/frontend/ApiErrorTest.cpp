// Mistakes in kernels built from C++ are errors of the module, at their lines.

#include "tests/frontend/ApiTestSupport.h"

#include <cmath>
#include <stdexcept>

using namespace tile;
using namespace tile::test;

namespace {

/// The errors of a kernel whose body gets two inputs and two outputs on N elements.
struct Body {
  Kernel &k;
  Extent N;
  Param x, n; // f32 and i32
  Param y, m;
};

std::vector<Error> errorsOf(const std::function<void(Body &)> &body) {
  Module module;
  bool built = module.kernel("f", [&](Kernel &k) {
    auto N = k.dim("N");
    auto x = k.input("x", f32, {N});
    auto n = k.input("n", i32, {N});
    auto y = k.output("y", f32, {N});
    auto m = k.output("m", i32, {N});
    Body parts{k, N, x, n, y, m};
    body(parts);
  });
  EXPECT_EQ(built, module.ok());
  if (!built) {
    EXPECT_EQ(module.ir().find("tile.kernel"), std::string::npos) << "it is still there";
  }
  return module.errors();
}

void expectError(const std::vector<Error> &errors, const std::string &part, unsigned line = 0) {
  ASSERT_FALSE(errors.empty()) << part;
  EXPECT_NE(errors.front().str().find(part), std::string::npos) << errors.front().str();
  if (line) {
    EXPECT_EQ(errors.front().line, line) << errors.front().str();
    EXPECT_NE(errors.front().file.find("ApiErrorTest.cpp"), std::string::npos);
  }
}

/// What `statement` does in an otherwise right kernel.
void expectBodyError(const std::function<void(Body &, Span)> &statement, const std::string &part) {
  expectError(errorsOf([&](Body &b) {
                b.k.parallel(tiles("i", b.N), [&](Span i) {
                  statement(b, i);
                  b.y[i] = b.x[i];
                  b.m[i] = b.n[i];
                });
              }),
              part);
}

TEST(ApiError, none) {
  EXPECT_TRUE(errorsOf([](Body &b) {
                b.k.parallel(tiles("i", b.N), [&](Span i) {
                  b.y[i] = b.x[i];
                  b.m[i] = b.n[i];
                });
              }).empty());
}

TEST(ApiError, typesAtTheirLine) {
  unsigned line = 0;
  auto errors = errorsOf([&](Body &b) {
    b.k.parallel(tiles("i", b.N), [&](Span i) {
      line = __LINE__ + 1;
      auto sum = b.x[i] + b.n[i];
      b.y[i] = sum;
      b.m[i] = b.n[i];
    });
  });
  expectError(errors, "types don't convert by themselves", line);
  EXPECT_NE(errors.front().hint.find("f32"), std::string::npos);
}

TEST(ApiError, statements) {
  expectBodyError([](Body &b, Span i) { b.k.var("v", b.x[i] % 2); }, "`%` does not apply to f32");
  expectBodyError([](Body &b, Span i) { b.k.var("v", b.n[i] + 0.5); }, "float literal");
  expectBodyError([](Body &b, Span i) { b.k.var("v", i8(300)); }, "does not fit in i8");
  expectBodyError([](Body &b, Span i) { b.k.var("v", mulhi(b.n[i], int64_t(1) << 32)); },
                  "the literal 4294967296 does not fit in i32");
  expectBodyError([](Body &b, Span i) { b.k.var("v", b.n[i] + ~uint64_t(0)); },
                  "the literal 18446744073709551615 does not fit in i32");
  expectBodyError([](Body &b, Span i) { b.k.var("v", clamp(u8(b.n[i]), -1, 300)); },
                  "the literal -1 does not fit in u8");
  expectBodyError([](Body &b, Span i) { b.k.var("v", where(b.n[i] > 0, b.x[i], 1e39)); },
                  "does not fit in f32");
  expectBodyError([](Body &b, Span i) { b.k.var("v", exp(b.n[i])); }, "`exp` does not apply");
  expectBodyError([](Body &b, Span i) { b.k.var("v", sum(b.x[i], b.N)); }, "`N` is no axis here");
  expectBodyError([](Body &b, Span i) { b.k.var("v", b.x[{i, i}]); }, "2 indices are given");
  expectBodyError([](Body &b, Span i) { b.k.var("v", b.x[i + 1]); }, "nothing ensures `i + 1 < N`");
  expectBodyError([](Body &b, Span i) { b.k.var("v", b.x[b.x[i]]); }, "an index is");
  expectBodyError([](Body &b, Span i) { b.k.var("v", b.y[i] + 1); }, "only be written");
  expectBodyError([](Body &b, Span i) { b.x[i] = b.x[i]; }, "`x` is an input");
  expectBodyError([](Body &b, Span i) { b.y[i] += b.x[i]; }, "not declared as a `reduce` output");
  expectBodyError([](Body &b, Span i) { b.y[i] = b.n[i]; }, "`y` holds f32");
  expectBodyError([](Body &b, Span i) { b.k.if_(b.x[i] > 0, [] {}); }, "has axes");
  expectBodyError([](Body &b, Span i) { b.k.if_(b.N + 1, [] {}); }, "has to be a bool");
  expectBodyError([](Body &b, Span i) { b.k.while_([&] { return b.x[i] > 0; }, [] {}); },
                  "without axes");
  expectBodyError([](Body &b, Span i) { b.k.var("v", Value() + b.x[i]); }, "empty");
  expectBodyError([](Body &b, Span i) { b.k.var("v", b.x[i] + colon); }, "between brackets");
  expectBodyError([](Body &b, Span i) { b.k.parallel(tiles("j", b.N), [](Span) {}); },
                  "once, at the top");
  expectBodyError([](Body &b, Span i) { b.k.for_(each("j", b.N), [](Span) {}); },
                  "a loop goes over");
  expectBodyError([](Body &b, Span i) { b.k.for_(tiles("i", b.N), [](Span) {}); }, "is taken");
  expectBodyError([](Body &b, Span i) { b.k.for_(tiles("N", b.N), [](Span) {}); },
                  "already means something");
  expectBodyError([](Body &b, Span i) { b.k.for_(tiles("a b", b.N), [](Span) {}); },
                  "a word of letters");
  expectBodyError([](Body &b, Span i) { b.k.for_(tiles("j", b.N).sequential(0), [](Span) {}); },
                  "positive integer");
  expectBodyError([](Body &b, Span i) { b.k.for_(count("r", 0, 3, 0), [](Span) {}); },
                  "a step of 0 goes nowhere");
  expectBodyError([](Body &b, Span i) { b.k.input("late", f32, {b.N}); },
                  "before the first statement");
  expectBodyError([](Body &b, Span i) { b.k.let(tiles("j", b.N)); }, "`let` binds");
  expectBodyError([](Body &b, Span i) { b.k.schedule("q", 3); }, "no binder of this kernel");
  expectBodyError([](Body &b, Span i) { b.k.schedule("i", 0); }, "from 1 to 16777216");
  expectBodyError([](Body &b, Span i) { b.k.schedule("i", 99999999999); }, "from 1 to 16777216");
  expectBodyError([](Body &b, Span i) { b.k.scheduleFor("frobnicator", "i", 8); },
                  "`frobnicator` is no target");
  expectBodyError([](Body &b, Span i) { b.x.pad(0)[i] = b.x[i]; },
                  "`pad`, `clamp` and `within` read");
  expectBodyError(
      [](Body &b, Span i) {
        auto v = b.k.var("v", b.x[i]);
        v = b.n[i];
      },
      "`v` is f32");
  expectBodyError(
      [](Body &b, Span i) {
        auto v = b.k.var("v", 0);
        v = b.n[i];
      },
      "`v` is i64");
}

TEST(ApiError, outsideOfParallel) {
  auto expectOutside = [](const std::function<void(Body &)> &statement) {
    for (bool isBefore : {true, false}) {
      auto errors = errorsOf([&](Body &b) {
        if (isBefore)
          statement(b);
        b.k.parallel(tiles("i", b.N), [&](Span i) { b.m[i] = b.n[i]; });
        if (!isBefore)
          statement(b);
      });
      expectError(errors, "stands inside `parallel`");
    }
  };
  expectOutside([](Body &b) { b.y[0] = 1; });
  expectOutside([](Body &b) { b.k.for_(tiles("j", b.N), [&](Span j) { b.y[j] = 1; }); });
}

TEST(ApiError, placesOfAssignments) {
  // Assignments of the same class go through members of the API; the line is still the caller's.
  unsigned line = 0;
  auto errors = errorsOf([&](Body &b) {
    b.k.parallel(tiles("i", b.N), [&](Span i) {
      line = __LINE__ + 1;
      b.y[i] = b.n[i];
      b.m[i] = b.n[i];
    });
  });
  expectError(errors, "`y` holds f32", line);
  errors = errorsOf([&](Body &b) {
    b.k.parallel(tiles("i", b.N), [&](Span i) {
      auto v = b.k.var("v", b.x[i]);
      line = __LINE__ + 1;
      auto w = b.k.var("w", b.n[i]);
      w = v;
      b.y[i] = b.x[i];
      b.m[i] = b.n[i];
    });
  });
  expectError(errors, "`w` is i32", line);
}

TEST(ApiError, valuesOutliveTheirBlock) {
  expectBodyError(
      [](Body &b, Span i) {
        Value inside;
        b.k.for_(count("r", 0, 3), [&](Span r) { inside = b.x[i] + f32(r); });
        b.k.var("v", inside * 2);
      },
      "a block that has ended");
  expectBodyError(
      [](Body &b, Span i) {
        std::unique_ptr<Var> inside;
        b.k.if_(b.N > 3, [&] { inside.reset(new Var(b.k.var("v", b.x[i]))); });
        *inside = b.x[i];
      },
      "the block of this variable has ended");
}

TEST(ApiError, valuesOfAnotherKernel) {
  Module module;
  Value foreign;
  module.kernel("first", [&](Kernel &k) {
    auto N = k.dim("N");
    auto x = k.input("x", f32, {N});
    auto y = k.output("y", f32, {N});
    k.parallel(tiles("i", N), [&](Span i) {
      foreign = x[i];
      y[i] = foreign;
    });
  });
  ASSERT_TRUE(module.ok()) << module.errorText();
  EXPECT_FALSE(module.kernel("second", [&](Kernel &k) {
    auto N = k.dim("N");
    k.input("x", f32, {N});
    auto y = k.output("y", f32, {N});
    k.parallel(tiles("i", N), [&](Span i) { y[i] = foreign; });
  }));
  expectError(module.errors(), "does not belong to kernel `second`");
}

TEST(ApiError, valuesOfNoKernel) {
  Module module;
  Value value;
  std::optional<Param> input, output;
  std::optional<Span> span;
  Kernel *kernel = nullptr;
  module.kernel("first", [&](Kernel &k) {
    kernel = &k;
    auto N = k.dim("N");
    input = k.input("x", f32, {N});
    output = k.output("y", f32, {N});
    k.parallel(tiles("i", N), [&](Span i) {
      span = i;
      value = (*input)[i];
      (*output)[i] = value;
    });
  });
  ASSERT_TRUE(module.ok()) << module.errorText();
  auto expectSaid = [&](const std::function<void()> &use, unsigned line) {
    size_t before = module.errors().size();
    use();
    ASSERT_EQ(module.errors().size(), before + 1) << "once, at line " << line;
    EXPECT_NE(module.errors().back().message.find("no kernel is being built"), std::string::npos);
    EXPECT_EQ(module.errors().back().line, line);
  };
  unsigned line = __LINE__;
  expectSaid([&] { Value nowhere = exp(value + 1) * 2; }, line + 1);
  expectSaid([&] { (*output)[*span] = (*input)[*span]; }, line + 2);
  expectSaid([&] { Value loaded = (*input)[*span]; }, line + 3);
  expectSaid([&] { auto sums = cumsum(value, *span); }, line + 4);
  // Numbers alone belong to nobody.
  testing::internal::CaptureStderr();
  Value numbers = exp(zeros(f32, Span()));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("no kernel is being built"),
            std::string::npos);
  EXPECT_FALSE(module.compile("first"));
}

TEST(ApiError, parametersOfAnotherKernel) {
  Module module;
  std::optional<Param> foreign;
  auto build = [&](Kernel &k, bool reads, bool writes) {
    auto N = k.dim("N");
    auto x = k.input("x", f32, {N});
    auto y = k.output("y", f32, {N});
    k.parallel(tiles("i", N), [&](Span i) {
      if (writes)
        (*foreign)[i] = x[i];
      y[i] = reads ? Value((*foreign)[i]) : Value(x[i]);
    });
    return y;
  };
  module.kernel("first", [&](Kernel &k) { foreign = build(k, false, false); });
  ASSERT_TRUE(module.ok()) << module.errorText();
  for (bool reads : {false, true}) {
    size_t before = module.errors().size();
    EXPECT_FALSE(module.kernel("second", [&](Kernel &k) { build(k, reads, !reads); }));
    ASSERT_EQ(module.errors().size(), before + 1) << module.errorText();
    EXPECT_NE(module.errors().back().message.find("`y` is a parameter of another kernel"),
              std::string::npos)
        << module.errorText();
  }
  // Also of the one around it, which is being built.
  Module nested;
  nested.kernel("outer", [&](Kernel &k) {
    foreign = build(k, false, false);
    Module inside;
    EXPECT_FALSE(inside.kernel("inner", [&](Kernel &k) { build(k, true, false); }));
    expectError(inside.errors(), "`y` is a parameter of another kernel");
  });
  EXPECT_TRUE(nested.ok()) << nested.errorText();
}

TEST(ApiError, emptyFunctions) {
  Module module;
  EXPECT_FALSE(module.kernel("f", {}));
  expectError(module.errors(), "the function that builds kernel `f` is empty");
  EXPECT_FALSE(module.kernel("g", [](Kernel &k) {
    auto N = k.dim("N");
    auto x = k.input("x", f32, {N});
    auto y = k.output("y", f32, {N});
    k.parallel(tiles("i", N), [&](Span i) {
      y[i] = x[i];
      k.if_(N > 3, {});
    });
  }));
  EXPECT_NE(module.errors().back().message.find("a part of kernel `g` is empty"), std::string::npos)
      << module.errorText();
  EXPECT_EQ(module.ir().find("tile.kernel"), std::string::npos);
}

TEST(ApiError, schedules) {
  auto expectScheduleError = [](const std::string &part, auto... entry) {
    std::vector<Error> errors = errorsOf([&](Body &b) {
      b.k.schedule(entry...);
      b.k.parallel(tiles("i", b.N), [&](Span i) {
        b.y[i] = b.x[i];
        b.m[i] = b.n[i];
      });
    });
    expectError(errors, part);
    EXPECT_EQ(errors.size(), 1u) << part;
  };
  expectScheduleError("`i` is a tile size", "i", "many");
  expectScheduleError("`i` is a tile size", "i");
  expectScheduleError("empty list", "i", ScheduleValue(std::initializer_list<int64_t>{}));
  expectScheduleError("split in 1, 2, 4 or 8, not 7", "split", 7);
  expectScheduleError("32 warps, not 99", "warps", 99);
  expectScheduleError("32 warps, not 3", "warps", ScheduleValue({2, 3}));
  expectScheduleError("`order = zigzag` is no order", "order", "zigzag");
  expectScheduleError("stages, not 1000", "stages", 1000);
  expectScheduleError("`persistent` takes no value", "persistent", 3);
  auto twice = errorsOf([](Body &b) {
    b.k.schedule("i", 8);
    b.k.scheduleFor("cuda", "i", 16);
    b.k.schedule("i", 32);
    b.k.parallel(tiles("i", b.N), [&](Span i) {
      b.y[i] = b.x[i];
      b.m[i] = b.n[i];
    });
  });
  expectError(twice, "`i` is scheduled twice");
  EXPECT_EQ(twice.size(), 1u);
}

TEST(ApiError, signatures) {
  auto build = [](const std::function<void(Kernel &)> &signature) {
    Module module;
    EXPECT_FALSE(module.kernel("f", [&](Kernel &k) {
      signature(k);
      k.parallel(tiles("i", 4), [](Span) {});
    }));
    return module.errors();
  };
  expectError(build([](Kernel &k) { k.output("y", f32, {k.dim("P")}); }),
              "`P` stands alone in no input");
  expectError(build([](Kernel &k) {
                auto N = k.dim("N");
                k.input("x", f32, {N, N / 0});
              }),
              "divided by a positive number");
  expectError(build([](Kernel &k) {
                k.input("x", f32, {k.dim("N"), k.dim("N")});
              }),
              "already means something");
  expectError(build([](Kernel &k) { k.input("f32", f32, {k.dim("N")}); }), "a word of letters");
  expectError(build([](Kernel &k) { k.scalar("s", i8, 300); }), "is no i8");
  expectError(build([](Kernel &k) { k.scalar("s", i32, 0.5); }), "is no i32");
  expectError(build([](Kernel &k) { k.scalar("s", boolean, 1); }), "is no bool");
  expectError(build([](Kernel &k) { k.output("y", f32, {3}, reduce("-")); }), "combines nothing");
}

TEST(ApiError, kernels) {
  Module module;
  EXPECT_FALSE(module.kernel("f", [](Kernel &) {}));
  expectError(module.errors(), "has no `parallel`");
  EXPECT_FALSE(Module().kernel("no name", [](Kernel &) {}));
  Module twice;
  auto build = [](Kernel &k) {
    auto N = k.dim("N");
    auto x = k.input("x", f32, {N});
    auto y = k.output("y", f32, {N});
    k.parallel(tiles("i", N), [&](Span i) { y[i] = x[i]; });
  };
  EXPECT_TRUE(twice.kernel("f", build)) << twice.errorText();
  EXPECT_FALSE(twice.kernel("f", build));
  expectError(twice.errors(), "already");
}

TEST(ApiError, proofs) {
  // y is stored only where i < 5: the rest stays unwritten.
  Module module;
  EXPECT_FALSE(module.kernel("hole", [](Kernel &k) {
    auto N = k.dim("N");
    auto x = k.input("x", f32, {N});
    auto y = k.output("y", f32, {N});
    k.parallel(tiles("i", N).when([](Span i) { return i < 5; }), [&](Span i) { y[i] = x[i]; });
  }));
  expectError(module.errors(), "`y`");
  // A partial sum leaves its loop by something else than a fold.
  EXPECT_FALSE(module.kernel("partial", [](Kernel &k) {
    auto [M, N] = k.dims("M", "N");
    auto x = k.input("x", f32, {M, N});
    auto y = k.output("y", f32, {M});
    k.parallel(tiles("i", M), [&](Span i) {
      auto acc = k.var("acc", zeros(f32, i));
      k.for_(tiles("j", N), [&](Span j) { acc += exp(sum(x[{i, j}], j)); });
      y[i] = acc;
    });
  }));
  EXPECT_GE(module.errors().size(), 2u);
}

TEST(ApiError, reduceOutputsCombineTheirType) {
  Module module;
  EXPECT_FALSE(module.kernel("f", [](Kernel &k) {
    auto N = k.dim("N");
    auto x = k.input("x", f32, {N});
    auto y = k.output("y", f32, {N}, reduce("|"));
    k.parallel(tiles("i", N), [&](Span i) { y[i] |= x[i]; });
  }));
  expectError(module.errors(), "`|` does not combine f32");
}

TEST(ApiError, exceptionsLeaveNoKernel) {
  Module module;
  auto build = [&] {
    module.kernel("f", [](Kernel &k) {
      auto N = k.dim("N");
      auto x = k.input("x", f32, {N});
      auto y = k.output("y", f32, {N});
      k.parallel(tiles("i", N), [&](Span i) {
        y[i] = x[i];
        throw std::runtime_error("of the caller");
      });
    });
  };
  EXPECT_THROW(build(), std::runtime_error);
  EXPECT_EQ(module.ir().find("tile.kernel"), std::string::npos);
  EXPECT_TRUE(module.ok());
  EXPECT_FALSE(module.compile("f"));
}

} // namespace
