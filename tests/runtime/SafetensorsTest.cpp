#include "runtime/tensor/Safetensors.h"
#include "tests/runtime/TestSupport.h"

#include <algorithm>
#include <map>

namespace tile::runtime {
namespace {

using test::expectError;
using test::freshSeed;

std::string file(const std::string &header, const std::string &data) {
  std::string result;
  for (int i = 0; i < 8; ++i)
    result += static_cast<char>(uint64_t(header.size()) >> (8 * i));
  return result + header + data;
}

std::string entry(const std::string &name, const std::string &type, const std::string &shape,
                  const std::string &offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

class SafetensorsTest : public test::FileTest {
protected:
  Result<SafetensorsFile> open(const std::string &content) {
    return SafetensorsFile::open(writeFile("a.safetensors", content));
  }

  /// Opens and reads everything: nothing may crash, whatever the outcome.
  void readAll(const std::string &content) {
    Result<SafetensorsFile> opened = open(content);
    if (!opened)
      return;
    for (const SafetensorsFile::Entry &e : opened->entries()) {
      Result<Tensor> tensor = opened->read(e.name);
      ASSERT_TRUE(!tensor || tensor->byteSize() == e.end - e.begin);
    }
  }

  const std::string sound = file("{" + entry("a", "F32", "[2,1]", "[0,8]") + "," +
                                     entry("b", "U8", "[3]", "[8,11]") + "}",
                                 std::string("\0\0\x80\x3f\0\0\0\xc0\x01\x02\x03", 11));
};

//===----------------------------------------------------------------------===//
// Sound files
//===----------------------------------------------------------------------===//

TEST_F(SafetensorsTest, readsTheFormatAsDescribed) {
  Result<SafetensorsFile> opened = open(sound);
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_EQ(opened->entries().size(), 2u);
  EXPECT_EQ(opened->entries()[1].name, "b");
  Result<Tensor> a = opened->read("a"), b = opened->read("b");
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->dtype(), DType::F32);
  EXPECT_EQ(a->shape(), (Shape{2, 1}));
  EXPECT_EQ(a->getDouble(0), 1);
  EXPECT_EQ(a->getDouble(1), -2);
  EXPECT_EQ(b->getInt(2), 3);
}

TEST_F(SafetensorsTest, takesMetadataPaddingEmptyTensorsAndFieldsInAnyOrder) {
  Result<SafetensorsFile> opened = open(
      file(R"({"__metadata__":{"format":"pt","x":"[1]"},"e":{"data_offsets":[2,2],"shape":[0,7],)"
           R"("dtype":"F64"},"a":{"shape":[],"dtype":"F16","data_offsets":[0,2]}}      )",
           std::string("\0\x3c", 2)));
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_EQ(opened->entries().size(), 2u);
  Result<Tensor> a = opened->read("a"), e = opened->read("e");
  ASSERT_TRUE(a && e);
  EXPECT_EQ(a->getDouble(0), 1);
  EXPECT_EQ(e->shape(), (Shape{0, 7}));
  EXPECT_TRUE(open(file("{}", "")));
}

TEST_F(SafetensorsTest, roundTripsEveryType) {
  uint64_t seed = freshSeed();
  SCOPED_TRACE(seed);
  std::mt19937_64 engine(seed);
  std::vector<Tensor> tensors;
  std::vector<std::string> names;
  for (const Shape &shape : {Shape{}, Shape{0, 3}, Shape{7}, Shape{3, 5, 2}})
    for (DType type : allDTypes()) {
      tensors.push_back(test::randomTensor(type, shape, engine));
      names.push_back(std::string(nameOf(type)) + "." + std::to_string(shape.size()));
    }
  std::vector<NamedTensor> named;
  for (size_t i = 0; i < tensors.size(); ++i)
    named.push_back({names[i], &tensors[i]});
  ASSERT_TRUE(writeSafetensors(path("t.safetensors"), named));
  std::string content = contentOf(path("t.safetensors"));

  Result<SafetensorsFile> opened = SafetensorsFile::open(path("t.safetensors"));
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_EQ(opened->entries().size(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    Result<Tensor> back = opened->read(names[i]);
    ASSERT_TRUE(back) << back.error().message;
    test::expectSame(*back, tensors[i]);
  }
  // In place, each tensor is aligned to its elements.
  auto headerSize =
      static_cast<unsigned char>(content[0]) + 256u * static_cast<unsigned char>(content[1]);
  EXPECT_EQ(headerSize % 8, 0u);
  for (const SafetensorsFile::Entry &e : opened->entries()) {
    Result<Tensor> tensor = opened->read(e.name);
    EXPECT_EQ(e.begin % static_cast<uint64_t>(sizeOf(tensor->dtype())), 0u) << e.name;
  }
  // The order of the caller leaves no trace.
  std::shuffle(named.begin(), named.end(), engine);
  ASSERT_TRUE(writeSafetensors(path("u.safetensors"), named));
  EXPECT_EQ(contentOf(path("u.safetensors")), content);
}

TEST_F(SafetensorsTest, spellsTheTypesAsTheFormatDoes) {
  std::map<DType, std::string> spelled{
      {DType::Bool, "BOOL"}, {DType::I8, "I8"},          {DType::I16, "I16"},
      {DType::I32, "I32"},   {DType::I64, "I64"},        {DType::U8, "U8"},
      {DType::U16, "U16"},   {DType::U32, "U32"},        {DType::U64, "U64"},
      {DType::F16, "F16"},   {DType::BF16, "BF16"},      {DType::F32, "F32"},
      {DType::F64, "F64"},   {DType::F8E4M3, "F8_E4M3"}, {DType::F8E5M2, "F8_E5M2"}};
  for (const auto &[type, name] : spelled) {
    Tensor tensor = *Tensor::create(type, {2});
    NamedTensor named{"x", &tensor};
    ASSERT_TRUE(writeSafetensors(path("t.safetensors"), std::span(&named, 1)));
    std::string expected =
        "{" + entry("x", name, "[2]", "[0," + std::to_string(2 * sizeOf(type)) + "]") + "}";
    EXPECT_EQ(contentOf(path("t.safetensors")).substr(8, expected.size()), expected);
  }
}

TEST_F(SafetensorsTest, namesMayHoldAnything) {
  Tensor tensor = *Tensor::create(DType::I32, {});
  for (const std::string name :
       {"", "a:b/c.d", "quote\"back\\slash", "tab\tnew\nline", "grüße 日本 🎉", "'"}) {
    tensor.setInt(0, static_cast<int64_t>(name.size()));
    NamedTensor named{name, &tensor};
    ASSERT_TRUE(writeSafetensors(path("t.safetensors"), std::span(&named, 1))) << name;
    Result<Tensor> back = readSafetensors(path("t.safetensors"), name);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->getInt(0), tensor.getInt(0));
  }
}

//===----------------------------------------------------------------------===//
// Unknown names and types
//===----------------------------------------------------------------------===//

TEST_F(SafetensorsTest, hintsAtTheNearestName) {
  writeFile("m.safetensors", file("{" + entry("layer.weight", "U8", "[1]", "[0,1]") + "," +
                                      entry("layer.bias", "U8", "[1]", "[1,2]") + "}",
                                  "xy"));
  Result<Tensor> slip = readSafetensors(path("m.safetensors"), "layer.wieght");
  expectError(slip, "no tensor 'layer.wieght' in '" + path("m.safetensors") + "'");
  EXPECT_EQ(slip.error().hint, "did you mean 'layer.weight'?");
  Result<Tensor> other = readSafetensors(path("m.safetensors"), "q");
  EXPECT_EQ(other.error().hint, "the file holds 'layer.weight', 'layer.bias'");
}

TEST_F(SafetensorsTest, refusesAnUnknownTypeOnlyWhenRead) {
  Result<SafetensorsFile> opened = open(file("{" + entry("a", "F8_E8M0", "[3]", "[0,3]") + "," +
                                                 entry("b", "U8", "[1]", "[3,4]") + "}",
                                             "abcd"));
  ASSERT_TRUE(opened) << opened.error().message;
  expectError(opened->read("a"), "unsupported type 'F8_E8M0'");
  EXPECT_TRUE(opened->read("b"));
}

TEST_F(SafetensorsTest, refusesNamesThatCannotBeWritten) {
  Tensor tensor = *Tensor::create(DType::I32, {});
  for (const std::string name : {"\xff", "a\xc3", "\xed\xa0\x80", "__metadata__"}) {
    NamedTensor named{name, &tensor};
    expectError(writeSafetensors(path("t.safetensors"), std::span(&named, 1)),
                "cannot write '" + path("t.safetensors") + "'");
  }
  NamedTensor twice[] = {{"x", &tensor}, {"x", &tensor}};
  expectError(writeSafetensors(path("t.safetensors"), twice), "two entries named 'x'");
  EXPECT_EQ(numFiles(), 0);
}

//===----------------------------------------------------------------------===//
// Unsound files
//===----------------------------------------------------------------------===//

TEST_F(SafetensorsTest, refusesUnsoundHeaders) {
  auto one = [](const std::string &shape, const std::string &offsets) {
    return "{" + entry("a", "F32", shape, offsets) + "}";
  };
  std::string many = "[1";
  for (int i = 0; i < 64; ++i)
    many += ",1";
  // All with 8 bytes of data.
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "malformed JSON"},
      {"[]", "an array out of place"},
      {"3", "a number out of place"},
      {"null", "null out of place"},
      {"{\"a\":", "malformed JSON"},
      {one("[2]", "[0,8]") + "x", "malformed JSON"},
      {"{\"a\":3}", "tensor 'a': a number out of place"},
      {"{\"a\":{}}", "tensor 'a': without dtype, shape or data_offsets"},
      {"{\"a\":[]}", "tensor 'a': an array out of place"},
      {"{\"a\":{\"dtype\":3}}", "tensor 'a': a number out of place"},
      {"{\"a\":{\"size\":3}}", "tensor 'a': unknown field 'size'"},
      {"{\"a\":{\"shape\":[],\"shape\":[]}}", "tensor 'a': second field 'shape'"},
      {"{\"__metadata__\":{\"x\":3}}", "a number out of place"},
      {"{\"__metadata__\":{\"x\":{}}}", "an object out of place"},
      {"{\"__metadata__\":{},\"__metadata__\":{}}", "second entry"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":" + std::string(1000, '['),
       "tensor 'a': an array out of place"},
      {one("[[2]]", "[0,8]"), "tensor 'a': an array out of place"},
      {one("[-2]", "[0,8]"), "tensor 'a': negative number -2"},
      {one("[2.0]", "[0,8]"), "tensor 'a': number '2.0' that is no 64-bit integer"},
      {one("[\"2\"]", "[0,8]"), "tensor 'a': a string out of place"},
      {one("[99999999999999999999999]", "[0,8]"), "no 64-bit integer"},
      {one("[9999999999999999999]", "[0,8]"), "impossible extent"},
      {one("[4611686018427387904,4]", "[0,8]"), "overflows"},
      {one(many + "]", "[0,8]"), "more than 64 dimensions"},
      {one("[2]", "[0]"), "no [begin, end]"},
      {one("[2]", "[0,4,8]"), "more than two data_offsets"},
      {one("[2]", "[8,0]"), "no [begin, end]"},
      {one("[2]", "[0,9]"), "ends at byte 9 of the data, which has only 8"},
      {one("[2]", "[0,18446744073709551615]"), "which has only 8"},
      {one("[2]", "[18446744073709551608,18446744073709551615]"), "which has only 8"},
      {one("[1]", "[0,8]"), "F32[1] needs 4 bytes, its data_offsets give 8"},
      {one("[1]", "[0,4]"), "4 bytes follow the last tensor"},
      {one("[1]", "[4,8]"), "bytes 0 to 4 of the data belong to no tensor"},
      {"{" + entry("a", "F32", "[2]", "[0,8]") + "," + entry("b", "U8", "[1]", "[7,8]") + "}",
       "tensor 'b' overlaps another at byte 7"},
      {"{" + entry("a", "U8", "[4]", "[0,4]") + "," + entry("a", "U8", "[4]", "[4,8]") + "}",
       "tensor 'a': second entry"},
  };
  for (const auto &[header, message] : cases) {
    SCOPED_TRACE(header.substr(0, 100));
    Result<SafetensorsFile> result = open(file(header, std::string(8, '\0')));
    expectError(result, message);
    EXPECT_EQ(result.error().message.find("cannot read '" + path("a.safetensors") + "': "), 0u);
  }
}

TEST_F(SafetensorsTest, refusesFalseHeaderLengths) {
  for (uint64_t lie : {uint64_t(1), uint64_t(5000), uint64_t(100'000'001), UINT64_MAX,
                       UINT64_MAX - 7, uint64_t(1) << 63}) {
    std::string content = sound;
    for (size_t i = 0; i < 8; ++i)
      content[i] = static_cast<char>(lie >> (8 * i));
    expectError(open(content), "cannot read");
  }
}

TEST_F(SafetensorsTest, refusesEveryTruncation) {
  for (size_t length = 0; length < sound.size(); ++length)
    expectError(open(sound.substr(0, length)), "cannot read '" + path("a.safetensors") + "'");
  expectError(open(sound + "x"), "1 bytes follow the last tensor");
}

TEST_F(SafetensorsTest, survivesEveryDamagedByte) {
  for (size_t i = 0; i < sound.size(); ++i)
    for (unsigned flip : test::flips) {
      std::string damaged = sound;
      damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ flip);
      readAll(damaged);
    }
}

TEST_F(SafetensorsTest, survivesDeepNesting) {
  std::string deep = "{\"__metadata__\":";
  for (int i = 0; i < 200'000; ++i)
    deep += "{\"a\":";
  expectError(open(file(deep, "")), "an object out of place");
  expectError(open(file(std::string(1'000'000, '['), "")), "an array out of place");
}

TEST_F(SafetensorsTest, boolsBecomeZeroOrOne) {
  Result<SafetensorsFile> opened =
      open(file("{" + entry("a", "BOOL", "[3]", "[0,3]") + "}", std::string("\0\2\1", 3)));
  ASSERT_TRUE(opened);
  Result<Tensor> truths = opened->read("a");
  ASSERT_TRUE(truths);
  EXPECT_EQ(std::to_integer<int>(truths->data()[1]), 1);
}

TEST_F(SafetensorsTest, refusesWhatIsNoFile) {
  std::filesystem::create_directory(path("d.safetensors"));
  expectError(readSafetensors(path("d.safetensors"), "a"), "is a directory");
  expectError(readSafetensors(path("none.safetensors"), "a"), "no such file");
}

} // namespace
} // namespace tile::runtime
