"""runner.py NAME - runs the unittests of tests/python/NAME.py and prints a line for each, and the sum."""
import importlib
import sys
import time
import unittest


class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.passed = 0

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def addSuccess(self, test):
        self.passed += 1
        print(f"ok: {test.shortDescription() or test.id()} ({time.monotonic() - self.began:.1f} s)", flush=True)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print(f"skipped: {test.shortDescription() or test.id()}: {reason}", flush=True)

    def _failed(self, test, error):
        print(f"FAILED: {test.shortDescription() or test.id()}\n{self._exc_info_to_string(error, test)}", flush=True)

    def addError(self, test, error):
        super().addError(test, error)
        self._failed(test, error)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._failed(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self._failed(subtest, error)


def main():
    module = importlib.import_module(sys.argv[1])
    names = sys.argv[2:]
    loader = unittest.defaultTestLoader
    tests = loader.loadTestsFromNames(names, module) if names else loader.loadTestsFromModule(module)
    result = Result()
    tests.run(result)
    failed = len(result.errors) + len(result.failures)
    print(f"{result.passed} passed, {failed} failed, {len(result.skipped)} skipped", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
