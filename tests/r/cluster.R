# cluster.R - what parallel does with a cluster of covey, beside what R does alone. A line "ok ..." or "not ok ..." for each.
library(parallel)
library(covey)

check <- function(name, is_right) {
    right <- tryCatch(isTRUE(is_right), error = function(e) {
        cat("    ", conditionMessage(e), "\n")
        FALSE
    })
    cat(if (right) "ok" else "not ok", name, "\n")
}
error_of <- function(expression) tryCatch({ expression; "" }, error = conditionMessage)

cl <- makeCoveyCluster(4)
check("four workers", length(cl) == 4)
check("parLapply() gives what lapply() gives", identical(parLapply(cl, 1:100, sqrt), lapply(1:100, sqrt)))
check("clusterApplyLB() keeps the order", identical(clusterApplyLB(cl, 1:20, function(i) { Sys.sleep(i %% 3 / 100); i }), as.list(1:20)))
check("parSapplyLB()", identical(parSapplyLB(cl, 1:50, function(i) i^2), (1:50)^2))
factor <- 7
clusterExport(cl, "factor")
check("clusterExport() gives all workers a name", identical(clusterEvalQ(cl, factor), rep(list(7), 4)))
check("clusterCall() runs at each of them", length(unique(unlist(clusterCall(cl, Sys.getpid)))) == 4)
check("clusterSplit()", identical(unlist(clusterSplit(cl, 1:10)), 1:10))
check("clusterMap()", identical(clusterMap(cl, `+`, 1:3, 4:6), list(5L, 7L, 9L)))
clusterSetRNGStream(cl, 42)
a <- parSapply(cl, 1:8, function(i) runif(1))
clusterSetRNGStream(cl, 42)
check("streams of random numbers come again", identical(a, parSapply(cl, 1:8, function(i) runif(1))))
big <- matrix(runif(250000), 500)
check("a matrix of 2 MB to and fro", identical(clusterCall(cl[1:2], identity, big), list(big, big)))
check("a part of a cluster", identical(parSapply(cl[2:3], 1:5, sqrt), sqrt(1:5)))
check("an error at a worker is one here", grepl("no luck", error_of(parLapply(cl, 1:4, function(i) stop("no luck")))))
check("and the cluster goes on", identical(parSapply(cl, 1:5, sqrt), sqrt(1:5)))
says <- capture.output(print(cl))
check("it says on which hosts it is", grepl("cluster with 4 nodes: .*h[0-3]", says))
other <- makeCoveyCluster(2)
check("two clusters at a time", identical(c(clusterCall(other, function() 1)[[2]], clusterCall(cl, function() 2)[[4]]), c(1, 2)))
stopCluster(other)

# a worker that is killed while others work
pids <- unlist(clusterCall(cl, Sys.getpid))
said <- error_of(clusterApplyLB(cl, 1:8, function(i, victim) {
    if (Sys.getpid() == victim) tools::pskill(victim, tools::SIGKILL)
    Sys.sleep(0.05)
    i
}, pids[2]))
check("a worker that is killed is an error, which says how", grepl("was killed by signal 9", said))
check("and so is the next call of it", grepl("t[0-9a-f]+", error_of(clusterCall(cl, Sys.getpid))))
stopCluster(cl)
check("a cluster is stopped also when workers have ended", TRUE)
cl <- makeCoveyCluster(2)
said <- error_of(clusterCall(cl, function() quit(status = 3)))
check("a worker that ends while it works is an error",
      grepl("exited with status 3|has ended", said) || stop(said))
stopCluster(cl)
check("a program that is not R", nzchar(error_of(makeCoveyCluster(2, rscript = "/bin/false"))))
check("no workers", grepl("at least 1", error_of(makeCoveyCluster(0))))
gone <- mcparallel(error_of(makeCoveyCluster(1, vm = "not-there")))
check("a VM that is not there", nzchar(mccollect(gone)[[1]]))
if (requireNamespace("snow", quietly = TRUE)) {
    cl <- makeCoveyCluster(2)
    check("snow takes it, too", identical(snow::clusterApply(cl, 1:3, sqrt), as.list(sqrt(1:3))))
    stopCluster(cl)
} else cat("skipped: snow is not installed\n")
