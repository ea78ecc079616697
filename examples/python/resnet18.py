"""torchvision's ResNet-18 with random weights, by korch.compile and by torch.compile; run by bench/demo-torch."""

import korch
import torch
import torchvision

torch.manual_seed(0)
net = torchvision.models.resnet18(weights=None).eval()
image = torch.randn(1, 3, 224, 224)

with torch.no_grad():
    expected = net(image)
    executable = korch.compile(net, inputs=(image,), threads=2)
    scores = torch.from_dlpack(executable(image))
    print(f"korch.compile: largest difference from PyTorch {(scores - expected).abs().max():.2g}")
    torch.testing.assert_close(scores, expected, rtol=1e-4, atol=1e-4)

    scores = torch.compile(net, backend="korch")(image)
    print(f"torch.compile: largest difference from PyTorch {(scores - expected).abs().max():.2g}")
    torch.testing.assert_close(scores, expected, rtol=1e-4, atol=1e-4)
