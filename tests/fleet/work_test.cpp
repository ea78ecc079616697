// Work files: what comes back is what was sent, and nothing else is taken.
#include <gtest/gtest.h>

#include "korch/base/error.h"
#include "made_up_fleet.h"

namespace korch {
namespace {

KernelWork example_work() {
  MadeUpKernel made("an object\nwith lines\0and more");
  made.kernel.scratch_bytes = 4096;
  made.kernel.temporary_bytes = {128};
  made.kernel.phases.push_back({"k2", 7, 2, 3});
  made.measured.constants = {std::make_shared<const std::string>(200, 'w')};
  made.measured.constant_types = {DType::f32};
  made.measured.needed = {{1, 2, 3, 1}};
  return work_of(made.measured, made_up_device(), 1 << 20, Care::twice);
}

std::string refused(const std::string& bytes) {
  try {
    work_from_bytes(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
    return error.what();
  }
  return "taken";
}

TEST(Work, ComesBackAsItWas) {
  const KernelWork sent = example_work();
  const KernelWork work = work_from_bytes(to_bytes(sent));
  EXPECT_EQ(to_bytes(work), to_bytes(sent));
  EXPECT_EQ(work.device, made_up_device());
  EXPECT_EQ(work.care, Care::twice);
  EXPECT_EQ(work.footprint_bytes, 1 << 20);
  const MeasuredKernel kernel = measured_kernel(work);
  EXPECT_EQ(*kernel.object, sent.object);
  EXPECT_FALSE(kernel.kernel->source.empty());
  ASSERT_EQ(kernel.kernel->phases.size(), 2u);
  EXPECT_EQ(kernel.kernel->phases[1].symbol, "k2");
  EXPECT_EQ(kernel.kernel->phases[1].slices(), 21);
  EXPECT_EQ(kernel.kernel->scratch_bytes, 4096);
  EXPECT_EQ(kernel.inputs[0].dtype, DType::f32);
  ASSERT_EQ(kernel.constants.size(), 1u);
  EXPECT_EQ(kernel.constants[0]->size(), 200u);
  EXPECT_EQ(kernel.constants[0]->find("wwww"), std::string::npos);  // other weights
  ASSERT_EQ(kernel.needed.size(), 1u);
  EXPECT_EQ(kernel.needed[0].count, 3);
}

TEST(Work, HoldsNoWeights) {
  EXPECT_EQ(to_bytes(example_work()).find("wwww"), std::string::npos);
}

TEST(Work, IndicesStayAtHome) {
  MadeUpKernel made("gather");
  made.measured.constants = {std::make_shared<const std::string>(64, '\1')};
  EXPECT_FALSE(can_travel(made.measured));  // of a type that nobody told
  made.measured.constant_types = {DType::i64};
  EXPECT_FALSE(can_travel(made.measured));
  made.measured.constant_types = {DType::i8};
  EXPECT_TRUE(can_travel(made.measured));
  made.measured.constant_types = {DType::bf16};
  EXPECT_TRUE(can_travel(made.measured));
}

TEST(Work, TruncatedOrChangedIsRefused) {
  const std::string bytes = to_bytes(example_work());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(refused(bytes.substr(0, size)), "taken") << size;
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    EXPECT_NE(refused(changed), "taken") << at;
  }
}

// With a hash that fits.
std::string with_hash(const std::string& text) {
  return "korch work " + hash_text(text).hex() + "\n" + text;
}

TEST(Work, HostileSizesAreRefused) {
  const std::string bytes = to_bytes(example_work());
  const std::string text = bytes.substr(bytes.find('\n') + 1);
  ASSERT_EQ(refused(with_hash(text)), "taken");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    const size_t at = other.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return refused(with_hash(other.replace(at, from.size(), to)));
  };
  const std::string protocol = "\"protocol\":" + std::to_string(kCostProtocol);
  EXPECT_NE(changed(protocol, "\"protocol\":1").find("another protocol"), std::string::npos);
  for (const char* wrong : {"-1", "1e300", "99999999999999", "null", "[1]", "18446744073709551615"}) {
    EXPECT_NE(changed("\"scratch\":4096", std::string("\"scratch\":") + wrong), "taken") << wrong;
    EXPECT_NE(changed("[\"k2\",7,", std::string("[\"k2\",") + wrong + ","), "taken") << wrong;
    EXPECT_NE(changed("[\"f32\",200]", std::string("[\"f32\",") + wrong + "]"), "taken") << wrong;
    EXPECT_NE(changed("\"input_bytes\":[64]", std::string("\"input_bytes\":[") + wrong + "]"), "taken")
        << wrong;
  }
  EXPECT_NE(changed("[\"k2\",7,2,3]", "[\"k2\",7,0,3]"), "taken");
  EXPECT_NE(changed("[\"k2\",7,2,3]", "[\"k2\",7,2]"), "taken");
  EXPECT_NE(changed("[1,2,3,1]", "[2,2,3,1]"), "taken");  // a phase that is not there
  EXPECT_NE(changed("\"inputs\":[\"f32\"]", "\"inputs\":[]"), "taken");
  EXPECT_NE(changed("\"inputs\":[\"f32\"]", "\"inputs\":[\"f31\"]"), "taken");
  EXPECT_NE(changed("\"care\":2", "\"care\":3"), "taken");
  EXPECT_NE(changed("\"generated\":true", "\"generated\":false"), "taken");  // neither code nor a call
  EXPECT_NE(refused(with_hash("[]\nx")), "taken");
  EXPECT_NE(refused(with_hash("{\nx")), "taken");
  EXPECT_NE(refused(with_hash("")), "taken");
}

}  // namespace
}  // namespace korch
