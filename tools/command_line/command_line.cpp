#include "command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <iostream>
#include <numeric>
#include <sstream>

#include "korch/base/printable.h"
#include "korch/options/option_table.h"

namespace korch {
namespace {

enum class Word : int {};  // CLI11 shows an enumeration's type

// Refuses others than these. --help lists them.
CLI::Validator one_of_texts(const std::vector<std::string>& words) {
  std::string wanted, listed;
  for (const std::string& word : words) {
    const char* before = wanted.empty() ? "" : &word == &words.back() ? " or " : ", ";
    wanted += before + word;
    listed += (listed.empty() ? "" : ",") + word;
  }
  const auto fault = [words, wanted](const std::string& text) {
    const bool known = std::find(words.begin(), words.end(), text) != words.end();
    return known ? "" : wanted + ", not '" + printable(text) + "'";
  };
  return CLI::Validator([fault](std::string& text) { return fault(text); }, "{" + listed + "}");
}

// The same, and puts a word's number in its place.
CLI::Validator one_of_words(const std::map<std::string, int>& numbers) {
  std::vector<std::string> words;
  for (const auto& [word, number] : numbers) words.push_back(word);
  CLI::Validator validator = one_of_texts(words);
  const auto fault = validator;
  return validator.operation([fault, numbers](std::string& text) {
    std::string refusal = fault(text);
    if (refusal.empty()) text = std::to_string(numbers.at(text));
    return refusal;
  });
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
  if (option.get_group() != "Options") result.group = option.get_group();
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

// CLI11's words for a fault, in ours.
std::string reworded(const CLI::App& verb, const std::string& text) {
  const std::string missing = " is required", no_value = " missing",
                    unread = "Could not convert: ", extra = " not expected: ";
  const size_t wanted = text.find(": 1 required "), equal = text.find(" = "), more = text.find(extra);
  if (text == "A subcommand is required") return "no verb is given";
  if (text.ends_with(missing)) {
    const std::string name = text.substr(0, text.size() - missing.size());
    const CLI::Option* option = verb.get_option_no_throw(name);
    return "'" + name + "' is missing" + (option == nullptr ? "" : ": " + option->get_description());
  }
  if (text.ends_with(no_value) && wanted != std::string::npos)
    return text.substr(0, wanted) + " wants a value";
  if (text.starts_with(unread) && equal != std::string::npos)
    return text.substr(unread.size(), equal - unread.size()) + ": a number, not '" + text.substr(equal + 3) +
           "'";
  if (more != std::string::npos)
    return "takes no further argument, but there is '" + text.substr(more + extra.size()) + "'";
  return text;
}

// What is wrong with what was given, and of which verb.
std::string fault_text(const CLI::App* program, const CLI::Error& error) {
  const std::vector<CLI::App*> verbs = program->get_subcommands();
  const CLI::App& verb = verbs.empty() ? *program : *verbs[0];
  std::string call = program->get_name(), text = call.empty() ? "" : call + ": ";
  if (!verbs.empty()) {
    call += " " + verb.get_name();
    text += verb.get_name() + ": ";
  }
  return text + printable(reworded(verb, error.what())) + "\n" + call + (call.empty() ? "" : " ") +
         "--help tells more.\n";
}

std::vector<std::string> spellings(const VerbDescription& verb) {
  std::vector<std::string> result;
  for (const OptionDescription& option : verb.dashed) result.push_back(option.spellings.back());
  return result;
}

// Letters to insert, to leave out or to change.
size_t distance(const std::string& from, const std::string& to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < to.size(); ++j) {
      const size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

// A word that is none of the verbs, which stand in `verbs`.
std::string no_verb_text(const std::string& word, const std::vector<VerbDescription>& verbs) {
  const auto nearer = [&](const VerbDescription& a, const VerbDescription& b) {
    return distance(word, a.name) < distance(word, b.name);
  };
  const std::string& nearest = std::min_element(verbs.begin(), verbs.end(), nearer)->name;
  std::string text = "no verb '" + printable(word) + "'; ";
  text += 2 * distance(word, nearest) <= nearest.size() ? "is it '" + nearest + "'? There are" : "there are";
  for (const VerbDescription& verb : verbs) text += (&verb == &verbs[0] ? " " : ", ") + verb.name;
  return text;
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
    return range(text).empty() ? "" : wanted + ", not '" + printable(text) + "'";
  });
  return *this;
}

Option Option::at_least(int least) {
  option_->check([=](const std::string& text) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && number >= least
               ? ""
               : "a whole number of at least " + std::to_string(least) + ", not '" + printable(text) + "'";
  });
  return *this;
}

Option Option::positive() {
  option_->check([](const std::string& text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool read = error == std::errc() && end == text.data() + text.size();
    return read && number > 0 ? "" : "a number above 0, not '" + printable(text) + "'";
  });
  return *this;
}

Option Option::one_of(const std::vector<std::string>& words) {
  option_->check(one_of_texts(words));
  return *this;
}

Option Option::type(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option Option::group(const std::string& heading) {
  option_->group(heading);
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
    : CommandLine(std::make_unique<CLI::App>(text, name)) {
  app().failure_message(fault_text);
}

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
    const std::string program = app().get_name();
    std::cerr << program << (program.empty() ? "" : ": ")
              << no_option_text(extra[0], spellings(describe(verbs.empty() ? app() : *verbs[0]))) << "\n";
    return error.get_exit_code();
  } catch (const CLI::RequiredError& error) {
    const std::vector<std::string> extra = app().remaining(/*recurse=*/true);
    const std::vector<VerbDescription> verbs = verb_descriptions();
    if (verbs.empty() || !app().get_subcommands().empty() || extra.empty()) return app().exit(error);
    const bool is_option = extra[0].starts_with('-');
    std::cerr << app().get_name() << ": "
              << (is_option ? no_option_text(extra[0], spellings(description()))
                            : no_verb_text(extra[0], verbs))
              << "\n";
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
