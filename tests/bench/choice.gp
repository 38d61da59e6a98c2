# choice.gp - draws what libraries_choice.sh measured on one network, in the folder of its `lines`:
#   gnuplot -e "network='host'" choice.gp
of(what, condition) = system("awk '$1 == \"".network."\" && ".condition." && !seen[".what."]++ { print ".what." }' lines")
libraries = of('$3', '$2 == "choice"')
columns = words(libraries) < 4 ? words(libraries) : 4
lines = words(libraries) > 4 ? 2 : 1
set terminal pngcairo size (columns < 3 ? 750 : 375 * columns),320 * lines font "Sans,10" noenhanced
set output network.'.png'
names = 'sort fft gemm solve cholesky qr poisson'
titles = 'sort,_keys Fourier_transform,_points product_of_n_x_n system_of_n_equations Cholesky,_n_x_n QR,_n_x_n Poisson,_points'
colours = '#0072B2 #E69F00 #009E73 #D55E00 #CC79A7 #56B4E9 #999999 #8B4513 #000000'
about = network eq 'host' ? 'members of one host' : network eq 'switch' ? 'hosts on one switch' : 'hosts on a chain of switches'
set multiplot layout lines,columns title 'Solvers, '.about.': measured (points) beside predicted (lines); what is chosen has a ring' noenhanced
set logscale y
set format y '%g'
set grid
set key left top reverse Left samplen 1 spacing 0.9
set ylabel 'ms'
# the sizes stand beside each other, in their order; the columns are those of `lines`
rows(test, y) = sprintf("< awk '$1 == \"%s\" { l = $2 == \"choice\" ? $3 : $2; s = $2 == \"choice\" ? $4 : $3 } $1 == \"%s\" && l == \"%s\" && !(s in at) { at[s] = ++n } $1 == \"%s\" && l == \"%s\" && %s && %s > 0 { print at[s], %s }' lines", network, network, library, network, library, test, y, y)
do for [i = 1:words(names)] {
    library = word(names, i)
    if (strstrt(' '.libraries.' ', library) > 0) {
        sizes = of('$3', '$2 == "'.library.'"')
        algorithms = of('$4', '$2 == "'.library.'"')
        set title system("echo ".word(titles, i)." | tr _ ' '")
        set xrange [0.7:words(sizes) + 0.3]
        set yrange [*:*]
        if (words(algorithms) > 6) { set yrange [*:1e7] } # room for the key
        set xtics ('' 0)
        set for [k = 1:words(sizes)] xtics add (word(sizes, k) k)
        plot for [k = 1:words(algorithms)] rows('$4 == "'.word(algorithms, k).'"', '$8') using 1:2 with lines lw 2 lc rgb word(colours, k) title word(algorithms, k), \
             for [k = 1:words(algorithms)] rows('$4 == "'.word(algorithms, k).'"', '$5') using 1:2 with points pt 7 lc rgb word(colours, k) notitle, \
             rows('$2 == "choice"', '$8') using 1:2 with points pt 6 ps 2 lw 1.5 lc rgb '#000000' title 'chosen'
    }
}
unset multiplot
