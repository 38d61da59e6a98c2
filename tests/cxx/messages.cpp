/*
 * messages.cpp - covey.hpp in a program of one task: joining, hosts, messages, requests, tasks,
 * groups.
 */
#include "report.hpp"

#include <array>
#include <cstdlib>
#include <cstring>

namespace
{

covey::vm vm;
covey_tid_t me;

void joining()
{
    struct covey_options options = {};
    options.vm = "no such machine";
    auto none = covey::join(&options);
    check(!none && !none.text().empty() && !*none, "join() of no VM");
    bool thrown = false;
    try {
        (void)covey::join(&options).value_or_throw();
    } catch (const covey::failure &e) {
        thrown = e.code() == none.code() && e.what() == none.text();
    }
    check(thrown, "value_or_throw()");
    check(std::string(covey::version()) == COVEY_VERSION, "version()");
    check(covey::strerror(COVEY_ETIMEOUT)[0] != '\0', "strerror()");
    vm = good(covey::join(), "join()");
    me = vm.mytid();
    check(me > 0 && vm.parent() == COVEY_NO_PARENT, "mytid() and parent()");
    check(std::string(vm.myhost()) == "h0" && vm.name()[0] != '\0', "myhost() and name()");
    check(covey::tid_host(me) > 0 && vm.tid_name(me).find(" on h0") != std::string::npos,
          "tid_name()");
    good(vm.set_route(COVEY_ANY_TASK, COVEY_ROUTE_AUTO), "set_route()");
    good(vm.route(me), "route()");
    check(std::string(covey::route_name(COVEY_ROUTE_SHM)) == "shm", "route_name()");
    check(covey::route_parse("tcp").code() == COVEY_ROUTE_TCP, "route_parse()");
    check(covey::route_reach(COVEY_ROUTE_SHM) == COVEY_REACH_INSIDE, "route_reach()");
    check(good(vm.timing(), "timing()").elapsed_s > 0, "timing() gives a time");
    covey::vm other = std::move(vm);
    check(!vm && other, "a handle that was moved");
    vm = std::move(other);
    subject("joining");
}

void hosts()
{
    auto list = good(vm.hosts(), "hosts()");
    check(list.size() == 2 && std::string(list[0].name) == "h0", "the hosts");
    bool found = false;
    for (const struct covey_task &task : good(vm.tasks(0), "tasks()"))
        found = found || task.tid == me;
    check(found, "tasks() lists the caller");
    auto [both, tasks] = good(vm.survey(soon), "survey()");
    check(both.size() == 2 && !tasks.empty(), "survey() gives both");
    auto working = good(vm.task_stats(soon, 100), "task_stats()");
    check(working.task_count >= 1, "task_stats() lists tasks");
    covey_free(working.hosts);
    covey_free(working.tasks);
    covey_free(working.stats);
    check(good(vm.task_peers(soon, 100), "task_peers()").size() < 1000,
          "task_peers() lists who sent to whom");
    check(!covey::vm_default().empty(), "vm_default()");
    check(covey::stat_help("tasks.now") != nullptr, "stat_help()");
    auto [same, stats] = good(vm.host_stats(soon), "host_stats()");
    check(same.size() == 2 && stats.size() == 2 && covey::host_pages(stats[0]) >= 0,
          "host_pages()");
    good(vm.host_drain(list[1].index, 60000000), "host_drain()");
    good(vm.host_drain(list[1].index, -1), "host_drain() no more");
    auto [time_us, ahead_us] = good(vm.host_clock(list[1].index), "host_clock()");
    check(time_us > 0 && ahead_us < soon, "host_clock() gives a time");
    check(good(vm.measure(list[0].index), "measure()") == 1, "measure()");
    good(vm.fd(), "fd()");
    good(vm.keep(8), "keep()");
    good(vm.keep(-8), "keep() back");
    subject("hosts");
}

void packing()
{
    const std::vector<double> numbers = {1, 2, 3, 4};
    const std::array<std::complex<float>, 2> z = {std::complex<float>(1, 2),
                                                  std::complex<float>(3, 4)};
    const short shorts[] = {1, 2, 3, 4, 5, 6};
    covey::message msg = covey::make_message(), nested = covey::make_message();
    check(covey::type_size(COVEY_DOUBLE) == 8 &&
              std::string(covey::type_name(COVEY_INT32)) == "int32",
          "types");
    static_assert(covey::type_of<long long>() == COVEY_INT64 &&
                  covey::type_of<unsigned char>() == COVEY_UINT8);
    good(msg.pack(numbers), "pack() of a vector");
    good(msg.pack(z), "pack() of complex numbers");
    good(msg.pack(shorts, 2), "pack() with a stride");
    good(msg.pack_inplace(numbers), "pack_inplace()");
    good(msg.pack_string("text"), "pack_string()");
    good(msg.pack_bytes(std::string("abcd")), "pack_bytes()");
    good(nested.pack(7), "pack() of a number");
    good(msg.pack_msg(nested), "pack_msg()");

    auto [type, count] = good(msg.peek(), "peek()");
    check(type == COVEY_DOUBLE && count == 4, "peek() tells of the vector");
    std::vector<float> floats(4);
    fails(msg.unpack(floats), COVEY_ETYPE, "unpack() of another type");
    std::vector<double> copy(4);
    good(msg.unpack(copy), "unpack()");
    check(copy == numbers, "the vector");
    std::array<std::complex<float>, 2> zz;
    good(msg.unpack(zz), "unpack() of complex numbers");
    check(zz == z, "the complex numbers");
    std::int16_t every[3];
    good(msg.unpack(every), "unpack() of every other one");
    check(every[2] == 5, "every other one");
    auto view = good(msg.unpack_view<double>(), "unpack_view()");
    check(view.size() == 4 && view[3] == 4, "the view");
    check(good(msg.unpack_string(), "unpack_string()") == "text", "the string");
    std::string bytes(4, ' ');
    good(msg.unpack_bytes(bytes), "unpack_bytes()");
    check(bytes == "abcd", "the bytes");
    int number = 0;
    covey::message inner = good(msg.unpack_msg(), "unpack_msg()");
    good(inner.unpack(number), "unpack() of a number");
    check(number == 7, "the nested number");
    fails(msg.peek(), COVEY_EEND, "peek() at the end");
    check(msg.info().source == COVEY_NO_TASK, "info()");
    msg.rewind();
    good(msg.peek(), "rewind()");
    msg.clear();
    fails(msg.peek(), COVEY_EEND, "clear()");
    subject("messages");
}

void sending()
{
    const std::array<int, 5> out = {1, 2, 3, 4, 5};
    std::vector<int> in(8);
    covey::message msg = covey::make_message();
    good(msg.pack(out), "pack()");
    good(vm.send(me, 1, msg), "send()");
    check(good(vm.probe(COVEY_ANY_TASK, 1, soon), "probe()").tag == 1, "probe() tells the tag");
    covey::message got = good(vm.recv(me, COVEY_ANY_TAG, soon), "recv()");
    good(got.unpack(covey::span(in.data(), 5)), "unpack() into a span");
    check(in[4] == 5, "what was received");
    fails(vm.recv(me, 1, COVEY_POLL), COVEY_ETIMEOUT, "recv() of nothing");
    good(vm.send_array(me, 2, covey::span(out.data() + 1, 3)), "send_array()");
    auto [count, info] = good(vm.recv_array(me, 2, soon, in), "recv_array()");
    check(count == 3 && in[0] == 2 && info.source == me, "the array");
    good(vm.sendrecv(me, me, 3, soon, msg), "sendrecv()");
    check(good(vm.sendrecv_array(me, me, 4, soon, out, in), "sendrecv_array()") == 5,
          "the number of elements");
    const covey_tid_t to[] = {me};
    good(vm.mcast(to, 5, msg), "mcast()");
    good(vm.cast(to, COVEY_ORDER_TOTAL, 6, msg), "cast()");
    good(vm.recv(me, 6, soon), "what was cast");
    subject("sending");
}

void requests()
{
    std::vector<int> out = {1, 2, 3, 4}, in(6);
    covey::message msg = covey::make_message();
    std::array<covey::request, 2> reqs = {good(vm.irecv(me, 11), "irecv()"),
                                          good(vm.irecv_array(me, 12, in), "irecv_array()")};
    check(good(reqs[0].test(), "test()") == 0, "what has not come");
    covey::request sent = good(vm.isend(me, 11, std::move(msg)), "isend()");
    check(!msg, "isend() takes the message over");
    good(sent.wait(soon), "wait()");
    check(good(covey::wait_any(reqs, soon), "wait_any()") == 0, "the first is complete");
    sent = good(vm.isend_array(me, 12, out), "isend_array()");
    good(covey::wait_all(reqs, soon), "wait_all()");
    good(sent.wait(soon), "wait()");
    check(vm.wait_notice(reqs, 13, soon).code() == 0, "wait_notice()");
    auto [info, got, none] = good(reqs[0].result(), "result()");
    check(info.tag == 11 && got && none == 0, "the received message");
    check(std::get<2>(good(reqs[1].result(), "result() of an array")) == 4 && in[3] == 4,
          "the received array");
    covey::request later = good(vm.irecv(me, 14), "irecv()");
    check(good(later.cancel(), "cancel()") == 1, "cancel()");
    fails(later.wait(soon), COVEY_ECANCELED, "a cancelled request");
    subject("requests");
}

void tasks()
{
    struct covey_spawn what = {};
    covey::c_texts argv = {"sleep", "100"};
    what.argv = argv.get();
    check(good(vm.spawn_count(what, 2), "spawn_count()") == 2, "spawn_count()");
    check(!good(vm.place(what, 2), "place()").empty() &&
              !good(vm.place_idle(what), "place_idle()").empty(),
          "places");
    auto tids = good(vm.spawn(what, 2), "spawn()");
    good(vm.notify(COVEY_NOTIFY_TASK_EXIT, 21, tids), "notify()");
    good(vm.kill(tids[0]), "kill()");
    auto msg = good(vm.recv(COVEY_ANY_TASK, 21, soon), "a notice");
    auto notice = good(msg.unpack_notice(), "unpack_notice()");
    check(notice.exit_kind == COVEY_EXIT_SIGNAL && notice.value == 15, "how it ended");
    good(vm.signal(tids[1], 9), "signal()");
    check(good(vm.wait_notice(nullptr, 21, soon), "wait_notice() of none").tid == tids[1],
          "the other one");
    auto siblings = good(vm.siblings(), "siblings()");
    check(siblings.size() == 1 && siblings[0] == me, "the only sibling");
    subject("tasks");
}

void given()
{
    struct covey_spawn what = {};
    covey::c_texts argv = {"cat"};
    what.argv = argv.get();
    what.input = 1;
    what.output = COVEY_OUTPUT_SELF;
    good(vm.notify(COVEY_NOTIFY_OUTPUT_END, 22), "notify() of output");
    auto tids = good(vm.spawn(what, 1), "spawn() of cat");
    good(vm.input(tids[0], std::string("hello\n")), "input()");
    good(vm.input(tids[0], nullptr), "input(): the end");
    auto msg = good(vm.recv(tids[0], COVEY_TAG_OUTPUT, soon), "its output");
    auto [stream, text] = good(msg.unpack_output(), "unpack_output()");
    check(stream == 1 && text == "hello\n", "the line");
    msg = good(vm.recv(COVEY_ANY_TASK, 22, soon), "its end");
    check(good(msg.unpack_end(), "unpack_end()").notice.tid == tids[0], "the end of cat");
    subject("input and output");
}

void orders()
{
    good(vm.tasker(31), "tasker()");
    check(std::system("covey run -n 1 --host h0 true &") == 0, "a task is started");
    auto msg = good(vm.recv(COVEY_ANY_TASK, 31, soon), "an order");
    auto order = good(msg.unpack_order(), "unpack_order()");
    if (check(order && std::strstr(order->program, "true") != nullptr, "what is ordered")) {
        good(vm.order_started(order->tid, 1), "order_started()");
        good(vm.order_ended(order->tid, COVEY_EXIT_STATUS, 0), "order_ended()");
    }
    good(vm.tasker(-1), "tasker(): no longer");
    subject("orders");
}

void groups()
{
    covey::group group = good(vm.group_join("c++"), "group_join()");
    check(group.instance() == 0 && good(group.size(), "size()") == 1, "instance() and size()");
    auto members = good(vm.group_members("c++"), "group_members()");
    check(members.size() == 1 && members[0].tid == me, "the only member");
    check(good(group.tid(0), "tid()") == me && good(group.instance_of(me), "instance_of()") == 0,
          "the own place");
    good(group.barrier(1, soon), "barrier()");
    covey::message msg = covey::make_message();
    good(group.bcast(41, msg), "bcast()");
    good(group.cast(COVEY_ORDER_TOTAL, 42, msg), "cast()");
    good(vm.recv(me, 42, soon), "what was cast");
    check(good(group.team_of_group(1, soon), "team_of_group()").size() == 1, "a team of the group");
    const covey_tid_t own[] = {me};
    check(good(vm.team_create(own, soon), "team_create()").size() == 1, "a team of one");
    good(group.leave(), "leave()");
    subject("groups");
}

} // namespace

int main()
{
    joining();
    hosts();
    packing();
    sending();
    requests();
    tasks();
    given();
    orders();
    groups();
    return wrong_in_all != 0;
}
