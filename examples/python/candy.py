"""candy_224 from Python; run by scripts/demo-python, which writes the network and its input."""

import korch
import numpy as np

image = np.load("build/demo/inputs/input.npy")
net = korch.compile("build/demo/candy.onnx", threads=2, output="build/demo/candy-from-python.so")
styled = net(image)

reference = np.load("models/candy_224.ref.npz")  # of the network in PyTorch, with its float32 noise
sample, noise = styled.ravel()[:: int(reference["stride/output"])], reference["noise/output"][0]
error = np.abs(sample - reference["sample/output"]).max()
print(f"largest difference from the reference: {error:.2g}, {error / noise:.2g} times the network's float32 noise")
assert error <= 20 * noise


class Tensor:
    """An array of a library that shares memory by DLPack alone."""

    def __dlpack__(self, **options):
        return image.__dlpack__(**options)

    def __dlpack_device__(self):
        return image.__dlpack_device__()


with korch.load("build/demo/candy-from-python.so") as again:
    assert np.array_equal(again(Tensor()), styled)
    print("the same bits from the saved executable, called with DLPack")
    slowest = max(again.profile(), key=lambda step: step.median_us)
    print(f"slowest step: {slowest.label}, {slowest.median_us:.0f} us")
