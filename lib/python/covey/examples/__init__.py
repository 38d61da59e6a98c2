"""Twelve small programs, each of which shows one thing: covey run -n 4 python3 -m covey.examples.hello"""
