/*
 * covey: the console of the virtual machine.
 *
 * The rooms below tools/: base/ and list/ serve all others, vm/ those below its line here.
 *
 *   console/   the program, above all other rooms
 *     covey.c              this file: global options, then one command
 *     command.c commands.h the table of commands; cmd_NAME.c, in any room, is one of them
 *     cmd_console.c cmd_help.c        those that are about the console itself
 *     edit.c complete.c candidate.c   a line that is typed: editing and completion
 *     cmd_completion.c     completion in shells, whose scripts are in share/completion/
 *     guess.c              misspelt words
 *   base/      what all commands share
 *     tool.c               the connection to the VM, and the way errors are reported
 *     arguments.c args.c   the words of a command and its options
 *     words.c tid.c        words of a line, tids
 *     program.c child.c command_line.c   other programs: where they are, how they start
 *     interrupt.c          signals while a command waits
 *   list/      what is printed: tables and JSON (listing.c, report.c, table.c, cells.c), the screen
 *              of covey top (display.c), pictures (gnuplot.c)
 *   vm/        commands about the VM and its hosts, locks, bags, tasks and logs; hostfile.c and
 *              hostspec.c: how a host is started; batch.c: the hosts of a batch job; launch.c: how
 *              the first daemon is; admit.c: what became of a host; load.c, peers.c, logfile.c,
 *              vm_topology.c: what is listed
 *   run/       covey run: its command line, the output of tasks (outlet.c), their input (inlet.c);
 *              covey with: the same in a VM of its own
 *   class/     covey class and covey join: the essay is in cmd_class.c
 *   doctor/    covey doctor: the essay is in doctor.c
 *   bench/     covey bench and covey schedule; tasks/ is covey-bench, the program that they run
 *   predict/   covey predict and covey calibrate
 *
 * Four rooms are of programs beside coveyd, which use daemon/base and daemon/link, not these:
 *
 *   wire/      covey-sniff, which covey sniff runs
 *   probe/     covey-probe, for covey doctor, and covey-measure, which coveyd runs
 *   raw/       covey-raw, which hands packet sockets to coveyd
 *   launch/    covey-launch, for covey doctor; covey-offer and covey-dial, by which others start
 *              hosts; covey-in, for tasks in containers
 *
 * The console uses covey.h alone. A command gets a struct tool and its words and returns an
 * exit status, so that the shell and the console run the same functions; it leaves nothing behind
 * but the connection. Options and operands are described in tables, which parsing, help and
 * completion share: a new command is one file and one row in console/commands.h.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/args.h"
#include "tools/console/commands.h"

static int run_word(struct tool *tool, const char *name)
{
    char *argv[] = {(char *)name, NULL};
    return command_run(tool, 1, argv);
}

/* Without a command it is the console. */
static int run_arguments(struct tool *tool, int argc, char **argv)
{
    struct args args;
    int key;
    args_init(&args, command_none.options, argc, argv);
    while ((key = args_next(&args)) != ARGS_END) {
        if (key == ARGS_OPERAND)
            return command_run(tool, argc - args.next + 1, &argv[args.next - 1]);
        if (key == ARGS_BAD) {
            tool_error("options", "%s; see: covey help", args.error);
            return TOOL_USAGE;
        }
        if (key != 'V')
            return run_word(tool, key == 'h' ? "help" : "version");
        if (*args.value == '\0') {
            tool_error("options", "--vm '': must be a name; see: covey help");
            return TOOL_USAGE;
        }
        tool_set_vm(tool, args.value);
    }
    return run_word(tool, "console");
}

int main(int argc, char **argv)
{
    char name[64];
    struct tool tool = {.vm_name = covey_vm_default(name, sizeof name)};
    setlocale(LC_CTYPE, "");
    int status = run_arguments(&tool, argc, argv);
    tool_leave(&tool);
    return status;
}
