// How a test steers the fake driver (libfake_cuda.so): by these functions, or, where it cannot call them, by
// the environment variables that fake_driver.cpp reads.
#pragma once

extern "C" {

// The `nth` call from now on of this entry point (null: of any) does nothing but give `status`; `lasting`:
// and so do all later ones that need a context. nth 0: none fails.
void fake_cuda_fail(const char* entry, long nth, int status, int lasting);
// As if the process had begun anew.
void fake_cuda_reset();
// The calls so far, and their entry points, from 0.
long fake_cuda_calls();
const char* fake_cuda_call(long number);
void fake_cuda_forget_calls();
// What exists of a kind, or ended because its context did (Driver::left).
long fake_cuda_left(const char* kind);
}
