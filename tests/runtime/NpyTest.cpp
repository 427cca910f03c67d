#include "runtime/tensor/Npy.h"
#include "runtime/base/Text.h"
#include "tests/runtime/TestSupport.h"

#include <algorithm>
#include <bit>
#include <map>

namespace tile::runtime {
namespace {

using test::expectError;
using test::freshSeed;

const std::map<DType, std::string> codes{
    {DType::Bool, "b1"}, {DType::I8, "i1"},  {DType::I16, "i2"}, {DType::I32, "i4"},
    {DType::I64, "i8"},  {DType::U8, "u1"},  {DType::U16, "u2"}, {DType::U32, "u4"},
    {DType::U64, "u8"},  {DType::F16, "f2"}, {DType::F32, "f4"}, {DType::F64, "f8"}};

/// A file as the format's description says, without its padding to 64 bytes.
std::string file(const std::string &header, const std::string &data, int version = 1) {
  std::string result = "\x93NUMPY";
  result += {static_cast<char>(version), '\0'};
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    result += static_cast<char>(header.size() >> (8 * i));
  return result + header + data;
}

std::string dictionary(const std::string &descr, const std::string &shape,
                       const std::string &fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

class NpyTest : public test::FileTest {
protected:
  Result<Tensor> read(const std::string &content) { return readNpy(writeFile("a.npy", content)); }

  std::string raw(const Tensor &tensor) {
    return {reinterpret_cast<const char *>(tensor.data()), tensor.byteSize()};
  }
};

//===----------------------------------------------------------------------===//
// Sound files
//===----------------------------------------------------------------------===//

TEST_F(NpyTest, readsWhatNumPyWrote) {
  using namespace std::string_literals;
  std::string spaces(59, ' ');
  std::string big = "\x93NUMPY\1\0v\0{'descr': '>f4', 'fortran_order': True, 'shape': (2, 2), }"s +
                    spaces + "\n?\xc0\0\0@@\0\0\xc0\0\0\0Q\x15\x02\xf9"s;
  Result<Tensor> tensor = read(big);
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(tensor->dtype(), DType::F32);
  EXPECT_EQ(tensor->shape(), (Shape{2, 2}));
  double expected[] = {1.5, -2, 3, 4e10};
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(tensor->getDouble(i), expected[i]);

  std::string scalar = "\x93NUMPY\1\0v\0{'descr': '<i2', 'fortran_order': False, 'shape': (), }"s +
                       std::string(62, ' ') + "\n\7\0"s;
  Result<Tensor> seven = read(scalar);
  ASSERT_TRUE(seven) << seven.error().message;
  EXPECT_EQ(seven->rank(), 0);
  EXPECT_EQ(seven->getInt(0), 7);
}

TEST_F(NpyTest, roundTripsEveryType) {
  uint64_t seed = freshSeed();
  SCOPED_TRACE(seed);
  std::mt19937_64 engine(seed);
  for (const auto &[type, code] : codes)
    for (const Shape &shape : {Shape{}, Shape{0}, Shape{1}, Shape{17}, Shape{3, 0, 2}, Shape{5, 7},
                               Shape{2, 3, 4, 5}, Shape(64, 1)}) {
      Tensor tensor = test::randomTensor(type, shape, engine);
      ASSERT_TRUE(writeNpy(path("t.npy"), tensor));
      std::string content = contentOf(path("t.npy"));
      std::string descr = (sizeOf(type) == 1 ? "|" : "<") + code;
      EXPECT_NE(content.find("{'descr': '" + descr + "', 'fortran_order': False, 'shape': ("),
                std::string::npos);
      EXPECT_EQ((content.size() - tensor.byteSize()) % 64, 0u);
      EXPECT_EQ(content[content.size() - tensor.byteSize() - 1], '\n');
      Result<Tensor> back = readNpy(path("t.npy"));
      ASSERT_TRUE(back) << back.error().message;
      test::expectSame(*back, tensor);
    }
}

TEST_F(NpyTest, readsBothByteOrdersAllVersions) {
  uint64_t seed = freshSeed();
  SCOPED_TRACE(seed);
  std::mt19937_64 engine(seed);
  for (const auto &[type, code] : codes) {
    Tensor tensor = test::randomTensor(type, {3, 5}, engine);
    std::string swapped = raw(tensor);
    auto size = static_cast<size_t>(sizeOf(type));
    for (size_t i = 0; i < swapped.size(); i += size)
      std::reverse(swapped.begin() + long(i), swapped.begin() + long(i + size));
    for (int version : {1, 2, 3})
      for (const char *order : {"<", "=", ">"}) {
        std::string data = *order == '>' ? swapped : raw(tensor);
        Result<Tensor> back = read(file(dictionary(order + code, "(3, 5)"), data, version));
        ASSERT_TRUE(back) << back.error().message;
        test::expectSame(*back, tensor);
      }
  }
}

TEST_F(NpyTest, transposesColumnMajorData) {
  uint64_t seed = freshSeed();
  SCOPED_TRACE(seed);
  std::mt19937_64 engine(seed);
  for (const auto &[type, code] : codes) {
    Tensor tensor = test::randomTensor(type, {3, 5, 7}, engine);
    auto size = static_cast<size_t>(sizeOf(type));
    std::string data, rows = raw(tensor);
    for (int64_t k = 0; k < 7; ++k)
      for (int64_t j = 0; j < 5; ++j)
        for (int64_t i = 0; i < 3; ++i)
          data += rows.substr(static_cast<size_t>(i * 35 + j * 7 + k) * size, size);
    Result<Tensor> back = read(file(dictionary("<" + code, "(3, 5, 7)", "True"), data));
    ASSERT_TRUE(back) << back.error().message;
    test::expectSame(*back, tensor);
  }
  Result<Tensor> empty =
      read(file(dictionary("<f4", "(4611686018427387904, 0, 4611686018427387904)", "True"), ""));
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_EQ(empty->numElements(), 0);
}

TEST_F(NpyTest, boolsBecomeZeroOrOne) {
  Result<Tensor> truths = read(file(dictionary("|b1", "(4,)"), std::string("\0\1\2\xff", 4)));
  ASSERT_TRUE(truths) << truths.error().message;
  EXPECT_EQ(raw(*truths), std::string("\0\1\1\1", 4));
}

TEST_F(NpyTest, takesTheLibertiesOfPython) {
  for (const std::string header :
       {"{'shape': (2,), 'fortran_order': False, 'descr': '<i2'}",
        "{\"descr\":\"<i2\",\"fortran_order\":False,\"shape\":(2,)}", // no spaces, double quotes
        "  { 'descr' : '<i2' ,\n'fortran_order' : True ,\t'shape' : ( 2 , ) , }   \n",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (2L,), }"}) {
    Result<Tensor> tensor = read(file(header, "abcd"));
    ASSERT_TRUE(tensor) << header << "\n" << tensor.error().message;
    EXPECT_EQ(tensor->shape(), Shape{2});
  }
}

//===----------------------------------------------------------------------===//
// Unsound files
//===----------------------------------------------------------------------===//

TEST_F(NpyTest, refusesOtherTypes) {
  for (const char *descr : {"<c8", "<U5", "|S3", "|O", "<M8[ns]", "<f16", "<i3", "<b2", "<f1", ""})
    expectError(read(file(dictionary(descr, "(2,)"), std::string(64, '\0'))), "element type");
  Result<Tensor> objects = read(file(dictionary("|O", "(1,)"), "\x80\x04"));
  expectError(objects, "element type '|O': Python objects are not read");
  EXPECT_NE(objects.error().hint.find("numbers"), std::string::npos);
  for (const char *descr : {"<V2", "|V1"}) {
    Result<Tensor> raw = read(file(dictionary(descr, "(2,)"), "abcd"));
    expectError(raw, "raw element type");
    EXPECT_NE(raw.error().hint.find(".safetensors"), std::string::npos);
  }
  expectError(read(file("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }", "")),
              "structured element type");
  std::mt19937_64 engine(1);
  for (DType type : {DType::BF16, DType::F8E4M3, DType::F8E5M2}) {
    Status written = writeNpy(path("b.npy"), test::randomTensor(type, {3}, engine));
    expectError(written, std::string("no element type for ") + std::string(nameOf(type)));
    EXPECT_NE(written.error().hint.find(".safetensors"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(path("b.npy")));
  }
}

TEST_F(NpyTest, saysWhereAHeaderIsMalformed) {
  std::vector<std::pair<std::string, std::string>> cases{
      {"", "at byte 10: expected a '{', found the end of the header"},
      {"{", "at byte 11: expected a quoted key"},
      {"{}", "header without 'descr'"},
      {"{'descr': '<f4', 'shape': (2,)}", "header without 'fortran_order'"},
      {"{'descr': '<f4', 'fortran_order': False}", "header without 'shape'"},
      {dictionary("<f4", "(2,)") + "x", "expected the end of the header, found 'x'"},
      {"{'descr': '<f4', 'descr': '<f4'}", "at byte 27: second header key 'descr'"},
      {"{'dtype': '<f4'}", "at byte 11: unknown header key 'dtype'"},
      {"{'descr' '<f4'}", "at byte 19: expected a ':', found ''<f4'}'"},
      {"{'descr': 1}", "expected a quoted type"},
      {"{'descr': '<f4}", "expected a quoted type"},
      {dictionary("<f4", "(2,)", "false"), "expected True or False, found 'false, '"},
      {dictionary("<f4", "[2]"), "expected a '(', found '[2], }"},
      {dictionary("<f4", "(2)"), "shape that is no tuple"},
      {dictionary("<f4", "(,)"), "expected an extent, found ',)"},
      {dictionary("<f4", "(2 3)"), "expected a ',' or ')', found '3)"},
      {dictionary("<f4", "(2.5,)"), "expected a ',' or ')', found '.5,)"},
      {dictionary("<f4", "(-2,)"), "impossible extent '-2,"},
      {dictionary("<f4", "(99999999999999999999,)"), "impossible extent '999999"},
      {dictionary("<f4", "(2,"), "expected an extent"},
      {dictionary("<f4", "(4611686018427387904, 4)"), "overflows"},
      {dictionary("?f4", "(2,)"), "unknown element type '?f4'"}};
  std::string many = "(";
  for (int i = 0; i < 65; ++i)
    many += "1, ";
  cases.push_back({dictionary("<f4", many + ")"), "more than 64 dimensions"});
  for (const auto &[header, message] : cases) {
    SCOPED_TRACE(header);
    Result<Tensor> result = read(file(header, std::string(8, '\0')));
    expectError(result, message);
    EXPECT_EQ(result.error().message.find("cannot read '" + path("a.npy") + "': at byte "), 0u);
  }
}

TEST_F(NpyTest, refusesForeignMagicAndVersions) {
  expectError(read("PK\3\4 something else"), "no .npy magic string");
  expectError(read(""), "at byte 0: the file ends inside the magic string");
  std::string sound = file(dictionary("<f4", "(2,)"), std::string(8, '\0'));
  for (int version : {0, 4, 255}) {
    std::string other = sound;
    other[6] = static_cast<char>(version);
    expectError(read(other), "at byte 6: unknown version " + std::to_string(version) + ".0");
  }
  sound[7] = 1;
  expectError(read(sound), "unknown version 1.1");
}

TEST_F(NpyTest, refusesFalseLengths) {
  std::string sound = file(dictionary("<f4", "(2,)"), std::string(8, '\0'), 2);
  for (uint32_t lie : {0u, 1u, 30u, 1000u, 0x7fffffffu, 0xffffffffu}) {
    std::string other = sound;
    for (int i = 0; i < 4; ++i)
      other[8 + static_cast<size_t>(i)] = static_cast<char>(lie >> (8 * i));
    EXPECT_FALSE(read(other)) << lie;
  }
  // A long header in a file that is really so long.
  std::string padded = dictionary("<f4", "(2,)") + std::string(2 << 20, ' ');
  expectError(read(file(padded, std::string(8, '\0'), 2)), "header length 2097");
}

TEST_F(NpyTest, refusesImpossibleSizesBeforeAllocating) {
  expectError(read(file(dictionary("<f8", "(1000000000000, 1000)"), "abc")),
              "the file ends, but f64[1000000000000x1000] needs 8000000000000000 bytes");
  expectError(read(file(dictionary("<f4", "(2,)"), std::string(9, 'x'))),
              "1 bytes follow the data of f32[2]");
}

TEST_F(NpyTest, refusesEveryTruncation) {
  for (int version : {1, 2}) {
    std::string whole = file(dictionary("<f4", "(3, 2)"), std::string(24, 'x'), version);
    ASSERT_TRUE(read(whole));
    for (size_t length = 0; length < whole.size(); ++length) {
      Result<Tensor> result = read(whole.substr(0, length));
      expectError(result, "cannot read '" + path("a.npy") + "': at byte ");
    }
  }
}

TEST_F(NpyTest, survivesEveryDamagedByte) {
  std::string whole = file(dictionary("<f4", "(3, 2)"), std::string(24, 'x'));
  for (size_t i = 0; i < whole.size(); ++i)
    for (unsigned flip : test::flips) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ flip);
      Result<Tensor> result = read(damaged);
      // What is still sound holds all 24 bytes of data.
      if (result)
        ASSERT_EQ(result->byteSize(), 24u) << i << " " << flip;
      else
        ASSERT_FALSE(result.error().message.empty());
    }
}

TEST_F(NpyTest, survivesRandomHeaders) {
  uint64_t seed = freshSeed();
  SCOPED_TRACE(seed);
  std::mt19937_64 engine(seed);
  const std::vector<std::string> tokens{
      "{",  "}", "(",     ")",    "'descr'",    "'shape'", "'fortran_order'",
      ":",  ",", "'<f4'", "True", "False",      "3",       "-1",
      "1L", "'", " ",     "[",    "9999999999", "\0",      "\xff"};
  for (int i = 0; i < 3000; ++i) {
    std::string header = engine() % 2 ? "{'descr': '<f4', " : "";
    for (uint64_t n = engine() % 20; n > 0; --n)
      header += tokens[engine() % tokens.size()];
    (void)static_cast<bool>(read(file(header, "data")));
  }
}

//===----------------------------------------------------------------------===//
// Places that can't be read or written
//===----------------------------------------------------------------------===//

TEST_F(NpyTest, namesTheFileThatCannotBeUsed) {
  expectError(readNpy(path("none.npy")), "cannot read '" + path("none.npy") + "': no such file");
  std::filesystem::create_directory(path("d.npy"));
  expectError(readNpy(path("d.npy")), "is a directory");
  Tensor tensor = *Tensor::create(DType::F32, {3});
  expectError(writeNpy(path("d.npy"), tensor), "is a directory");
  expectError(writeNpy(path("none/a.npy"), tensor), "its directory doesn't exist");
}

} // namespace
} // namespace tile::runtime
