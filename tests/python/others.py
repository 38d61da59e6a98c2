"""joblib, scikit-learn and Dask on an executor."""
import importlib.util
import unittest

import covey


def needs(*modules):
    missing = [m for m in modules if importlib.util.find_spec(m) is None]
    return unittest.skipIf(missing, f"{', '.join(missing)} is not installed")


def double(x):
    return 2 * x


class Others(unittest.TestCase):
    @needs("joblib")
    def test_joblib(self):
        "joblib: results in order, exceptions, an executor that is there"
        import covey.joblib  # noqa: F401
        import joblib
        with joblib.parallel_backend("covey"):
            self.assertEqual(joblib.Parallel(n_jobs=-1)(joblib.delayed(double)(n) for n in range(200)),
                             [2 * n for n in range(200)])
            with self.assertRaises(ZeroDivisionError):
                joblib.Parallel(n_jobs=2)(joblib.delayed(divmod)(1, n) for n in (1, 0))
        with covey.Executor(2) as executor, joblib.parallel_backend("covey", executor=executor):
            for _ in range(2):
                self.assertEqual(joblib.Parallel(n_jobs=2)(joblib.delayed(lambda x: x + 1)(n) for n in range(9)),
                                 list(range(1, 10)))
            self.assertEqual(executor.submit(double, 4).result(), 8)

    @needs("joblib", "sklearn")
    def test_grid_search(self):
        "scikit-learn's grid search gives what it gives alone"
        import covey.joblib  # noqa: F401
        import joblib
        import numpy as np
        from sklearn.datasets import make_classification
        from sklearn.model_selection import GridSearchCV
        from sklearn.tree import DecisionTreeClassifier
        x, y = make_classification(300, 10, random_state=1)
        search = {"max_depth": [2, 4, 6], "min_samples_leaf": [1, 5]}
        alone = GridSearchCV(DecisionTreeClassifier(random_state=0), search, cv=4).fit(x, y)
        with joblib.parallel_backend("covey"):
            many = GridSearchCV(DecisionTreeClassifier(random_state=0), search, cv=4, n_jobs=-1).fit(x, y)
        self.assertEqual(many.best_params_, alone.best_params_)
        for key in alone.cv_results_:
            if "time" not in key:
                np.testing.assert_array_equal(many.cv_results_[key], alone.cv_results_[key])

    @needs("dask")
    def test_dask(self):
        "a graph of Dask gives what it gives alone"
        import dask
        parts = [dask.delayed(double)(n) for n in range(30)]
        graph = dask.delayed(sum)([dask.delayed(lambda a, b: a * b)(a, b) for a, b in zip(parts, parts[1:])])
        alone = graph.compute(scheduler="synchronous")
        with covey.Executor() as executor:
            self.assertEqual(graph.compute(scheduler=executor), alone)


if __name__ == "__main__":
    unittest.main()
