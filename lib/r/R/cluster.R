# cluster.R - a cluster of the packages parallel and snow whose nodes are tasks of a virtual machine.
#
# Both packages reach a node by generics of the same names: sendData(), recvData(), recvOneData() and closeNode(). Data are
# serialized and go as one array of bytes. A cluster has a tag of its own, by which its messages, and the notices that a
# worker has ended, are told from those of other clusters.

.state <- new.env()
.state$tag <- 0L

# Workers on n processors of the virtual machine that runs here; NULL: on all that it has.
makeCoveyCluster <- function(n = NULL, hosts = NULL, vm = NULL, rscript = file.path(R.home("bin"), "Rscript"),
                             rscript_args = "--default-packages=datasets,utils,grDevices,graphics,stats,methods",
                             outfile = "/dev/null", ...) {
    .Call(C_covey_r_join, vm)
    if (is.null(n)) n <- .Call(C_covey_r_cores)
    if (length(n) != 1 || is.na(n) || n < 1) stop("the number of workers must be at least 1")
    .state$tag <- .state$tag + 1L
    tag <- .state$tag
    argv <- c(rscript, rscript_args, "-e", sprintf("covey::coveyWorker(%dL)", tag))
    env <- paste0("R_LIBS=", paste(.libPaths(), collapse = ":"))
    tids <- .Call(C_covey_r_spawn, argv, env, hosts, as.integer(n), tag, identical(outfile, ""))
    cl <- lapply(seq_along(tids), function(rank) structure(list(tid = tids[rank], tag = tag, rank = rank), class = "COVEYnode"))
    class(cl) <- c("COVEYcluster", "cluster")
    for (node in cl) { # each has come as far as to its loop
        tryCatch(recvData.COVEYnode(node), error = function(e) {
            stopCluster.COVEYcluster(cl)
            stop("a worker could not start: ", conditionMessage(e), call. = FALSE)
        })
    }
    cl
}

# What a worker runs: the loop of parallel, with the task that spawned it as its master.
coveyWorker <- function(tag) {
    .Call(C_covey_r_join, NULL)
    master <- structure(list(tid = .Call(C_covey_r_parent), tag = tag, rank = 0L), class = "COVEYnode")
    sendData.COVEYnode(master, "ready")
    loop <- get("workLoop", envir = asNamespace("parallel"))
    tryCatch(loop(master), finally = .Call(C_covey_r_leave))
}

sendData.COVEYnode <- function(node, data) invisible(.Call(C_covey_r_send, node$tid, node$tag, serialize(data, NULL)))

recvData.COVEYnode <- function(node) unserialize(.Call(C_covey_r_recv, node$tid, node$tag)[[2]])

recvOneData.COVEYcluster <- function(cl) {
    tids <- vapply(cl, function(node) node$tid, 0L)
    repeat { # of a part of a cluster others may answer a call that was given up
        got <- .Call(C_covey_r_recv, NULL, cl[[1]]$tag)
        place <- match(got[[1]], tids)
        if (!is.na(place)) return(list(node = place, value = unserialize(got[[2]])))
    }
}

closeNode.COVEYnode <- function(node) invisible(NULL)

# Those that still work are ended after a while.
stopCluster.COVEYcluster <- function(cl = NULL) {
    for (node in cl) try(sendData.COVEYnode(node, list(type = "DONE", data = NULL, tag = NULL)), silent = TRUE)
    for (node in cl) .Call(C_covey_r_end, node$tid, node$tag)
    invisible(NULL)
}

print.COVEYcluster <- function(x, ...) {
    hosts <- table(vapply(x, function(node) .Call(C_covey_r_host, node$tid), ""))
    cat("covey cluster with", length(x), "nodes:", paste0(paste0(hosts, " on ", names(hosts), collapse = ", "), "\n"))
    invisible(x)
}

print.COVEYnode <- function(x, ...) {
    cat(sprintf("node of a covey cluster: task t%x on %s\n", x$tid, .Call(C_covey_r_host, x$tid)))
    invisible(x)
}

# The generics are not exported; snow has its own, and newer versions of both take new types for makeCluster().
.register <- function(package, ...) {
    where <- asNamespace(package)
    methods <- list(sendData = sendData.COVEYnode, recvData = recvData.COVEYnode, closeNode = closeNode.COVEYnode)
    for (name in names(methods)) registerS3method(name, "COVEYnode", methods[[name]], envir = where)
    registerS3method("recvOneData", "COVEYcluster", recvOneData.COVEYcluster, envir = where)
    registerS3method("stopCluster", "COVEYcluster", stopCluster.COVEYcluster, envir = where)
    if (exists("registerClusterType", envir = where, inherits = FALSE))
        try(get("registerClusterType", envir = where)("COVEY", makeCoveyCluster), silent = TRUE)
}

.onLoad <- function(libname, pkgname) {
    .register("parallel")
    if (isNamespaceLoaded("snow")) .register("snow")
    setHook(packageEvent("snow", "onLoad"), function(...) .register("snow"))
}

.onUnload <- function(libpath) .Call(C_covey_r_leave)
