"""Each call of covey.h is reached by the package, or stands here with the reason why it is not."""
import os
import re
import unittest

FORM = "its form with `i` does the same, and can be interrupted"
CONSOLE = "for consoles: the command of covey(1) of that subject shows it"
ITEMS = "for messages that go by name of a type in C: covey_pack() and covey_unpack_view() take all types"
ELSEWHERE = "for programs that start tasks in the daemon's place, such as batch engines"
POINTS = "its loops call the program for each row of points, which C, Fortran and C++ do a hundred times as fast"
PLANS = "a plan is made ahead of many calls on small arrays, where Python's own time is longer than what it saves"
PREDICT = "for covey predict, and programs that choose between machines that are not there"
LEFT_OUT = {reason: names.split() for reason, names in {
    FORM: """allgather allgatherv allreduce alltoall alltoallv barrier bcast exscan gather gatherv reduce reduce_scatter scan
        scatter scatterv send send_array team_send team_send_array""",
    "isend and a receive, of objects as of arrays": "team_sendrecv team_sendrecv_array",
    CONSOLE: """host_clock host_pages log measure route_parse route_reach stat_help stats survey task_peers task_stats place
        place_idle vm_default""",
    ITEMS: "pack_bytes unpack unpack_bytes msg_reset",
    ELSEWHERE: "tasker order_ended order_started unpack_order",
    "the standard input of a task is covey run's": "input",
    "the package reads by covey_unpack_notice() and covey_unpack_output(), whose ends are seen as such": "unpack_end",
    "messages that Python has taken lie in Python's memory": "keep",
    "wait_any() of requests; a notice is a message": "wait_notice",
    "Python's lists wait one after another, each with the time that is left": "wait_all",
    "a Group has members(), in which both stand, and its bcast() is a cast": "group_bcast group_instance_of group_tid",
    "a team has its own time: Team.timeout": "team_set_timeout",
    "a Team knows its VM": "team_vm",
    "record() ends with its block": "trace_expect trace_stop trace_wait",
    POINTS: """tile_next tiles_costs tiles_create tiles_free tiles_gather tiles_info tiles_part tiles_plan tiles_run
        tiles_shape tiles_sides tiles_skew tiles_value""",
    PLANS: """exchange_free exchange_incoming exchange_info exchange_name exchange_order exchange_parse exchange_plan
        exchange_run exchange_start schedule_check schedule_create schedule_free schedule_info schedule_messages
        schedule_print schedule_rank_name schedule_syncs team_schedule""",
    PREDICT: """calibration_load calibration_now calibration_path calibration_save line_fit line_fit_ends predict
        predict_alltoall predict_best predict_choose""",
}.items()}


def reached():
    """Names after `lib.` in the package, and what fast.c calls."""
    names = set()
    for folder, _, files in os.walk("lib/python"):
        for file in files:
            with open(os.path.join(folder, file), encoding="utf-8") as text:
                pattern = r"\b_?lib\.(covey_\w+)" if file.endswith(".py") else r"\b(covey_\w+)\("
                names |= set(re.findall(pattern, text.read()))
    return names


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(os.path.join(os.environ["BUILD"], "covey.names"), encoding="utf-8") as file:
            cls.all = set(file.read().split())
        cls.left_out = {"covey_" + name for names in LEFT_OUT.values() for name in names}

    def test_all(self):
        "each call of covey.h is reached, or left out with a reason"
        self.assertEqual(sorted(self.all - reached() - self.left_out), [])

    def test_left_out(self):
        "what is left out is there, and not reached"
        self.assertEqual(sorted(self.left_out - self.all), [])
        self.assertEqual(sorted(self.left_out & reached()), [])

    def test_once(self):
        "each of these has one reason"
        self.assertEqual(len(self.left_out), sum(len(names) for names in LEFT_OUT.values()))


if __name__ == "__main__":
    unittest.main()
