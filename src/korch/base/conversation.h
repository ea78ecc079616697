// A computation that asks questions, written as one piece of code. `next` runs it up to its next question;
// the caller passes the answer to the following `next`. Nothing runs in another thread or later.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace korch {

// A part of such a computation: starts when another one waits for it (co_await).
template <typename T>
class Task {
 public:
  class promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  class promise_type {
   public:
    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct BackToWhoWaits {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(Handle done) noexcept { return done.promise().waiting_; }
        void await_resume() noexcept {}
      };
      return BackToWhoWaits{};
    }
    void return_value(T value) { value_ = std::move(value); }
    void unhandled_exception() { error_ = std::current_exception(); }

   private:
    friend class Task;
    std::optional<T> value_;
    std::exception_ptr error_;
    std::coroutine_handle<> waiting_ = std::noop_coroutine();
  };

  Task() = default;
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) noexcept {
    handle_.promise().waiting_ = waiting;
    return handle_;
  }
  T await_resume() { return result(); }

  std::coroutine_handle<> handle() const { return handle_; }
  bool is_done() const { return handle_.done(); }
  // After the end, once: the result, or throws the computation's exception.
  T result() {
    if (handle_.promise().error_) std::rethrow_exception(handle_.promise().error_);
    return std::move(*handle_.promise().value_);
  }

 private:
  explicit Task(Handle handle) : handle_(handle) {}
  Handle handle_ = nullptr;
};

template <typename Question, typename Answer, typename Result>
class Conversation {
 public:
  // Once, before the first `next`.
  void begin(Task<Result> whole) {
    whole_ = std::move(whole);
    innermost_ = whole_.handle();
  }

  // For the computation: `co_await ask(question)` is the answer.
  struct Asking {
    Conversation& conversation;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> asker) noexcept { conversation.innermost_ = asker; }
    Answer await_resume() { return std::move(conversation.answer_); }
  };
  Asking ask(Question question) {
    question_ = std::move(question);
    return {*this};
  }

  // For the caller: the next question. Nothing when the computation is over; then `result` has its result.
  // The first answer is ignored. Throws what the computation throws.
  std::optional<Question> next(Answer answer = {}) {
    answer_ = std::move(answer);
    innermost_.resume();
    if (!whole_.is_done()) return std::move(question_);
    result_ = whole_.result();
    return std::nullopt;
  }
  Result& result() { return *result_; }

 private:
  Task<Result> whole_;
  std::coroutine_handle<> innermost_;  // what goes on next
  Question question_;
  Answer answer_;
  std::optional<Result> result_;
};

}  // namespace korch
