/*
 * services.cpp - covey.hpp on the VM's services: locks, tokens, sessions, elections, bags, traces,
 * hosts, the end.
 *
 * With an argument it is a task that this program spawned, which ends the trace of the VM.
 */
#include "report.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace
{

covey::vm vm;
covey_tid_t me;

void locks()
{
    const std::uint64_t fence = good(vm.lock("door", soon), "lock()");
    fails(vm.trylock("door"), COVEY_EEXIST, "trylock() of the own lock");
    auto [owner, same] = good(vm.lock_owner("door"), "lock_owner()");
    check(owner == me && same == fence, "the owner");
    auto held = good(vm.held(), "held()");
    check(held.size() == 1 && std::string(held[0].name) == "door", "the held lock");
    good(vm.unlock("door", fence), "unlock()");
    good(vm.unlock("door", good(vm.trylock("door"), "trylock()")), "unlock()");
    struct covey_party parties[1];
    good(vm.rendezvous("square", 1, std::string("value"), soon, parties), "rendezvous()");
    check(parties[0].tid == me && parties[0].bytes == 5, "the only party");
    subject("locks");
}

void tokens()
{
    std::uint64_t number = good(vm.token_create("baton"), "token_create()");
    auto [holder, seen] = good(vm.token_holder("baton"), "token_holder()");
    check(holder == me && seen == number, "the holder");
    good(vm.token_pass("baton", number, COVEY_ANY_TASK), "token_pass()");
    number = good(vm.token_request("baton", soon), "token_request()");
    good(vm.token_destroy("baton", number), "token_destroy()");
    subject("tokens");
}

void sessions()
{
    auto session = good(vm.session_join("meeting"), "session_join()");
    good(session.notify(51), "notify()");
    auto view = good(session.view(), "view()");
    check(view.change == COVEY_VIEW_JOINED && view.count == 1 && view.members[0] == me, "the view");
    fails(session.next(100000), COVEY_ETIMEOUT, "next()");
    fails(session.expel(me + 1), COVEY_ENOTASK, "expel()");
    struct covey_value value = {};
    value.bytes = 3;
    value.value[2] = 3;
    check(good(session.put(value), "put()") == 1, "put()");
    auto got = good(session.get(), "get()");
    check(got.version == value.version && got.bytes == 3 && got.value[2] == 3, "the value");
    good(session.leave(), "leave()");
    subject("sessions");
}

void decisions()
{
    check(good(vm.elect_stand("chair"), "elect_stand()").tid == me, "the leader");
    good(vm.elect_leader("chair", 0, soon), "elect_leader()");
    good(vm.elect_resign("chair"), "elect_resign()");
    struct covey_decision decision = {};
    decision.bytes = 1;
    decision.value[0] = 42;
    good(vm.propose("series", 1, soon, decision), "propose()");
    auto learnt = good(vm.learn("series", 1, soon), "learn()");
    check(learnt.proposer == me && learnt.value[0] == 42, "what is decided");
    good(vm.forget("series", UINT64_MAX), "forget()");
    subject("elections and decisions");
}

void bags()
{
    struct covey_bag_options options = {};
    options.in_order = options.keep = 1;
    auto bag = good(vm.bag_create("work", &options), "bag_create()");
    auto other = good(vm.bag_attach("work"), "bag_attach()");
    for (int number = 1; number <= 3; number++)
        good(bag.put(0, number), "put()");
    good(bag.flush(soon), "flush()");
    good(bag.close(), "close()");
    struct covey_bag_item items[2];
    int count = good(other.take(soon, items), "take()");
    for (int i = 0; i < count; i++)
        good(other.give_back(items[i]), "give_back()");
    while ((count = good(other.take(soon, items), "take()")) > 0)
        for (int i = 0; i < count; i++) {
            int given;
            std::memcpy(&given, items[i].bytes, sizeof given);
            good(other.done(items[i], given * given), "done()");
        }
    good(bag.wait(soon), "wait()");
    struct covey_bag_result results[4];
    int sum = 0;
    while ((count = good(bag.result(soon, results), "result()")) > 0)
        for (int i = 0; i < count; i++) {
            int square;
            std::memcpy(&square, results[i].bytes, sizeof square);
            sum += square;
        }
    check(sum == 14, "the results");
    check(good(bag.info(), "info()").done == 3, "what the bag says");
    check(std::string(good(vm.bags(), "bags()")[0].name) == "work", "bags()");
    other.reset();
    bag.reset();
    good(vm.bag_save("work", "cxx.bag"), "bag_save()");
    check(good(vm.bag_load("cxx.bag", "again"), "bag_load()").put == 3, "what is in the file");
    fails(vm.bag_load("cxx.bag", "twice"), COVEY_EEXIST, "bag_load() of a file that was loaded");
    good(covey::bag_again("cxx.bag"), "bag_again()");
    std::remove("cxx.bag");
    bag = good(vm.bag_attach("again"), "bag_attach() to one of a file");
    good(bag.destroy(), "destroy()");
    subject("bags");
}

void traces(const char *program)
{
    check(vm.trace_on() == 0, "trace_on() while nobody traces");
    auto trace = good(covey::trace_open(std::string(std::getenv("COVEY_TEST_DIR")) + "/trace", 0),
                      "trace_open()");
    good(vm.trace_expect("part", 0.1), "trace_expect()");
    good(vm.trace_begin("part"), "trace_begin()");
    good(vm.trace_mark("moment"), "trace_mark()");
    good(vm.trace_count("number", 3), "trace_count()");
    good(vm.trace_end("part"), "trace_end()");
    struct covey_spawn what = {};
    covey::c_texts argv = {program, "stop"};
    what.argv = argv.get();
    good(vm.spawn(what, 1), "spawn()");
    good(trace.wait(), "wait()");
    check(good(trace.close(), "close()").bytes > 0, "the bytes of the trace");
    subject("traces");
}

void machine()
{
    auto stats = good(vm.stats(1), "stats()");
    check(!stats.empty() && stats[0].host == 1, "the counters");
    std::int64_t offset = 0;
    check(!good(vm.log(1, offset), "log()").empty() && offset > 0, "what the log says");
    struct covey_host_spec spec[1] = {};
    struct covey_host_result results[1];
    spec[0].name = "h9";
    spec[0].launcher = COVEY_LAUNCH_LOCAL;
    check(good(vm.add_hosts(spec, results), "add_hosts()") == 1, results[0].text);
    check(good(vm.remove_hosts({"h9"}, results), "remove_hosts()") == 1, "remove_hosts()");
    subject("the virtual machine");
}

} // namespace

int main(int argc, char **argv)
{
    vm = good(covey::join(), "join()");
    me = vm.mytid();
    if (argc > 1) {
        good(vm.trace_stop(soon), "trace_stop()");
        return wrong_in_all != 0;
    }
    locks();
    tokens();
    sessions();
    decisions();
    bags();
    traces(argv[0]);
    machine();
    good(vm.halt(), "halt()");
    subject("the end");
    return wrong_in_all != 0;
}
