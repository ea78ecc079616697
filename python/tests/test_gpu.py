"""Executables for GPUs: arrays of NumPy, and arrays in a GPU's memory by DLPack. The GPU is a fake one."""

import ctypes
import os
import tempfile
import unittest

import builder
import korch
import numpy as np

FAKE = os.environ.get("KORCH_FAKE_CUDA", "")
CPU, CUDA = 1, 2  # DLDeviceType
FLOAT, BFLOAT = 2, 4  # DLDataTypeCode


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLManagedTensor(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class Driver:
    def __init__(self):
        self.lib = ctypes.CDLL(FAKE)
        self.lib.fake_cuda_left.restype = ctypes.c_long
        self.context = ctypes.c_void_p()
        self("cuInit", 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), 0)

    def __call__(self, name, *arguments):
        if (code := getattr(self.lib, name)(*arguments)) != 0:
            raise RuntimeError(f"{name} gives {code}")

    def current(self, name, *arguments):
        """In the context."""
        self("cuCtxPushCurrent_v2", self.context)
        try:
            self(name, *arguments)
        finally:
            self("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def left(self, kind):
        return self.lib.fake_cuda_left(kind.encode())


class GpuTensor:
    """A float32 tensor in the GPU's memory that knows DLPack, or of bits that are bfloat16; `strides` in elements."""

    def __init__(self, driver, array, device=0, strides=None, code=FLOAT):
        self.driver, self.shape, self.device = driver, array.shape, device
        self.at = ctypes.c_uint64()
        array = np.ascontiguousarray(array, np.float32 if code == FLOAT else np.uint16)
        driver.current("cuMemAlloc_v2", ctypes.byref(self.at), ctypes.c_size_t(array.nbytes))
        driver.current("cuMemcpyHtoD_v2", self.at, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))
        self.extents = (ctypes.c_int64 * len(array.shape))(*array.shape)
        self.strides = (ctypes.c_int64 * len(array.shape))(*strides) if strides else None
        self.tensor = DLManagedTensor()
        self.tensor.tensor = DLTensor(
            self.at.value, CUDA, device, array.ndim, code, 8 * array.itemsize, 1, self.extents, self.strides, 0
        )

    def __dlpack__(self, **_):
        return new_capsule(ctypes.addressof(self.tensor), b"dltensor", None)

    def __dlpack_device__(self):
        return (CUDA, self.device)

    def numpy(self):
        return read(self.driver, self.at.value, self.shape)

    def free(self):
        self.driver.current("cuMemFree_v2", self.at)


def read(driver, address, shape, dtype=np.float32):
    array = np.zeros(shape, dtype)
    driver.current(
        "cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), ctypes.c_uint64(address), ctypes.c_size_t(array.nbytes)
    )
    return array


def to_numpy(driver, array):
    """Of what a call returned."""
    capsule = array.__dlpack__()
    tensor = DLManagedTensor.from_address(pointer_of(capsule, b"dltensor")).tensor
    assert (tensor.device_type, tensor.device_id) == (CUDA, 0)
    dtype = {(FLOAT, 32): np.float32, (BFLOAT, 16): np.uint16}[tensor.code, tensor.bits]
    return read(driver, tensor.data + tensor.byte_offset, tuple(tensor.shape[: tensor.ndim]), dtype)


@unittest.skipUnless(FAKE, "KORCH_FAKE_CUDA names no fake driver (a build's tests/cuda/libfake_cuda.so)")
class GpuTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ["KORCH_CUDA_DRIVER"] = FAKE
        cls.driver = Driver()
        cls.folder = tempfile.TemporaryDirectory()
        cls.options = options = {"target": "sm_90", "measure": False, "database": None, "emulation": True}
        try:
            cls.gpu = korch.compile(builder.add_relu(), output=os.path.join(cls.folder.name, "gpu.so"), **options)
        except korch.Unsupported as error:
            raise unittest.SkipTest(str(error))  # no NVRTC
        cls.cpu = korch.compile(builder.add_relu(), measure=False, database=None, threads=1)

    @classmethod
    def tearDownClass(cls):
        cls.gpu.close()
        cls.cpu.close()
        cls.folder.cleanup()
        del os.environ["KORCH_CUDA_DRIVER"]

    def setUp(self):
        random = np.random.default_rng(0)
        self.a = random.standard_normal((4, 6)).astype(np.float32)
        self.b = random.standard_normal((4, 6)).astype(np.float32)
        self.tensors = []

    def tearDown(self):
        for tensor in self.tensors:
            tensor.free()
        self.assertEqual(self.driver.left("memory"), 1, "the instance's")
        self.assertEqual(self.driver.left("damaged"), 0)

    def on_gpu(self, array, **options):
        self.tensors.append(GpuTensor(self.driver, array, **options))
        return self.tensors[-1]

    def expect(self, sum_, positive):
        np.testing.assert_array_equal(sum_, self.a + self.b)
        np.testing.assert_array_equal(positive, np.maximum(self.a + self.b, 0))

    def refused(self, pattern, *arrays, kind=korch.InvalidInput, **options):
        with self.assertRaisesRegex(kind, pattern):
            self.gpu(*arrays, **options)

    def test_numpy_arrays_are_copied_there_and_back(self):
        self.expect(*self.gpu(self.a, self.b))

    def test_tensors_of_the_gpu_give_tensors_of_the_gpu(self):
        results = self.gpu(self.on_gpu(self.a), self.on_gpu(self.b))
        self.assertIsInstance(results[0], korch.GpuArray)
        self.assertEqual(results[0].__dlpack_device__(), (CUDA, 0))
        self.assertEqual((results[0].shape, results[0].dtype), ((4, 6), "f32"))
        self.assertEqual(repr(results[0]), "<korch.GpuArray f32[4x6] on GPU 0>")
        self.expect(*(to_numpy(self.driver, result) for result in results))
        for moved in ({"dl_device": (CPU, 0)}, {"copy": True}):
            with self.assertRaisesRegex(BufferError, "copies nothing"):
                results[0].__dlpack__(**moved)
        results[0].__dlpack__(stream=1, dl_device=(CUDA, 0), copy=False)
        again = self.gpu(results[0], results[0])
        np.testing.assert_array_equal(to_numpy(self.driver, again[0]), 2 * (self.a + self.b))

    def test_writes_to_given_tensors_and_nothing_goes_through_this_process(self):
        a, b = self.on_gpu(self.a), self.on_gpu(self.b)
        out = [self.on_gpu(np.zeros((4, 6))), self.on_gpu(np.zeros((4, 6)))]
        self.driver.lib.fake_cuda_forget_calls()
        results = self.gpu(a, b, out=out)
        calls = self.driver.lib.fake_cuda_calls()
        self.driver.lib.fake_cuda_call.restype = ctypes.c_char_p
        names = [self.driver.lib.fake_cuda_call(ctypes.c_long(i)).decode() for i in range(calls)]
        self.assertIs(results[0], out[0])
        self.expect(out[0].numpy(), out[1].numpy())
        self.assertEqual(names.count("cuMemcpyDtoDAsync_v2"), 4)
        self.assertNotIn("cuMemcpyHtoDAsync_v2", names)
        self.assertEqual(names.count("cuMemcpyDtoHAsync_v2"), 1)  # whether an index was out of range
        self.assertNotIn("cuMemAlloc_v2", names)

    def test_refuses_mixed_memories_and_others(self):
        self.refused("input 'b' is in the CPU's memory, others are in the memory of GPU 0", self.on_gpu(self.a), self.b)
        self.refused("input 'b' is in the memory of GPU 0, others are in the CPU's memory", self.a, self.on_gpu(self.b))
        self.refused("output 'sum' is in the CPU's memory", self.on_gpu(self.a), self.on_gpu(self.b),
                     out=[np.zeros((4, 6), np.float32), np.zeros((4, 6), np.float32)])
        self.refused("is in the memory of GPU 1, and the executable runs on GPU 0", self.on_gpu(self.a, device=1), self.b)
        self.refused("not row-major", self.on_gpu(self.a, strides=(1, 4)), self.on_gpu(self.b))
        self.refused(r"f32\[4x5\] is given", self.on_gpu(self.a[:, :5]), self.on_gpu(self.b))
        a = self.on_gpu(self.a)
        self.refused("shares memory", a, self.on_gpu(self.b), out=[a, self.on_gpu(self.b)])
        with self.assertRaisesRegex(korch.InvalidInput, "the executable is for a CPU: copy it to the CPU first"):
            self.cpu(self.on_gpu(self.a), self.on_gpu(self.b))
        with self.assertRaisesRegex(korch.UsageError, "timed on arrays in the CPU's memory"):
            self.gpu.profile(self.on_gpu(self.a), self.on_gpu(self.b))
        self.assertEqual(len(self.gpu.profile(rounds=1)), len(self.gpu.plan["steps"]))

    def test_a_full_gpu_is_an_error_and_the_next_call_is_right(self):
        a, b = self.on_gpu(self.a), self.on_gpu(self.b)
        self.driver.lib.fake_cuda_fail(b"cuMemAlloc_v2", ctypes.c_long(2), 2, 0)
        self.refused("no memory for an output: CUDA_ERROR_OUT_OF_MEMORY", a, b, kind=korch.ResourceError)
        self.driver.lib.fake_cuda_fail(b"cuGraphLaunch", ctypes.c_long(1), 999, 0)
        self.refused("CUDA_ERROR_UNKNOWN", a, b, kind=korch.FileError)
        self.expect(*(to_numpy(self.driver, result) for result in self.gpu(a, b)))

    def test_bfloat16_keeps_its_type(self):
        path = os.path.join(self.folder.name, "bf16.so")
        bits = (self.a.view(np.uint32) >> 16).astype(np.uint16)
        doubled = bits + 0x80  # one more in the exponent
        with korch.compile(builder.add_relu(dtype=builder.BFLOAT16), output=path, **self.options) as gpu:
            np.testing.assert_array_equal(gpu(bits, bits)[0], doubled)
            on_gpu = self.on_gpu(bits, code=BFLOAT)
            results = gpu(on_gpu, on_gpu)
            np.testing.assert_array_equal(to_numpy(self.driver, results[0]), doubled)
            del results

    def test_verify_and_explain(self):
        self.assertEqual(len(self.gpu.verify(builder.add_relu())), 2)
        self.assertIn("sm_90", self.gpu.explain())


class WithoutGpuTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "gpu.so")
        self.options = {"target": "sm_90", "measure": False, "database": None, "output": self.path}
        before = os.environ.pop("KORCH_CUDA_DRIVER", None)
        os.environ["KORCH_CUDA_DRIVER"] = "/nowhere/libcuda.so"

        def restore():
            del os.environ["KORCH_CUDA_DRIVER"]
            if before is not None:
                os.environ["KORCH_CUDA_DRIVER"] = before

        self.addCleanup(restore)

    def compile(self, **options):
        try:
            return korch.compile(builder.add_relu(), **self.options, **options)
        except korch.Unsupported as error:
            self.skipTest(str(error))  # no NVRTC

    def test_writes_a_file_for_another_machine(self):
        self.assertIsNone(self.compile(load=False))
        self.assertGreater(os.path.getsize(self.path), 0)

    def test_says_that_the_file_is_there_though_it_cannot_be_loaded(self):
        with self.assertRaises(korch.FileError) as raised:
            self.compile()
        self.assertIn("load=False", str(raised.exception))
        self.assertGreater(os.path.getsize(self.path), 0)

    def test_a_file_alone_needs_a_place(self):
        with self.assertRaises(korch.UsageError):
            korch.compile(builder.add_relu(), load=False)

if __name__ == "__main__":
    unittest.main()
