"""torch.nn.Module and torch.export.ExportedProgram -> ONNX files. Imported where there is one: it imports torch.

    module           by torch.export and torch.onnx, or by torch.jit.trace; training mode, names of outputs
    dynamic_shapes   open extents: their names and ranges
    small_extents    extents of 0 and 1 in ranges that torch.export makes from 2 on
    errors           what PyTorch says as one sentence, with the line of the network's source
"""

from .module import export

__all__ = ["export"]
