/*
 * team.cpp - covey.hpp in a program of three tasks: teams, collective calls, windows, exchanges,
 * tiled loops.
 */
#include "report.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace
{

covey::vm vm;
covey::team team;
int rank, n;

void done(const char *name)
{
    good(team.barrier(), "barrier()");
    if (rank == 0)
        subject(name);
}

void complete(covey::result<covey::request> started, const char *what)
{
    covey::request req = good(std::move(started), what);
    good(req.wait(soon), what);
}

bool all_are(covey::span<const double> values, double number)
{
    return std::all_of(values.begin(), values.end(),
                       [=](double v) { return std::abs(v - number) < 0.1; });
}

void making()
{
    team = good(vm.team_world(), "team_world()");
    rank = team.rank();
    n = team.size();
    check(n == 3, "size()");
    check(good(team.tid(rank), "tid()") == vm.mytid() &&
              good(team.rank_of(vm.mytid()), "rank_of()") == rank,
          "the own place");
    check(team.vm().handle() == vm.handle(), "vm()");
    good(team.set_timeout(soon), "set_timeout()");
    check(good(team.split(rank > 0, -rank), "split()").size() == (rank > 0 ? 2 : 1), "the part");
    const char *first = covey::algorithm("bcast", 0);
    check(first != nullptr && team.algorithm("bcast", 8) != nullptr, "algorithm()");
    good(team.force("bcast", first), "force()");
    good(team.force("bcast"), "force() of none");
    done("teams");
}

void by_rank()
{
    const int next = (rank + 1) % n, before = (rank + n - 1) % n;
    std::array<int, 2> mine = {rank, 10 * rank}, theirs{}, others{};
    covey::message msg = covey::make_message();
    good(msg.pack(mine), "pack()");
    good(team.send(next, 1, msg), "send()");
    check(team.probe(before, 1, soon).code() == before, "probe()");
    auto got = team.recv(COVEY_ANY_RANK, 1, soon);
    check(got.code() == before && *got, "recv()");
    good(team.send_array(next, 2, mine), "send_array()");
    check(good(team.recv_array(before, 2, soon, theirs), "recv_array()") == 2 &&
              theirs[1] == 10 * before,
          "what came");
    good(team.sendrecv(next, before, 3, soon, msg), "sendrecv()");
    check(good(team.sendrecv_array(next, before, 4, soon, mine, theirs), "sendrecv_array()") == 2,
          "what came then");
    std::array<covey::request, 4> reqs = {
        good(team.irecv(before, 5), "irecv()"),
        good(team.irecv_array(before, 6, others), "irecv_array()"),
        good(team.isend(next, 5, std::move(msg)), "isend()"),
        good(team.isend_array(next, 6, mine), "isend_array()")};
    good(covey::wait_all(reqs, soon), "wait_all()");
    check(others[1] == 10 * before, "what came by a request");
    done("messages by rank");
}

void moving()
{
    std::vector<double> mine = {double(rank), rank + 0.5}, part(2), all(6), table(6);
    const std::vector<size_t> counts = {1, 2, 3}, ones(3, 1);
    std::vector<int> parts = {1, 2, 3, 4, 5, 6}, own(size_t(rank + 1)), three(3);
    if (rank == 1)
        part = {7, 7};
    good(team.bcast(1, part), "bcast()");
    check(all_are(part, 7), "what was broadcast");
    good(team.gather(0, mine, rank == 0 ? covey::span<double>(all) : nullptr), "gather()");
    check(rank > 0 || std::abs(all[5] - 2.5) < 0.1, "what was gathered");
    good(team.scatter(0, all, part), "scatter()");
    check(part == mine, "what was scattered");
    good(team.allgather(mine, all), "allgather()");
    check(all[4] == 2, "what all gathered");
    good(team.alltoall(all, table), "alltoall()");
    check(table[3] == mine[1], "what all got of all");
    good(team.scatterv(0, parts, counts, own), "scatterv()");
    check(own[0] == std::array<int, 3>{1, 2, 4}[size_t(rank)], "what was scattered by counts");
    std::fill(parts.begin(), parts.end(), 0);
    good(team.gatherv(0, own, parts, counts), "gatherv()");
    check(rank > 0 || parts[5] == 6, "what was gathered by counts");
    good(team.allgatherv(own, parts, counts), "allgatherv()");
    check(parts[3] == 4, "what all gathered by counts");
    good(team.alltoallv(covey::span(parts.data(), 3), ones, three, ones), "alltoallv()");
    check(three[2] == rank + 1, "what all got of all by counts");
    done("moving arrays");
}

double longer(double a, double b)
{
    return std::abs(a) >= std::abs(b) ? a : b;
}

void reducing()
{
    const std::vector<double> mine(4, rank + 1.0);
    const std::vector<size_t> counts = {1, 1, 2};
    std::vector<double> sum(4), negative(4, -(rank + 1.0));
    good(team.reduce(0, COVEY_OP_SUM, mine, sum), "reduce()");
    check(rank > 0 || all_are(sum, 6), "the sum at the root");
    good(team.allreduce(COVEY_OP_MAX, mine, sum), "allreduce()");
    check(all_are(sum, 3), "the maximum");
    good(team.reduce_scatter(COVEY_OP_SUM, mine, sum, counts), "reduce_scatter()");
    check(std::abs(sum[0] - 6) < 0.1, "the block of the sum");
    good(team.scan(COVEY_OP_SUM, mine, sum), "scan()");
    check(all_are(sum, std::array<double, 3>{1, 3, 6}[size_t(rank)]), "the sum up to the rank");
    good(team.exscan(COVEY_OP_SUM, mine, sum), "exscan()");
    check(rank == 0 || all_are(sum, rank == 1 ? 1 : 3), "the sum before the rank");
    const int op = good(covey::define<double, longer>(vm), "define()");
    good(team.allreduce(op, negative, sum), "allreduce() of an own operation");
    check(all_are(sum, -3), "the longest");
    done("reductions");
}

void starting()
{
    std::vector<double> mine(3, rank + 1.0), all(9), part(mine), own(1);
    const std::vector<size_t> ones(3, 1), threes(3, 3);
    complete(team.ibarrier(), "ibarrier()");
    complete(team.ibcast(2, part), "ibcast()");
    check(all_are(part, 3), "what was broadcast");
    complete(team.igather(0, mine, all), "igather()");
    complete(team.iscatter(0, all, part), "iscatter()");
    check(part == mine, "what was scattered");
    complete(team.igatherv(0, mine, all, threes), "igatherv()");
    complete(team.iscatterv(0, all, threes, part), "iscatterv()");
    check(part == mine, "what was scattered by counts");
    complete(team.iallgather(mine, all), "iallgather()");
    check(all[8] == 3, "what all gathered");
    complete(team.iallgatherv(mine, all, threes), "iallgatherv()");
    check(all[3] == 2, "what all gathered by counts");
    complete(team.ialltoall(mine, part), "ialltoall()");
    check(part[2] == 3, "what all got of all");
    complete(team.ialltoallv(mine, ones, part, ones), "ialltoallv()");
    complete(team.ireduce(0, COVEY_OP_SUM, mine, part), "ireduce()");
    check(rank > 0 || all_are(part, 6), "the sum at the root");
    complete(team.iallreduce(COVEY_OP_PROD, mine, part), "iallreduce()");
    check(all_are(part, 6), "the product");
    complete(team.ireduce_scatter(COVEY_OP_SUM, mine, own, ones), "ireduce_scatter()");
    check(all_are(own, 6), "the block of the sum");
    complete(team.iscan(COVEY_OP_SUM, mine, part), "iscan()");
    complete(team.iexscan(COVEY_OP_SUM, mine, part), "iexscan()");
    check(rank != 2 || all_are(part, 3), "the sum before the rank");
    done("collective calls that are started");
}

void windows()
{
    const int next = (rank + 1) % n, number = rank + 100;
    int got = 0;
    auto [base, window] = good(team.window_create(64, 2), "window_create()");
    good(window.fence(), "fence()");
    good(window.lock(next, COVEY_LOCK_EXCLUSIVE), "lock()");
    good(window.put(next, 8, number), "put()");
    good(window.flush(next), "flush()");
    good(window.unlock(next), "unlock()");
    good(window.signal(next, 1), "signal()");
    good(window.wait(1, 1, soon), "wait()");
    check(static_cast<int *>(base)[2] == (rank + 2) % n + 100, "what was put");
    good(window.get(next, 8, got), "get()");
    good(window.fence(), "fence()");
    check(got == number, "what was got");
    auto [part, bytes] = window.part(rank);
    check(part == base && bytes == 64, "part()");
    good(window.free(), "free()");
    check(!window, "free() unsets the handle");
    done("windows");
}

void networks()
{
    auto topology = good(covey::topology_parse("switch s\nhost h0 s\nhost h1 s\n", "a text"),
                         "topology_parse()");
    good(team.set_topology(topology), "set_topology()");
    auto [schedule, made_s] = team.schedule();
    check(schedule && made_s >= 0, "schedule()");
    good(team.set_topology(covey::topology()), "set_topology() of none");
    if (rank == 0) {
        good(vm.set_topology(topology), "set_topology() of the VM");
        check(good(good(vm.topology(), "topology()").nodes(), "nodes()").size() == 3,
              "the topology of the VM");
        good(vm.set_topology(covey::topology()), "set_topology() of none");
    }
    done("the topology of a VM");
}

void exchanges()
{
    const int before = (rank + n - 1) % n;
    std::vector<double> mine(4, rank), theirs(4);
    const struct covey_parcel out[] = {{(rank + 1) % n, mine.data(), mine.size()}};
    auto in = good(team.exchange(COVEY_DOUBLE, out), "exchange()");
    check(in.size() == 1 && in[0].rank == before, "from whom it came");
    check(all_are({static_cast<const double *>(in[0].base), in[0].count}, before),
          "what was exchanged");
    auto plan = good(team.exchange_plan(COVEY_DOUBLE, out), "exchange_plan()");
    check(good(plan.incoming(), "incoming()")[0].count == 4, "how much comes");
    const void *const from[] = {mine.data()};
    void *const to[] = {theirs.data()};
    good(plan.run(from, to), "run()");
    check(all_are(theirs, before), "what was exchanged by the plan");
    complete(plan.start(from, to), "start()");
    check(plan.info().runs == 2, "info()");
    done("exchanges");
}

/* Each point is 1 more than the larger of those before it. */
void compute(const covey_tile_t *tile, void *) noexcept
{
    struct covey_tile_row row = {};
    covey::tile_ref t(const_cast<covey_tile_t *>(tile));
    while (t.next(row)) {
        double *value = static_cast<double *>(row.values);
        for (std::int64_t i = 0; i < row.count; i++)
            value[i] = std::max(value[i + row.offset[0]], value[i + row.offset[1]]) + 1;
    }
}

void tiled()
{
    struct covey_tiles_loop loop = {};
    loop.dims = loop.dependences = 2;
    loop.size[0] = 20, loop.size[1] = 9;
    loop.dependence[0][0] = loop.dependence[1][1] = 1;
    loop.type = COVEY_DOUBLE;
    loop.compute = compute;
    auto tiles = good(team.tiles_create(loop), "tiles_create()");
    check(good(tiles.run(), "run()").total_s > 0, "the time that it took");
    auto plan = tiles.info();
    check(plan.dims == 2 && (tiles.part() || rank >= plan.tasks), "info() and part()");
    const std::int64_t first[] = {0, 0};
    check(tiles.value(first) != nullptr || rank > 0, "value()");
    std::vector<double> values(180);
    good(tiles.gather(0, values), "gather()");
    check(rank > 0 || (values[0] == 1 && values[179] == 28), "the values");
    done("tiled loops");
}

} // namespace

int main()
{
    vm = good(covey::join(), "join()");
    making();
    by_rank();
    moving();
    reducing();
    starting();
    windows();
    networks();
    exchanges();
    tiled();
    good(team.barrier(), "the last barrier");
    team.reset();
    return wrong_in_all != 0;
}
