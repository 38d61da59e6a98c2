# speedup.gp - speed-up over hosts: gnuplot -e "hosts='1 2 4 8'" speedup.gp, in a folder of DEMO.ROUTE.dat
# (hosts, tasks, six columns of seconds, speed-up). Above by route, as Figures 14(a) to (c) of Schmidt & Sunderam;
# below by demo. Every panel has the same axes.
set terminal pngcairo size 1200,760 font 'sans,11' noenhanced background '#FFFFFF'
set output 'speedup.png'
demos = 'mandel matmul sort'
routes = 'udp tcp ether'
figures = '"(a) udp: datagrams by the daemons" "(b) tcp: streams" "(c) ether: raw frames, direct"'
demo_colours = '#0072B2 #D55E00 #009E73'
route_colours = '#E69F00 #56B4E9 #000000'
is_there(name) = int(system("test -s '".name."' && echo 1 || echo 0"))
most = word(hosts, words(hosts)) + 0
set multiplot layout 2,3 title 'Speed-up by hosts'
set logscale xy 2
set xtics (1, 2, 4, 8, 16, 32, 64)
set ytics ('1/8' 0.125, '1/4' 0.25, '1/2' 0.5, 1, 2, 4, 8, 16, 32, 64)
set xrange [0.9:most * 1.1]
set yrange [0.125:most * 1.25]
set tics out nomirror
set border 3
set grid lc rgb '#DDDDDD'
set xlabel 'hosts'
set key top left Left reverse samplen 2
do for [r = 1:3] {
    set title word(figures, r)
    plot x with lines dt 2 lc rgb '#888888' title 'ideal', \
         for [d = 1:3] name = word(demos, d).'.'.word(routes, r).'.dat' (is_there(name) ? name : '/dev/null') \
             using 1:9 with linespoints lw 2 pt d + 4 lc rgb word(demo_colours, d) title word(demos, d)
}
do for [d = 1:3] {
    set title word(demos, d)
    plot x with lines dt 2 lc rgb '#888888' title 'ideal', \
         for [r = 1:3] name = word(demos, d).'.'.word(routes, r).'.dat' (is_there(name) ? name : '/dev/null') \
             using 1:9 with linespoints lw 2 pt r + 4 lc rgb word(route_colours, r) title word(routes, r)
}
unset multiplot
