"""What a network's outputs should be: the .ref.npz files of models/README.md, and files like them."""
import numpy as np


def write_reference(path, exact, single):
    """`exact`: output name -> float64 array; `single`: the same computed in float32, whose distance is the noise."""
    entries = {}
    for name, array in exact.items():
        entries["stride/" + name] = 1
        entries["sample/" + name] = array.astype(np.float32).ravel()
        entries["stats/" + name] = np.array([array.mean(), array.std()])
        entries["noise/" + name] = np.array([np.abs(array - single[name]).max()])
    np.savez(path, **entries)


def tolerance(reference, name):
    """Room for other float32 summation orders and for Winograd, none for TF32, bfloat16 or float16."""
    return max(20 * reference["noise/" + name][0], 1e-5 * reference["stats/" + name][1])


def reference_error(path, names, results):
    """Largest error over its tolerance, of all outputs, against the file at `path`."""
    reference = np.load(path)
    return max(float(np.abs(result.ravel()[::int(reference["stride/" + name])] - reference["sample/" + name]).max()) /
               tolerance(reference, name) for name, result in zip(names, results))


def relative_error(path, names, results, others):
    """Largest difference from another engine's outputs over its tolerance; infinite where shapes differ or a number is none."""
    reference = np.load(path)
    worst = 0.0
    for name, result, other in zip(names, results, others):
        if result.shape != other.shape:
            return float("inf")
        error = float(np.abs(result - other).max()) / tolerance(reference, name)
        worst = max(worst, error if np.isfinite(error) else float("inf"))
    return worst
