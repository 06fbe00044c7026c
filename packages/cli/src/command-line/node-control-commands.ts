import { type Command, Option } from 'commander';
import type { Action } from './action.ts';
import { count, outputOption } from './options.ts';

const STOP_HELP = `
What was applied, or run with --detach, stays: the next start of the node begins
its pods again, as after a reboot. Their emptyDir volumes begin empty, and pods
that had ended by themselves stay ended. --delete deletes it, but for claims,
which keep their files. Pods of a 'run' in the foreground are deleted, as at its
end. Pods of files that you put into the manifest directory always come back.
Those of a cluster go on running, and the next node takes them over, unless
--pods ends them, too.
A node that systemd keeps is ended by 'systemctl stop podwright', or it is
started again; its pods go on then.

Exit code: 0 also when no node runs; 1 when something was left on the host.
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
    .description('end the node that runs in the background, and its pods; the next start begins them again')
    .addOption(
      new Option('--keep', 'the pods go on running; the next node takes them over').conflicts(['pods', 'delete']),
    )
    .option('--delete', 'delete what was applied, too')
    .option('--pods', "the cluster's pods on this node end, too")
    .option('--grace-period <seconds>', 'time for the pods to end (default: what each says)', count)
    .addHelpText('after', STOP_HELP)
    .action(
      action(async (context, [options]: [import('../commands/stop.ts').StopCommandOptions]) =>
        (await import('../commands/stop.ts')).stop(context, options),
      ),
    );
}
