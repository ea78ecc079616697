"""What `--shape` of korch compile says of a model's inputs, and random inputs of such extents."""
import numpy as np
import onnx


def ranges_of(graph, shapes):
    """Of each symbolic dimension that is named, or that an input whose whole shape is given has: (least, most)."""
    given = {}
    for text in shapes:
        name, _, extents = text.partition("=")
        pairs = [tuple(int(v) for v in extent.split("..")) for extent in extents.split("x")]
        given[name] = [(pair[0], pair[-1]) for pair in pairs]
    ranges = {}
    for value in graph.input:
        for axis, dimension in enumerate(value.type.tensor_type.shape.dim):
            if dimension.dim_param in given:
                ranges[dimension.dim_param] = given[dimension.dim_param][0]
            elif value.name in given:
                ranges[dimension.dim_param or "%s:%d" % (value.name, axis)] = given[value.name][axis]
    return ranges


def feeds_of(graph, extents, random, uniform=False):
    """Input name -> array; integers are 0 or 1, floats normal, or in [0, 1)."""
    feeds, constants = {}, {c.name for c in graph.initializer}
    for value in graph.input:
        if value.name in constants:
            continue
        type_ = value.type.tensor_type
        shape = [extents.get(d.dim_param or "%s:%d" % (value.name, axis), d.dim_value) for axis, d in enumerate(type_.shape.dim)]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(type_.elem_type)
        if np.issubdtype(dtype, np.floating):
            array = random.random(shape) if uniform else random.standard_normal(shape)
        else:
            array = np.minimum(random.integers(0, 3, shape), 1)
        feeds[value.name] = array.astype(dtype)
    return feeds
