"""Solvers on numpy arrays: here alone and with workers on other hosts."""
import unittest

import covey
import numpy as np

HERE, THERE = "hosts=0", "hosts=3"


def needs(call):
    """Skips a test of what Covey was built without."""
    def decorate(test):
        def run(self):
            try:
                call(covey.join())
            except covey.InvalidArgument as error:
                self.skipTest(str(error))
            test(self)
        run.__doc__ = test.__doc__
        return run
    return decorate


dense = needs(lambda vm: vm.matmul(np.eye(2), np.eye(2)))
fourier = needs(lambda vm: vm.fft(np.zeros(4)))


class Solvers(unittest.TestCase):
    def setUp(self):
        self.vm, self.random = covey.join(), np.random.default_rng(23)

    def test_sort(self):
        "sorting, of all types of numbers"
        for options in (HERE, THERE):
            for dtype in "i4 i8 u2 f4 f8 c16".split():
                a = (self.random.standard_normal(50_000) * 1000).astype(dtype)
                expected = np.sort(a)
                report = covey.Report()
                self.vm.sort(a, options=options, report=report)
                np.testing.assert_array_equal(a, expected)
                self.assertEqual(report.hosts, 1 if options is HERE else 3, report)
        with self.assertRaises(TypeError):
            self.vm.sort(np.zeros(3, "f2"))
        with self.assertRaises(covey.CoveyError) as caught:
            self.vm.sort(np.zeros(3), options="hosts=many")
        self.assertIn("hosts", str(caught.exception))

    @dense
    def test_matmul(self):
        "a product of matrices, by rows and by columns"
        a, b = self.random.random((120, 80)), self.random.random((80, 50))
        for options in (HERE, THERE):
            np.testing.assert_allclose(self.vm.matmul(a, b, options=options), a @ b)
            np.testing.assert_allclose(self.vm.matmul(a, np.asfortranarray(b), options=options), a @ b)
        with self.assertRaises(ValueError):
            self.vm.matmul(a, a)

    @dense
    def test_solve(self):
        "systems of equations: one and several right sides, positive definite ones, singular ones"
        a, b = self.random.random((100, 100)), self.random.random((100, 3))
        for options in (HERE, THERE):
            before = a.copy()
            np.testing.assert_allclose(self.vm.solve(a, b, options=options), np.linalg.solve(a, b))
            np.testing.assert_allclose(self.vm.solve(a, b[:, 0], options=options), np.linalg.solve(a, b[:, 0]))
            np.testing.assert_array_equal(a, before)
            spd = a @ a.T + np.eye(100)
            np.testing.assert_allclose(self.vm.solve(spd, b, positive=True, options=options), np.linalg.solve(spd, b))
            with self.assertRaises(covey.Singular) as caught:
                self.vm.solve(np.zeros((5, 5)), np.zeros(5), options=options)
            self.assertEqual(caught.exception.place, 1)
            with self.assertRaises(covey.Singular):
                self.vm.solve(-spd, b, positive=True, options=options)

    @dense
    def test_lstsq(self):
        "least squares"
        a, b = self.random.random((200, 20)), self.random.random(200)
        for options in (HERE, THERE):
            np.testing.assert_allclose(self.vm.lstsq(a, b, options=options), np.linalg.lstsq(a, b, rcond=None)[0])

    @fourier
    def test_fft(self):
        "Fourier transforms, complex and real, and back"
        for shape in ((4096,), (32, 48), (8, 12, 16)):
            x = self.random.random(shape) + 1j * self.random.random(shape)
            for options in (HERE, THERE):
                with self.subTest(shape=shape, options=options):
                    np.testing.assert_allclose(self.vm.fft(x, options=options), np.fft.fftn(x), atol=1e-9)
                    np.testing.assert_allclose(self.vm.ifft(self.vm.fft(x), options=options), x, atol=1e-12)
                    spectrum = self.vm.rfft(x.real, options=options)
                    np.testing.assert_allclose(spectrum, np.fft.rfftn(x.real), atol=1e-9)
                    np.testing.assert_allclose(self.vm.irfft(spectrum, shape, options=options), x.real, atol=1e-12)

    def test_poisson(self):
        "Poisson's equation: a solution that is known"
        n = 32
        x = (np.arange(n) + 0.5) / n
        u = np.sin(np.pi * x)[:, None] * np.sin(2 * np.pi * x)[None, :]
        for options in (HERE, THERE):
            got = self.vm.poisson(5 * np.pi**2 * u, 1 / n, options=options)
            self.assertLess(np.abs(got - u).max(), 0.01)
        periodic = self.vm.poisson(np.cos(2 * np.pi * x)[:, None] * np.ones(n), 1 / n, border="periodic")
        np.testing.assert_allclose(periodic[:, 0], np.cos(2 * np.pi * x) / (4 * np.pi**2), atol=1e-3)


if __name__ == "__main__":
    unittest.main()
