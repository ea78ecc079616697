#include "command_line.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <sstream>

#include "korch/options/option_table.h"

namespace korch {
namespace {

enum class Word : int {};  // CLI11 shows an enumeration's type

CLI::Validator one_of_words(const std::map<std::string, int>& numbers) {
  std::map<std::string, Word> words;
  std::string names;
  for (const auto& [name, number] : numbers) {
    words[name] = Word{number};
    names += (names.empty() ? "" : ",") + name;
  }
  return CLI::CheckedTransformer(words).description("{" + names + "}");
}

OptionDescription describe(const CLI::Option& option) {
  OptionDescription result;
  for (const std::string& name : option.get_snames()) result.spellings.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.spellings.push_back("--" + name);
  result.name = option.get_name(/*positional=*/true);
  result.type = option.get_type_name();
  result.text = option.get_description();
  result.default_text = option.get_default_str();
  result.is_flag = option.get_items_expected_max() == 0;
  result.is_required = option.get_required();
  result.is_repeatable = option.get_items_expected_max() > 1;
  return result;
}

VerbDescription describe(const CLI::App& app) {
  VerbDescription result{app.get_name(), app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options({})) {
    if (option->nonpositional()) result.dashed.push_back(describe(*option));
    if (option->get_positional()) result.positional.push_back(describe(*option));
  }
  return result;
}

}  // namespace

Option Option::required() {
  option_->required();
  return *this;
}

Option Option::default_shown() {
  option_->capture_default_str();
  return *this;
}

Option Option::default_text(const std::string& text) {
  option_->default_str(text);
  return *this;
}

Option Option::between(int least, int most) {
  const std::string wanted = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  option_->check([=, range = CLI::Range(least, most)](const std::string& text) {
    return range(text).empty() ? "" : wanted + ", not '" + text + "'";
  });
  return *this;
}

Option Option::one_of(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words));
  return *this;
}

Option Option::type(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option Option::excludes(Option other) {
  option_->excludes(other.option_);
  return *this;
}

bool Option::is_given() const {
  return option_->count() > 0;
}

Option Options::option(const std::string& name, std::string& value, const std::string& text) {
  return Option(app_->add_option(name, value, text));
}

Option Options::option(const std::string& name, int& value, const std::string& text) {
  return Option(app_->add_option(name, value, text));
}

Option Options::option(const std::string& name, int64_t& value, const std::string& text) {
  return Option(app_->add_option(name, value, text));
}

Option Options::option(const std::string& name, uint64_t& value, const std::string& text) {
  return Option(app_->add_option(name, value, text));
}

Option Options::option(const std::string& name, double& value, const std::string& text) {
  return Option(app_->add_option(name, value, text));
}

Option Options::option(const std::string& name, std::vector<std::string>& values, const std::string& text) {
  return Option(app_->add_option(name, values, text));
}

Option Options::option(const std::string& name, std::vector<int64_t>& values, const std::string& text) {
  return Option(app_->add_option(name, values, text));
}

Option Options::option(const std::string& name, std::function<void(const std::string&)> take,
                       const std::string& text) {
  return Option(app_->add_option_function<std::string>(name, take, text));
}

Option Options::repeated(const std::string& name, std::function<void(const std::string&)> take,
                         const std::string& text) {
  const auto take_all = [take](const std::vector<std::string>& values) {
    for (const std::string& value : values) take(value);
  };
  return Option(app_->add_option_function<std::vector<std::string>>(name, take_all, text));
}

Option Options::word(const std::string& name, std::function<void(int)> take, const std::string& text,
                     const std::map<std::string, int>& words) {
  const auto take_word = [take](const Word& word) { take(static_cast<int>(word)); };
  CLI::Option* option = app_->add_option_function<Word>(name, take_word, text);
  return Option(option->transform(one_of_words(words)));
}

Option Options::repeated_word(const std::string& name, std::function<void(const std::vector<int>&)> take,
                              const std::string& text, const std::map<std::string, int>& words) {
  const auto take_words = [take](const std::vector<Word>& all) {
    std::vector<int> numbers;
    for (Word word : all) numbers.push_back(static_cast<int>(word));
    take(numbers);
  };
  CLI::Option* option = app_->add_option_function<std::vector<Word>>(name, take_words, text);
  return Option(option->transform(one_of_words(words)));
}

Option Options::flag(const std::string& name, bool& value, const std::string& text) {
  return Option(app_->add_flag(name, value, text));
}

Option Options::flag(const std::string& name, std::function<void()> take, const std::string& text) {
  return Option(app_->add_flag_callback(name, take, text));
}

void Options::footer(const std::string& text) {
  app_->footer(text);
}

void Options::hide() {
  app_->group("");
}

void Options::runs(std::function<void()> action) {
  app_->callback(std::move(action));
}

std::vector<std::string> OptionDescription::choices() const {
  const size_t open = type.find('{'), close = type.find('}');
  std::vector<std::string> words;
  if (open == std::string::npos || close == std::string::npos) return words;
  std::istringstream list(type.substr(open + 1, close - open - 1));
  for (std::string word; std::getline(list, word, ',');) words.push_back(word);
  return words;
}

CommandLine::CommandLine(const std::string& text, const std::string& name)
    : CommandLine(std::make_unique<CLI::App>(text, name)) {}

CommandLine::CommandLine(std::unique_ptr<CLI::App> app) : Options(app.get()), owned_(std::move(app)) {}

CommandLine::~CommandLine() = default;

void CommandLine::version(const std::string& text) {
  app().set_version_flag("--version", text);
}

Options CommandLine::verb(const std::string& name, const std::string& text) {
  app().require_subcommand(1);
  return Options(app().add_subcommand(name, text));
}

std::optional<int> CommandLine::parse(int argc, char** argv) {
  try {
    app().parse(argc, argv);
  } catch (const CLI::ExtrasError& error) {
    const std::vector<std::string> extra = app().remaining(/*recurse=*/true);
    if (extra.empty() || !extra[0].starts_with('-')) return app().exit(error);
    const std::vector<CLI::App*> verbs = app().get_subcommands();
    std::vector<std::string> known;
    for (const OptionDescription& option : describe(verbs.empty() ? app() : *verbs[0]).dashed)
      known.push_back(option.spellings.back());
    const std::string program = app().get_name();
    std::cerr << program << (program.empty() ? "" : ": ") << no_option_text(extra[0], known) << "\n";
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return app().exit(error);
  }
  return std::nullopt;
}

VerbDescription CommandLine::description() const {
  return describe(app());
}

std::vector<VerbDescription> CommandLine::verb_descriptions() const {
  std::vector<VerbDescription> result;
  for (const CLI::App* verb : app().get_subcommands([](const CLI::App*) { return true; }))
    if (!verb->get_group().empty()) result.push_back(describe(*verb));
  return result;
}

}  // namespace korch
