import { type Command, Option } from 'commander';
import { DEBUG_PROFILES } from '../commands/debug-profiles.ts';
import type { Action } from './action.ts';
import {
  count,
  environmentVariables,
  joined,
  namespaceOption,
  pointInTime,
  positiveSeconds,
  timeout,
} from './options.ts';
import { separateCommand } from './plain-command.ts';

/** Adds the commands for a pod's containers. */
export function addContainerCommands(program: Command, action: Action): void {
  addLogs(program, action);
  const parseOptions = program.parseOptions.bind(program);
  program.parseOptions = (args) => parseOptions(separateCommand(program, args));
  program
    .command('exec <pod> [command...]')
    .description('run a command in a container: podwright exec [-it] POD COMMAND; also deploy/NAME, svc/NAME')
    .addOption(namespaceOption())
    .addOption(containerOption())
    .addOption(podTimeoutOption())
    .option('-i, --stdin', 'pass standard input on')
    .option('-t, --tty', 'with a terminal (-it)')
    .option('-q, --quiet', 'print only the output of the command')
    .action(
      action(async (context, [pod, command, options]: [string, string[], import('../commands/exec.ts').ExecOptions]) =>
        (await import('../commands/exec.ts')).exec(context, { pod, command }, options),
      ),
    );
  program
    .command('attach <pod>')
    .description("attach to a container's input and output: podwright attach [-it] POD; Ctrl-P Ctrl-Q detaches")
    .addOption(namespaceOption())
    .addOption(containerOption())
    .addOption(podTimeoutOption())
    .option('-i, --stdin', 'pass standard input on')
    .option('-t, --tty', "with the container's terminal")
    .option('-q, --quiet', 'print only the output of the container')
    .action(
      action(async (context, [pod, options]: [string, import('../commands/attach.ts').AttachOptions]) =>
        (await import('../commands/attach.ts')).attach(context, pod, options),
      ),
    );
  program
    .command('cp <from> <to>')
    .description(
      'copy files and directories out of a container or into it: podwright cp POD:PATH PATH, or back; also deploy/NAME:PATH',
    )
    .addOption(namespaceOption())
    .addOption(containerOption())
    .option('--no-preserve', "leave out the files' owners and permissions in the container")
    .action(
      action(async (context, [from, to, options]: [string, string, import('../commands/cp.ts').CpOptions]) =>
        (await import('../commands/cp.ts')).cp(context, { from, to }, options),
      ),
    );
  addDebug(program, action);
  addPortForward(program, action);
  program
    .command('restart <pod>')
    .description("restart a pod's containers in place, sidecars only by their name")
    .addOption(namespaceOption())
    .option('-c, --container <name>', 'only this one')
    .option('--no-wait', 'do not wait until they run again')
    .action(
      action(async (context, [pod, options]: [string, import('../commands/restart.ts').RestartOptions]) =>
        (await import('../commands/restart.ts')).restart(context, pod, options),
      ),
    );
}

function addDebug(program: Command, action: Action): void {
  program
    .command('debug <pod> [command...]')
    .description('add a debug container to a running pod: podwright debug POD -it --image IMAGE [-- COMMAND]')
    .addOption(namespaceOption())
    .requiredOption('--image <image>', 'the image of the container')
    .option('-c, --container <name>', 'the name of the container (default: debugger-xxxxx)')
    .option('--target <container>', 'see the processes of this container')
    .option('-i, --stdin', 'pass standard input on, and attach to the container')
    .option('-t, --tty', 'with a terminal')
    .option('--attach', 'attach to the container once it runs')
    .option('--no-attach', 'do not attach to it')
    .option('--arguments-only', "what follows -- are the arguments of the image's own command")
    .option('--env <name=value>', 'a variable of its environment; may be given several times', environmentVariables, [])
    .addOption(new Option('--image-pull-policy <policy>').choices(['Always', 'IfNotPresent', 'Never']))
    .addOption(new Option('--profile <name>', 'what it may do').choices(DEBUG_PROFILES).default('general'))
    .option('-q, --quiet', 'print no hints')
    .action(
      action(
        async (context, [pod, command, options]: [string, string[], import('../commands/debug.ts').DebugOptions]) =>
          (await import('../commands/debug.ts')).debug(context, { pod, command }, options),
      ),
    );
}

function addPortForward(program: Command, action: Action): void {
  program
    .command('port-forward <pod> <port...>')
    .description('make ports of a pod reachable here: port-forward POD [LOCAL:]REMOTE…, also svc/NAME; Ctrl-C ends it')
    .addOption(namespaceOption())
    .addOption(podTimeoutOption())
    .option('--address <addresses>', 'where to listen, separated by commas (default: localhost)', joined)
    .action(
      action(
        async (
          context,
          [pod, ports, options]: [string, string[], import('../commands/port-forward.ts').PortForwardOptions],
        ) => (await import('../commands/port-forward.ts')).portForward(context, { pod, ports }, options),
      ),
    );
}

function addLogs(program: Command, action: Action): void {
  program
    .command('logs [pod] [container]')
    .description("print a container's log, or those of several: logs POD [CONTAINER]; also deploy/NAME, job/NAME")
    .addOption(namespaceOption())
    .addOption(containerOption())
    .addOption(podTimeoutOption('20s'))
    .option('--all-pods', 'of every pod of the workload, with --prefix')
    .option('--all-containers', 'of every container of the pod: init containers first, ephemeral containers last')
    .option('-l, --selector <labels>', 'of the pods with these labels, such as app=web')
    .option('--prefix', 'with the pod and the container before each line')
    .option('-f, --follow', 'follow the log until this run of the container ends')
    .option('--max-log-requests <n>', 'follow at most this many logs at once', count, 5)
    .option('-p, --previous', 'of the run before the last restart')
    .option('--tail <lines>', 'only the last lines (default: all, or 10 with -l)', tailLines)
    .option('--since <duration>', 'only what is newer', positiveSeconds)
    .option('--since-time <time>', 'only what is newer, such as 2026-11-05T12:00:00Z', pointInTime)
    .option('--limit-bytes <n>', 'print at most this many bytes of each log', count)
    .option('--timestamps', 'with the time of each line')
    .action(
      action(
        async (
          context,
          [pod, container, options]: [
            string | undefined,
            string | undefined,
            import('../commands/logs.ts').LogsOptions,
          ],
        ) => (await import('../commands/logs.ts')).logs(context, { pod, container }, options),
      ),
    );
}

const containerOption = () =>
  new Option('-c, --container <name>', "which container (default: the pod's default container, else the first)");

const podTimeoutOption = (shown = '60s') =>
  new Option(
    '--pod-running-timeout <duration>',
    `how long to wait for a pod of a workload that has none (default: ${shown})`,
  ).argParser(timeout);

/** Parses a number of lines. As in kubectl, -1 means all. */
const tailLines = (value: string): number => (value === '-1' ? -1 : count(value));
