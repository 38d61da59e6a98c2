# choice.gp - draws what libraries_choice.sh measured, in the folder of its `lines`: choice.png.
set terminal pngcairo size 1300,460 font "Sans,11" noenhanced
set output 'choice.png'
networks = 'host switch chain'
titles = 'one_host,_shared_memory hosts_on_one_switch hosts_on_a_chain_of_switches'
libraries = 'sort fft'
sort = 'local tree sample histogram hypercube'
fft = 'local slab pencil'
colours = '#0072B2 #E69F00 #009E73 #D55E00 #CC79A7'
set multiplot layout 1,3 title 'Solvers: measured beside predicted, each algorithm at four sizes'
set logscale xy
set format xy '%g'
set grid
set key left top reverse Left
set xlabel 'predicted, ms'
set ylabel 'measured, ms'
# sorts are circles, transforms are triangles
pick(network, library, algorithm) = sprintf("< awk '$1 == \"%s\" && $2 == \"%s\" && $4 == \"%s\" && $7 == \"expected\" && $8 > 0 { print $8, $5 }' lines", network, library, algorithm)
do for [n = 1:3] {
    network = word(networks, n)
    if (system("grep -c '^".network." ' lines") + 0 > 0) {
        set title system("echo ".word(titles, n)." | tr _ ' '")
        plot x with lines lc rgb '#999999' dt 2 title 'as predicted', \
             for [i = 1:5] pick(network, 'sort', word(sort, i)) with points pt 7 lc rgb word(colours, i) title 'sort, '.word(sort, i), \
             for [i = 1:3] pick(network, 'fft', word(fft, i)) with points pt 8 ps 1.4 lc rgb word(colours, i) title 'fft, '.word(fft, i)
    }
}
unset multiplot
