# alltoall.gp - draws one network's figures: gnuplot -e "network='b'" alltoall.gp, in the folder of the data.
set terminal pngcairo size 1200,520 font "Sans,11" noenhanced
set output network.'.png'
set datafile missing '?'
data = network.'.quiet.dat'
names = '"Covey" "Covey, no schedule" "Open MPI" "Open MPI, preloaded" "MPICH" "MPICH, preloaded"'
colours = '#0050b0 #60a0e0 #c03020 #e89070 #208040 #80c090'
set multiplot layout 1,2 title 'All-to-all on network ('.network.')'
set logscale x 2
set xtics (1, 2, 4, 8, 16, 32, 64, 128, 256)
set xlabel 'message size, KiB'
stats data using 1 nooutput
set xrange [STATS_min / 1.25:STATS_max * 1.25]
set grid
set key left top reverse Left
set logscale y
set ylabel 'completion time, ms'
plot for [i = 1:6] data using 1:(column(2 * i)) with linespoints pt (i + 3) lw 2 lc rgb word(colours, i) title word(names, i), \
     data using 1:14 with lines lw 2 dt 2 lc rgb '#404040' title 'peak, net of headers'
unset logscale y
set yrange [0:*]
set key right bottom
set ylabel 'aggregate throughput, Mbit/s'
plot for [i = 1:6] data using 1:(column(2 * i + 1)) with linespoints pt (i + 3) lw 2 lc rgb word(colours, i) title word(names, i), \
     data using 1:15 with lines lw 2 dt 2 lc rgb '#404040' title 'peak, net of headers'
unset multiplot
