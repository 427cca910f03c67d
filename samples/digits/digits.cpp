// Reads handwritten digits with the network in digits.tile.
//
//   digits [FOLDER]    FOLDER holds digits.tile, the weights, images.npy and labels.npy;
//                      by default the folder of this source.
#include "frontend/tile/Tile.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>

namespace {

constexpr int64_t side = 8;    // pixels of an image's edge
constexpr int64_t perLine = 6; // images side by side
constexpr int64_t shownRight = 9, shownWrong = 3;

int fail(const std::string &message) {
  std::cerr << "digits: error: " << message << "\n";
  return 1;
}

/// One pixel, twice as wide as a character, from dark to bright.
const char *shade(double brightness) {
  static const char *const shades[] = {"  ", "░░", "▒▒", "▓▓", "██"};
  return shades[std::clamp(static_cast<int>(brightness * 5), 0, 4)];
}

struct Reading {
  int64_t image, digit, truth;
  double probability;
  bool isRight() const { return digit == truth; }
};

/// Up to six images side by side, and below each what was read.
void show(const tile::Tensor &images, const Reading *readings, int64_t count) {
  for (int64_t row = 0; row < side; ++row) {
    for (int64_t n = 0; n < count; ++n) {
      for (int64_t column = 0; column < side; ++column)
        std::cout << shade(images.getDouble((readings[n].image * side + row) * side + column));
      std::cout << "  ";
    }
    std::cout << "\n";
  }
  for (int64_t n = 0; n < count; ++n) {
    const Reading &reading = readings[n];
    std::string text = std::to_string(reading.digit) + " (" +
                       std::to_string(std::lround(100 * reading.probability)) + " %)";
    if (!reading.isRight())
      text += " ✗ is " + std::to_string(reading.truth);
    int64_t width = static_cast<int64_t>(text.size()) - (reading.isRight() ? 0 : 2);
    std::cout << text << std::string(std::max<int64_t>(2 * side + 2 - width, 1), ' ');
  }
  std::cout << "\n\n";
}

/// The first right and wrong ones, in the order of the images.
std::vector<Reading> choose(const std::vector<Reading> &readings) {
  std::vector<Reading> chosen;
  int64_t right = 0, wrong = 0;
  for (const Reading &reading : readings)
    if (reading.isRight() ? right++ < shownRight : wrong++ < shownWrong)
      chosen.push_back(reading);
  return chosen;
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
    std::cerr << "Usage: digits [FOLDER]\n";
    return 2;
  }
  std::string folder = argc == 2 ? argv[1] : DIGITS_FOLDER;

  std::map<std::string, tile::Tensor> tensors;
  for (const char *name : {"images", "labels", "w1", "b1", "w2", "b2", "w3", "b3"}) {
    tile::Result<tile::Tensor> tensor = tile::readNpy(folder + "/" + name + ".npy");
    if (!tensor)
      return fail(tensor.error().str());
    tensors.emplace(name, *std::move(tensor));
  }
  const tile::Tensor &images = tensors.at("images"), &labels = tensors.at("labels");
  if (images.rank() != 2 || images.shape()[1] != side * side || images.shape()[0] == 0 ||
      labels.shape() != tile::Shape{images.shape()[0]})
    return fail("images.npy holds n images of " + std::to_string(side * side) +
                " pixels and labels.npy n digits; here they are " + images.describe() + " and " +
                labels.describe());

  tile::Module module = tile::Module::load(folder + "/digits.tile");
  if (!module.ok())
    return fail("digits.tile has errors\n" + module.errorText());
  tile::Result<tile::Function> classify = module.compile("classify");
  if (!classify)
    return fail(classify.error().str());
  tile::Result<tile::Outputs> outputs = (*classify)({{"x", images},
                                                     {"w1", tensors.at("w1")},
                                                     {"b1", tensors.at("b1")},
                                                     {"w2", tensors.at("w2")},
                                                     {"b2", tensors.at("b2")},
                                                     {"w3", tensors.at("w3")},
                                                     {"b3", tensors.at("b3")}});
  if (!outputs)
    return fail(outputs.error().str());
  const tile::Tensor &label = *outputs->at("label"), &prob = *outputs->at("prob");

  std::vector<Reading> readings;
  int64_t classes = prob.shape()[1];
  for (int64_t n = 0; n < labels.numElements(); ++n) {
    int64_t digit = label.getInt(n);
    bool isClass = digit >= 0 && digit < classes;
    readings.push_back(
        {n, digit, labels.getInt(n), isClass ? prob.getDouble(n * classes + digit) : 0.0});
  }
  std::vector<Reading> chosen = choose(readings);
  for (size_t n = 0; n < chosen.size(); n += perLine)
    show(images, &chosen[n], std::min<int64_t>(perLine, chosen.size() - n));
  auto right = std::count_if(readings.begin(), readings.end(),
                             [](const Reading &reading) { return reading.isRight(); });
  std::cout << right << " of " << readings.size() << " right\n";
  std::printf("accuracy: %.1f %%\n", 100.0 * right / readings.size());
  return 0;
}
