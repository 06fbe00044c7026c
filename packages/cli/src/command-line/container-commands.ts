import type { Command } from 'commander';
import type { Action } from './action.ts';
import { count, namespaceOption, positiveSeconds } from './options.ts';

/** Commands for the containers of a pod. */
export function addContainerCommands(program: Command, action: Action): void {
  program
    .command('logs <pod>')
    .description("print a container's log")
    .addOption(namespaceOption())
    .option('-c, --container <name>', 'which container (default: the first)')
    .option('-f, --follow', 'go on as it grows')
    .option('-p, --previous', 'of the run before the last restart')
    .option('--tail <lines>', 'only the last lines', count)
    .option('--since <duration>', 'only what is newer', positiveSeconds)
    .option('--timestamps', 'with the time of each line')
    .action(
      action(async (context, [pod, options]: [string, import('../commands/logs.ts').LogsOptions]) =>
        (await import('../commands/logs.ts')).logs(context, pod, options),
      ),
    );
  program
    .command('exec <pod> [command...]')
    .description('run a command in a container: podwright exec [-it] POD -- COMMAND')
    .addOption(namespaceOption())
    .option('-c, --container <name>', 'which container (default: the first)')
    .option('-i, --stdin', 'pass standard input on')
    .option('-t, --tty', 'with a terminal')
    .action(
      action(async (context, [pod, command, options]: [string, string[], import('../commands/exec.ts').ExecOptions]) =>
        (await import('../commands/exec.ts')).exec(context, { pod, command }, options),
      ),
    );
}
