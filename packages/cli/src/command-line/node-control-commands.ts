import { type Command, Option } from 'commander';
import type { Action } from './action.ts';
import { count, outputOption } from './options.ts';

const STOP_HELP = `
Pods that were run or applied are deleted. Those of files in the manifest
directory end, and come back with the next node. Those of a cluster go on
running, and the next node takes them over, unless --pods ends them, too.
A node that systemd keeps is ended by 'systemctl stop podwright', or it is
started again; its pods go on then.

Exit code: 0 also when no node runs.
`;

/** Commands about the node that runs, in the background or elsewhere. */
export function addNodeControlCommands(program: Command, action: Action): void {
  program
    .command('status')
    .description('what runs where: the node, its directories, its runtime and its pods')
    .addOption(outputOption())
    .addHelpText('after', '\nExit code: 0 when a node runs, 3 when none does.\n')
    .action(
      action(async (context, [options]: [import('../commands/status.ts').StatusOptions]) =>
        (await import('../commands/status.ts')).status(context, options),
      ),
    );
  program
    .command('stop')
    .description('end the node that runs in the background, and its pods with it')
    .addOption(new Option('--keep', 'the pods go on running; the next node takes them over').conflicts('pods'))
    .option('--pods', "the cluster's pods on this node end, too")
    .option('--grace-period <seconds>', 'time for the pods to end (default: what each says)', count)
    .addHelpText('after', STOP_HELP)
    .action(
      action(async (context, [options]: [import('../commands/stop.ts').StopCommandOptions]) =>
        (await import('../commands/stop.ts')).stop(context, options),
      ),
    );
}
