#!/bin/sh
# bundle.sh FOLDER-OF-PROGRAMS FOLDER: the products' kernels in FOLDER, with cuda_check and every library that it needs but
# NVIDIA's driver. `FOLDER/check` checks and times them on a machine that has that driver and nothing else.
set -e
"$1/cuda_write" "$2/products" products
mkdir -p "$2/lib"
cp "$1/cuda_check" "$2/"
ldd "$1/cuda_check" | grep -o '/[^ ]*' | xargs cp -Lt "$2/lib"
# What the driver's library asks for belongs to the same C library.
for name in libdl.so.2 libpthread.so.0 librt.so.1; do
  cp -L "$(dirname "$(ldd "$1/cuda_check" | grep -o '/[^ ]*/libc.so.6')")/$name" "$2/lib"
done
cat > "$2/check" <<'END'
#!/bin/sh
cd "$(dirname "$0")" && exec lib/ld-linux-x86-64.so.2 --library-path lib ./cuda_check products
END
chmod +x "$2/check"
