import { type Command, Option } from 'commander';
import type { Action } from './action.ts';
import { count, outputOption } from './options.ts';

const STOP_HELP = `
Applied objects and those of 'run --detach' stay: the next start of the node
starts their pods again, as after a reboot, with empty emptyDir volumes. Pods
that had ended by themselves stay ended. --delete deletes these objects, except
for PersistentVolumeClaims, which keep their files. Pods of a 'run' in the
foreground are deleted. Pods of files in the manifest directory always come
back. Pods of a cluster keep running, and the next node takes them over, unless
--pods ends them, too.
Stop a node of systemd with 'systemctl stop podwright': otherwise systemd
restarts it. Its pods keep running then.

Exit code: 0 also when no node runs; 1 when something was left on the host.
`;

/** Commands for the running node. */
export function addNodeControlCommands(program: Command, action: Action): void {
  program
    .command('status')
    .description('the running node, its directories, its runtime and its pods')
    .addOption(outputOption())
    .addHelpText('after', '\nExit code: 0 when a node runs, 3 when none does.\n')
    .action(
      action(async (context, [options]: [import('../commands/status.ts').StatusOptions]) =>
        (await import('../commands/status.ts')).status(context, options),
      ),
    );
  program
    .command('stop')
    .description('stop the node and its pods; the next start of the node starts them again')
    .addOption(
      new Option('--keep', 'leave the pods running; the next node takes them over').conflicts(['pods', 'delete']),
    )
    .option('--delete', 'also delete applied objects')
    .option('--pods', "also end the cluster's pods on this node")
    .option('--grace-period <seconds>', 'time for the pods to end (default: what each says)', count)
    .addHelpText('after', STOP_HELP)
    .action(
      action(async (context, [options]: [import('../commands/stop.ts').StopCommandOptions]) =>
        (await import('../commands/stop.ts')).stop(context, options),
      ),
    );
}
