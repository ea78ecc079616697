"""What notices that memory was rewritten: weights that are part of an executable."""

import unittest

import korch._korch
import numpy as np


def samples(*arrays):
    return korch._korch.MemorySamples([(array.ctypes.data, array.nbytes) for array in arrays])


class MemorySamplesTest(unittest.TestCase):
    def test_tells_which_regions_were_rewritten(self):
        arrays = [np.zeros(size, np.float32) for size in (1, 5, 1000)]
        watched = samples(*arrays)
        self.assertEqual(watched.changed(), [])
        arrays[0] += 1
        self.assertEqual(watched.changed(), [0])
        arrays[2] += 1
        self.assertEqual(watched.changed(), [0, 2])

    def test_takes_every_size_from_its_first_byte_to_its_last(self):
        for size in [*range(1, 40), 255, 256, 257, 1001]:
            for at in (0, size - 1):
                with self.subTest(size=size, at=at):
                    array = np.zeros(size, np.uint8)
                    watched = samples(array)
                    array[at] = 1
                    self.assertEqual(watched.changed(), [0])

    def test_nothing_changes_in_nothing(self):
        self.assertEqual(samples(np.zeros(0)).changed(), [])
        self.assertEqual(samples().changed(), [])


if __name__ == "__main__":
    unittest.main()
