# alltoall_predicted.gp - draws what alltoall_predicted.awk wrote, in the folder of the data: predicted.png.
set terminal pngcairo size 1300,460 font "Sans,11" noenhanced
set output 'predicted.png'
set datafile missing '?'
colours = '#0072B2 #E69F00 #009E73'
names = 'scheduled ring pairwise'
set multiplot layout 1,3 title 'All-to-all: measured (points) and predicted (lines)'
set logscale xy
set xtics (1, 4, 16, 64, 256)
set xrange [0.8:320]
set grid
set key left top reverse Left
set xlabel 'block, KiB'
set ylabel 'ms'
do for [network in 'a b c'] {
    data = network.'.predicted.dat'
    if (system('test -s '.data.' && echo 1') eq '1') {
        set title 'network ('.network.')'
        plot for [i = 1:3] data using 1:(column(2 * i + 1)) with lines lw 2 lc rgb word(colours, i) title word(names, i), \
             for [i = 1:3] data using 1:(column(2 * i)) with points pt 7 lc rgb word(colours, i) notitle
    }
}
unset multiplot
