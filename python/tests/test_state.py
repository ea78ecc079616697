"""States: what calls leave for the next ones."""

import threading
import unittest

import builder
import korch
import numpy as np

QUICK = dict(measure=False, database=None, threads=1, verify=False)


class State(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.net = korch.compile(builder.cache(), shapes={"n": "0..6", "seq": "1..2"}, **QUICK)

    @classmethod
    def tearDownClass(cls):
        cls.net.close()

    def rows(self, *values):
        return np.array([[value] * 3 for value in values], np.float32)

    def expect(self, state, fresh, *all_rows):
        np.testing.assert_array_equal(self.net(fresh, state=state), -self.rows(*all_rows))
        self.assertEqual(state.length, len(all_rows))

    def test_calls_append(self):
        self.assertEqual(self.net.states, (("past", "present"),))
        state = self.net.state()
        self.assertEqual(repr(state), "<korch.State of length 0>")
        self.expect(state, self.rows(1), 1)
        self.expect(state, self.rows(2, 3), 1, 2, 3)
        other = state.copy()
        state.rewind(1)
        self.expect(state, self.rows(4), 1, 4)
        self.expect(other, self.rows(5), 1, 2, 3, 5)
        state.reset()
        self.expect(state, self.rows(6), 6)
        out = np.empty((8, 3), np.float32)
        made = self.net({"fresh": self.rows(7)}, state=state, out=out)
        np.testing.assert_array_equal(made, -self.rows(6, 7))
        self.assertTrue(np.shares_memory(made, out))

    def test_without_a_state_calls_take_and_give(self):
        negative, present = self.net(self.rows(1, 2), self.rows(3))
        np.testing.assert_array_equal(present, self.rows(1, 2, 3))
        np.testing.assert_array_equal(negative, -present)

    def test_mistakes(self):
        state = self.net.state()
        for _ in range(4):
            self.net(self.rows(1, 2), state=state)
        with self.assertRaisesRegex(korch.InvalidInput, "input 'past', axis 0: n is 0 to 6, not 8"):
            self.net(self.rows(1), state=state)
        with self.assertRaisesRegex(korch.InvalidInput, "the executable has 1 input, 2 are given"):
            self.net(self.rows(1), self.rows(1), state=state)
        with self.assertRaisesRegex(korch.InvalidInput, "there is no input 'past'"):
            self.net(past=self.rows(1), fresh=self.rows(1), state=state)
        for length in (9, -1):
            with self.assertRaisesRegex(korch.UsageError, f"no length of {length}: it has 8"):
                state.rewind(length)
        with korch.compile(builder.cache(), shapes={"n": "0..9", "seq": "1"}, **QUICK) as other:
            with self.assertRaisesRegex(korch.InvalidInput, "the state is none of this executable"):
                self.net(self.rows(1), state=other.state())
        self.assertEqual(state.length, 8)

    def test_networks_that_keep_nothing(self):
        with korch.compile(builder.add_relu(), **QUICK) as net:
            self.assertEqual(net.states, ())
            with self.assertRaisesRegex(korch.UsageError, "keeps nothing from one run to the next"):
                net.state()
        shapes = {"n": "0..6", "seq": "1..2"}
        with korch.compile(builder.cache(), shapes=shapes, state=["none"], **QUICK) as net:
            self.assertEqual(net.states, ())
        with self.assertRaisesRegex(korch.UsageError, "the state fresh=present: the output neither"):
            korch.compile(builder.cache(), shapes=shapes, state=["fresh=present"], **QUICK)

    def test_one_state_in_turns(self):
        net = korch.compile(builder.cache(), shapes={"n": "0..6", "seq": "1..2"}, instances=2, **QUICK)
        states = [net.state() for _ in range(4)]

        def use(number):
            for _ in range(50):
                states[number].reset()
                for step in range(3):
                    net(self.rows(number, step), state=states[number])

        threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number, state in enumerate(states):
            self.assertEqual(state.length, 6)
            np.testing.assert_array_equal(
                net(self.rows(9), state=state), -self.rows(number, 0, number, 1, number, 2, 9)
            )
        net.close()


if __name__ == "__main__":
    unittest.main()
