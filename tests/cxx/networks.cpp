/*
 * networks.cpp - covey.hpp without a VM: topologies, schedules, orders of exchanges, plans of
 * tiles, predictions.
 */
#include "report.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace
{

const std::string network = "switch s t\nlink s t\nhost h0 s\nhost h1 s\nhost h2 t\n";
covey::topology topology;

void topologies()
{
    auto none = covey::topology_parse("nonsense", "a text");
    fails(none, COVEY_EINVAL, "topology_parse() of nonsense");
    check(none.text().find("a text:1") == 0, "where the nonsense is");
    const std::string path = std::string(std::getenv("COVEY_TEST_DIR")) + "/network";
    std::ofstream(path) << network;
    check(good(good(covey::topology_load(path), "topology_load()").links(), "links()").size() == 4,
          "the links");
    topology = good(covey::topology_parse(network, "a text"), "topology_parse()");
    check(good(topology.nodes(), "nodes()").size() == 5, "the nodes");
    check(good(topology.print(COVEY_TOPOLOGY_FILE), "print()").find("h2") != std::string::npos,
          "what is printed");
    subject("topologies");
}

void schedules()
{
    auto schedule = good(topology.schedule_create(3), "schedule_create()");
    auto info = schedule.info();
    check(info.ranks == 3 && info.messages == 6, "info()");
    check(schedule.messages().size() == 6 &&
              schedule.messages()[0].from != schedule.messages()[0].to,
          "messages()");
    check(schedule.syncs().size() == info.syncs, "syncs()");
    check(std::string(schedule.rank_name(2)) == "h2", "rank_name()");
    good(schedule.check(), "check()");
    check(!good(schedule.print(COVEY_SCHEDULE_TEXT), "print()").empty(), "what is printed");
    auto prediction = good(topology.predict_alltoall(3, 1e6, 1e-4, 0), "predict_alltoall()");
    check(prediction.scheduled_s >= prediction.bound_s, "no time is below the bound");
    subject("schedules");
}

void orders()
{
    std::vector<struct covey_exchange_message> messages(3);
    for (std::uint16_t i = 0; i < 3; i++) {
        messages[i].from = i;
        messages[i].to = static_cast<std::uint16_t>((i + 1) % 3);
        messages[i].bytes = 1000;
    }
    struct covey_exchange_options options = {};
    options.algorithm = COVEY_EXCHANGE_COLOUR;
    check(good(covey::exchange_order(messages, 3, &options), "exchange_order()").phases == 1,
          "the phases");
    check(std::string(covey::exchange_name(COVEY_EXCHANGE_RS_N)) == "RS_N", "exchange_name()");
    check(covey::exchange_parse("LP").code() == COVEY_EXCHANGE_LP, "exchange_parse()");
    subject("orders of exchanges");
}

void tiles()
{
    struct covey_tiles_loop loop = {};
    loop.dims = loop.dependences = 2;
    loop.size[0] = 1000, loop.size[1] = 100;
    loop.dependence[0][0] = 1, loop.dependence[0][1] = -1, loop.dependence[1][1] = 1;
    loop.type = COVEY_DOUBLE;
    good(covey::tiles_skew(loop), "tiles_skew()");
    struct covey_tiles_options options = {};
    options.costs.point_s = 1e-7;
    options.costs.alpha_s = 1e-4;
    check(good(covey::tiles_plan(loop, 4, &options), "tiles_plan()").dims == 2, "the plan");
    good(covey::tiles_shape(loop, COVEY_TILES_OF_EACH, 100, options), "tiles_shape()");
    check(options.tile[0] > 0 && options.tile[1] > 0, "the sides of the shape");
    const std::int64_t side[8][8] = {{10, -10}, {0, 10}};
    good(covey::tiles_sides(loop, side, options), "tiles_sides()");
    subject("tiles");
}

/* Two hosts that are alike. */
std::unique_ptr<struct covey_calibration> calibrated(const struct covey_line &line)
{
    auto made = std::make_unique<struct covey_calibration>();
    for (auto &route : made->routes) {
        route.known = 1;
        route.line = line;
    }
    made->host_count = 2;
    for (int i = 0; i < 2; i++) {
        auto &host = made->hosts[i];
        std::strcpy(host.name, i == 0 ? "h0" : "h1");
        host.cores = 1;
        host.processors = host.share = 1;
        for (double &madd_s : host.madd_s)
            madd_s = 1e-9;
        host.oper_s = host.merge_s = host.iteration_s = host.touch_s = 1e-9;
    }
    return made;
}

void predictions()
{
    const std::vector<double> bytes = {1e3, 1e4, 1e5}, seconds = {1.1e-4, 2e-4, 1.1e-3};
    auto line = good(covey::line_fit(bytes, seconds), "line_fit()");
    check(std::abs(line.beta_s - 1e-8) < 1e-12, "the slope");
    good(covey::line_fit_ends(bytes, seconds), "line_fit_ends()");
    check(good(covey::calibration_path("cxx"), "calibration_path()").find("cxx") !=
              std::string::npos,
          "the path");
    good(covey::calibration_save("cxx", *calibrated(line)), "calibration_save()");
    auto loaded = good(covey::calibration_load("cxx"), "calibration_load()");
    if (!check(loaded && std::string(loaded->hosts[0].name) == "h0", "the calibrated host"))
        return;
    struct covey_tiles_costs costs = {};
    good(covey::tiles_costs(*loaded, COVEY_ROUTE_TCP, costs), "tiles_costs()");
    check(costs.alpha_s > 0, "the costs");
    struct covey_problem problem = {};
    problem.model = COVEY_MODEL_SORT;
    problem.size = 1000000;
    check(good(covey::predict(*loaded, problem, 2, {"h0", "h1"}), "predict()").total_s > 0,
          "the predicted time");
    check(
        good(covey::predict_choose(*loaded, problem, 2, COVEY_CHOICE_TOLERANCE), "predict_choose()")
                ->host_count >= 1,
        "the choice");
    const int hosts[] = {1, 2, 4};
    const double total_s[] = {8, 4, 4};
    auto [break_even, efficient] =
        good(covey::predict_best(hosts, total_s, 0.25), "predict_best()");
    check(break_even >= efficient && efficient == 1, "the most efficient number");
    struct covey_host host[1] = {};
    struct covey_host_stat stat[1] = {};
    std::strcpy(host[0].name, "h0");
    stat[0].known = 1;
    check(good(covey::calibration_now(*loaded, COVEY_ROUTE_TCP, host, stat), "calibration_now()") ==
              1,
          "known figures");
    subject("predictions");
}

} // namespace

int main()
{
    topologies();
    schedules();
    orders();
    tiles();
    predictions();
    return wrong_in_all != 0;
}
