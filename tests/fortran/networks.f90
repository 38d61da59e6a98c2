! networks.f90 - module covey without a VM: topologies, schedules, orders of exchanges, plans of tiles, predictions.
program networks
  use, intrinsic :: iso_c_binding
  use covey
  use report
  implicit none

  character(*), parameter :: nl = new_line('a')
  character(*), parameter :: text = 'switch s t'//nl//'link s t'//nl//'host h0 s'//nl//'host h1 s'//nl//'host h2 t'//nl
  type(covey_topology_t) :: topology

  call topologies()
  call schedules()
  call orders()
  call tiles()
  call predictions()
  call covey_topology_free(topology)
  call ended()

contains

  subroutine topologies()
    type(covey_topology_node_t), allocatable :: nodes(:)
    type(covey_topology_link_t), allocatable :: links(:)
    character(:), allocatable :: printed
    character(256) :: folder
    integer :: unit
    call is(covey_topology_parse('nonsense', 'a text', topology), COVEY_EINVAL, 'covey_topology_parse() of nonsense')
    call check(index(covey_error_text(), 'a text:1') > 0, 'where the nonsense is')
    call get_environment_variable('COVEY_TEST_DIR', folder)
    open (newunit=unit, file=trim(folder)//'/network', action='write')
    write (unit, '(a)', advance='no') text
    close (unit)
    call is(covey_topology_load(trim(folder)//'/network', topology), 0, 'covey_topology_load()')
    call covey_topology_free(topology)
    call is(covey_topology_parse(text, 'a text', topology), 0, 'covey_topology_parse()')
    call is(covey_topology_nodes(topology, nodes), 5, 'covey_topology_nodes()')
    call check(covey_text(nodes(5)%name) == 'h2' .or. any(nodes%is_switch == 1), 'the nodes')
    call is(covey_topology_links(topology, links), 4, 'covey_topology_links()')
    call check(all(links%rate_bps == 1000000000_c_int64_t), 'the rates')
    call is(covey_topology_print(topology, COVEY_TOPOLOGY_FILE, printed), 0, 'covey_topology_print()')
    call check(index(printed, 'h2') > 0, 'what is printed')
    call subject('topologies')
  end subroutine topologies

  subroutine schedules()
    type(covey_schedule_t) :: schedule
    type(covey_schedule_info_t) :: info
    type(covey_schedule_message_t), pointer :: messages(:)
    type(covey_schedule_sync_t), pointer :: syncs(:)
    type(covey_alltoall_prediction_t) :: prediction
    character(:), allocatable :: printed
    call is(covey_schedule_create(topology, 3, schedule), 0, 'covey_schedule_create()')
    call covey_schedule_info(schedule, info)
    call check(info%ranks == 3 .and. info%messages == 6, 'covey_schedule_info()')
    messages => covey_schedule_messages(schedule)
    call is(size(messages), 6, 'covey_schedule_messages()')
    call check(all(messages%from /= messages%to), 'the messages')
    syncs => covey_schedule_syncs(schedule)
    call check(.not. associated(syncs) .or. size(syncs) == info%syncs, 'covey_schedule_syncs()')
    call check(covey_schedule_rank_name(schedule, 2) == 'h2', 'covey_schedule_rank_name()')
    call is(covey_schedule_check(schedule), 0, 'covey_schedule_check()')
    call is(covey_schedule_print(schedule, COVEY_SCHEDULE_TEXT, printed), 0, 'covey_schedule_print()')
    call check(len(printed) > 0, 'what is printed')
    call covey_schedule_free(schedule)
    call is(covey_predict_alltoall(topology, 3, 1e6_c_double, 1e-4_c_double, 0.0_c_double, prediction), 0, &
            'covey_predict_alltoall()')
    call check(prediction%scheduled_s >= prediction%bound_s, 'no time is below the bound')
    call subject('schedules')
  end subroutine schedules

  subroutine orders()
    type(covey_exchange_message_t) :: messages(3)
    type(covey_exchange_options_t) :: options
    type(covey_exchange_info_t) :: info
    messages%from = [0_c_int16_t, 1_c_int16_t, 2_c_int16_t]
    messages%to = [1_c_int16_t, 2_c_int16_t, 0_c_int16_t]
    messages%bytes = 1000
    options%algorithm = COVEY_EXCHANGE_COLOUR
    call is(covey_exchange_order(messages, 3, info, options), 0, 'covey_exchange_order()')
    call is(info%phases, 1, 'its phases')
    call check(covey_exchange_name(COVEY_EXCHANGE_RS_N) == 'RS_N', 'covey_exchange_name()')
    call is(covey_exchange_parse('LP'), COVEY_EXCHANGE_LP, 'covey_exchange_parse()')
    call subject('orders of exchanges')
  end subroutine orders

  subroutine tiles()
    type(covey_tiles_loop_t) :: loop
    type(covey_tiles_options_t) :: options
    type(covey_tiles_plan_t) :: plan
    integer(c_int64_t) :: side(8, 8)
    loop%dims = 2
    loop%dependences = 2
    loop%size(1:2) = [1000, 100]
    loop%dependence(1:2, 1) = [1, -1]
    loop%dependence(1:2, 2) = [0, 1]
    loop%type = COVEY_DOUBLE
    call is(covey_tiles_skew(loop), 0, 'covey_tiles_skew()')
    call check(any(loop%skew /= 0), 'the skew')
    options%costs%point_s = 1e-7_c_double
    options%costs%alpha_s = 1e-4_c_double
    call is(covey_tiles_plan(loop, 4, plan, options), 0, 'covey_tiles_plan()')
    call check(plan%tasks >= 1 .and. plan%dims == 2, 'the plan')
    call is(covey_tiles_shape(loop, COVEY_TILES_OF_EACH, 100.0_c_double, options), 0, 'covey_tiles_shape()')
    call check(all(options%tile(1:2) > 0), 'the sides of the shape')
    side = 0
    side(1, 1) = 10
    side(2, 1) = -10
    side(2, 2) = 10
    call is(covey_tiles_sides(loop, side, options), 0, 'covey_tiles_sides()')
    call subject('tiles')
  end subroutine tiles

  subroutine predictions()
    type(covey_line_t) :: line
    type(covey_calibration_t), allocatable :: calibration, loaded
    type(covey_choice_t), allocatable :: choice
    type(covey_problem_t) :: problem
    type(covey_prediction_t) :: prediction
    type(covey_tiles_costs_t) :: costs
    type(covey_host_t) :: hosts(1)
    type(covey_host_stat_t) :: stats(1)
    real(c_double) :: bytes(3) = [1e3_c_double, 1e4_c_double, 1e5_c_double], seconds(3)
    character(512) :: path
    integer(c_int) :: break_even, efficient
    seconds = 1e-4_c_double + 1e-8_c_double * bytes
    call is(covey_line_fit(bytes, seconds, line), 0, 'covey_line_fit()')
    call check(abs(line%beta_s - 1e-8_c_double) < 1e-12_c_double, 'the slope')
    call is(covey_line_fit_ends(bytes, seconds, line), 0, 'covey_line_fit_ends()')
    call is(covey_calibration_path('fortran', path), 0, 'covey_calibration_path()')
    call check(index(path, 'calibration') > 0, 'the path')
    call made(calibration, line)
    call is(covey_calibration_save('fortran', calibration), 0, 'covey_calibration_save()')
    call is(covey_calibration_load('fortran', loaded), 0, 'covey_calibration_load()')
    if (.not. allocated(loaded)) return
    call check(covey_text(loaded%hosts(1)%name) == 'h0', 'the calibrated host')
    call is(covey_tiles_costs(loaded, COVEY_ROUTE_TCP, costs), 0, 'covey_tiles_costs()')
    call check(costs%alpha_s > 0, 'the costs')
    problem%model = COVEY_MODEL_SORT
    problem%size = 1000000
    call is(covey_predict(loaded, problem, 2, prediction, [character(2) :: 'h0', 'h1']), 0, 'covey_predict()')
    call check(prediction%total_s > 0, 'the predicted time')
    call is(covey_predict_choose(loaded, problem, 2, COVEY_CHOICE_TOLERANCE, choice), 0, 'covey_predict_choose()')
    if (allocated(choice)) call check(choice%host_count >= 1, 'the choice')
    call is(covey_predict_best([1, 2, 4], [8.0_c_double, 4.0_c_double, 4.0_c_double], 0.25_c_double, break_even, &
                               efficient), 0, 'covey_predict_best()')
    call is(efficient, 1, 'the most efficient number')
    hosts(1)%name(1:2) = ['h', '0']
    stats(1)%known = 1
    call is(covey_calibration_now(loaded, COVEY_ROUTE_TCP, hosts, stats), 1, 'covey_calibration_now()')
    call subject('predictions')
  end subroutine predictions

  ! Two hosts that are alike.
  subroutine made(calibration, line)
    type(covey_calibration_t), allocatable, intent(out) :: calibration
    type(covey_line_t), intent(in) :: line
    type(covey_calibration_route_t) :: route
    type(covey_calibration_host_t) :: host
    type(covey_packing_t) :: packing
    integer :: i
    allocate(calibration)
    calibration%date = c_null_char
    calibration%vm = c_null_char
    route%known = 1
    route%line = line
    calibration%routes = route
    calibration%together = 0
    calibration%host_count = 2
    calibration%peer_count = 0
    host%cores = 1
    host%processors = 1
    host%share = 1
    host%madd_s = 1e-9_c_double
    host%oper_s = 1e-9_c_double
    host%merge_s = 1e-9_c_double
    host%iteration_s = 1e-9_c_double
    host%touch_s = 1e-9_c_double
    calibration%hosts = host
    calibration%packing = packing
    do i = 1, 2
      calibration%hosts(i)%name(1:2) = ['h', achar(iachar('0') + i - 1)]
    end do
  end subroutine made
end program networks
