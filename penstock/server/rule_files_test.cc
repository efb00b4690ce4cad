#include "penstock/server/rule_files.h"

#include <array>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace penstock::server {
namespace {

namespace fs = std::filesystem;

// A folder of its own for each test, gone after it.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "penstock-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const fs::path& name, std::string_view text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream{path_ / name} << text;
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TEST(RuleFiles, AreReadFromAFolderInOneOrderLeavingOtherFilesAlone) {
  const Folder folder;
  folder.write("b.yaml", "two");
  folder.write("a/z.yml", "one");
  folder.write("README.md", "not rules");
  folder.write(".hidden.yaml", "not rules");
  folder.write("..data/c.yaml", "not rules");
  const auto sources = read_rule_files(std::array{folder.path()});
  ASSERT_TRUE(sources);
  ASSERT_EQ(sources->size(), 2u);
  EXPECT_EQ((*sources)[0].text, "one");
  EXPECT_EQ((*sources)[1].text, "two");
}

TEST(RuleFiles, ThatAreNamedOneByOneAreReadWhateverTheirName) {
  const Folder folder;
  folder.write("rules.conf", "text");
  const auto sources = read_rule_files(std::array{folder.path() / "rules.conf"});
  ASSERT_TRUE(sources);
  EXPECT_EQ(sources->at(0).text, "text");
}

TEST(RuleFiles, ThatCannotBeReadAreAllNamed) {
  const Folder folder;
  const auto sources = read_rule_files(std::array{folder.path() / "none.yaml", folder.path() / "neither.yaml"});
  ASSERT_FALSE(sources);
  ASSERT_EQ(sources.error().size(), 2u);
  EXPECT_NE(to_string(sources.error()[0]).find("none.yaml: cannot be read"), std::string::npos);
}

TEST(RuleFiles, ThatFailWhileTheyAreReadAreNamedToo) {
  const auto sources = read_rule_files(std::array<fs::path, 1>{"/proc/self/mem"});
  ASSERT_FALSE(sources);
  EXPECT_NE(to_string(sources.error()[0]).find("/proc/self/mem: cannot be read: Input/output error"), std::string::npos)
      << to_string(sources.error()[0]);
}

TEST(RuleFiles, OneThatCannotBeReadHidesNoOther) {
  const Folder folder;
  folder.write("good.yaml", "text");
  fs::create_symlink("loop.yaml", folder.path() / "loop.yaml");
  fs::create_symlink("nowhere", folder.path() / "dangling.yaml");
  fs::create_symlink(".hidden", folder.path() / ".hidden");
  ASSERT_EQ(::mkfifo((folder.path() / "pipe.yaml").c_str(), 0600), 0);
  const auto sources = read_rule_files(std::array{folder.path(), folder.path() / "pipe.yaml"});
  ASSERT_FALSE(sources);
  std::vector<std::string> named;
  for (const Error& error : sources.error()) named.push_back(fs::path{error.place->file}.filename());
  EXPECT_EQ(named, (std::vector<std::string>{"dangling.yaml", "loop.yaml", "pipe.yaml", "pipe.yaml"}));
}

TEST(RuleFiles, ALinkToAFolderIsNotFollowedSoThatACycleEnds) {
  const Folder folder;
  folder.write("a/good.yaml", "text");
  fs::create_directory_symlink("..", folder.path() / "a/up");
  const auto sources = read_rule_files(std::array{folder.path()});
  ASSERT_TRUE(sources);
  EXPECT_EQ(sources->size(), 1u);
}

TEST(RuleFiles, AFolderWithoutAnyIsAnError) {
  const Folder folder;
  const auto sources = read_rule_files(std::array{folder.path()});
  ASSERT_FALSE(sources);
  EXPECT_NE(to_string(sources.error()[0]).find("holds no rule files"), std::string::npos);
}

}  // namespace
}  // namespace penstock::server
