#!/bin/sh
# run.sh FOLDER-OF-PROGRAMS FOLDER: kernels compiled and run on this machine's GPU; exits with 77 where there is none.
"$1/cuda_check" || exit $?
for what in products models; do
  "$1/cuda_write" "$2/$what" $what && "$1/cuda_check" "$2/$what" || exit $?
done
