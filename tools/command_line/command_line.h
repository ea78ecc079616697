// What a program takes on its command line, and the same as --help, completion and the manual page tell it.
// CLI11 parses; command_line.cpp alone includes it, since each file that does costs as much as ten of ours.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace korch {

// One that was declared; what it is told holds from then on. A value outside of what an option takes ends the
// parse.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required();
  Option default_shown();  // in --help, as it is now
  Option default_text(const std::string& text);
  Option between(int least, int most);
  Option at_least(int least);
  Option positive();
  Option one_of(const std::vector<std::string>& words);
  Option type(const std::string& name);      // as --help shows it
  Option group(const std::string& heading);  // below which --help lists it, behind the others
  Option excludes(Option other);

  // By the parse.
  bool is_given() const;

 private:
  CLI::Option* option_;
};

// Of a verb, or of a program without any. The name of an option is "-o,--output", that of an argument by
// position has no dash. Values must live until the parse has ended, and are left as they are where nothing is
// given.
class Options {
 public:
  explicit Options(CLI::App* app) : app_(app) {}

  Option option(const std::string& name, std::string& value, const std::string& text = "");
  Option option(const std::string& name, int& value, const std::string& text = "");
  Option option(const std::string& name, int64_t& value, const std::string& text = "");
  Option option(const std::string& name, uint64_t& value, const std::string& text = "");
  Option option(const std::string& name, double& value, const std::string& text = "");
  // Repeatable.
  Option option(const std::string& name, std::vector<std::string>& values, const std::string& text = "");
  Option option(const std::string& name, std::vector<int64_t>& values, const std::string& text = "");
  // `take` may throw; of `repeated` it is called for each.
  Option option(const std::string& name, std::function<void(const std::string&)> take,
                const std::string& text);
  Option repeated(const std::string& name, std::function<void(const std::string&)> take,
                  const std::string& text);

  // What a word stands for: its value goes to `choice`, an E or a std::optional of one.
  template <typename E, typename Choice>
  Option choice(const std::string& name, Choice& choice, const std::string& text,
                const std::map<std::string, E>& words) {
    const auto take = [&choice](int number) { choice = static_cast<E>(number); };
    return word(name, take, text, numbers(words));
  }
  // Repeatable.
  template <typename E>
  Option choice(const std::string& name, std::vector<E>& choices, const std::string& text,
                const std::map<std::string, E>& words) {
    const auto take = [&choices](const std::vector<int>& all) {
      choices.clear();
      for (int number : all) choices.push_back(static_cast<E>(number));
    };
    return repeated_word(name, take, text, numbers(words));
  }

  // True where it is given; false, of a name that begins with '!'.
  Option flag(const std::string& name, bool& value, const std::string& text = "");
  Option flag(const std::string& name, std::function<void()> take, const std::string& text);

  void footer(const std::string& text);
  void hide();  // from --help
  void runs(std::function<void()> action);

 protected:
  CLI::App& app() const { return *app_; }

 private:
  template <typename E>
  static std::map<std::string, int> numbers(const std::map<std::string, E>& words) {
    std::map<std::string, int> result;
    for (const auto& [word, value] : words) result[word] = static_cast<int>(value);
    return result;
  }
  Option word(const std::string& name, std::function<void(int)> take, const std::string& text,
              const std::map<std::string, int>& words);
  Option repeated_word(const std::string& name, std::function<void(const std::vector<int>&)> take,
                       const std::string& text, const std::map<std::string, int>& words);

  CLI::App* app_;
};

// As --help lists it.
struct OptionDescription {
  std::vector<std::string> spellings;  // "-o", "--output"; of an argument by position none
  std::string name;                    // of an argument by position
  std::string type;                    // "TEXT:{import,fission}"
  std::string text, default_text;
  bool is_flag = false, is_required = false, is_repeatable = false;
  std::string group = {};  // empty: of the others

  // What it takes where that is one of a few words; else empty.
  std::vector<std::string> choices() const;
};

struct VerbDescription {
  std::string name, text;
  std::vector<OptionDescription> dashed, positional;
};

class CommandLine : public Options {
 public:
  // `text` says what the program is for.
  explicit CommandLine(const std::string& text, const std::string& name = "");
  ~CommandLine();

  void version(const std::string& text);
  // With a verb, one must be given.
  Options verb(const std::string& name, const std::string& text);

  // Runs what the verb given runs. The exit code where the program ends by that: 0 after --help, another
  // after what it cannot take, which is told on the standard error. Throws what `take` of an option throws.
  std::optional<int> parse(int argc, char** argv);

  VerbDescription description() const;                     // of the program's own options
  std::vector<VerbDescription> verb_descriptions() const;  // those that --help lists

 private:
  explicit CommandLine(std::unique_ptr<CLI::App> app);

  std::unique_ptr<CLI::App> owned_;
};

}  // namespace korch
