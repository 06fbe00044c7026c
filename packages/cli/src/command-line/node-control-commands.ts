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

const UPGRADE_HELP = `
FILE is podwright-VERSION-linux-ARCHITECTURE.tar.zst, with SHA256SUMS next to
it, or the directory with both. The program's file is replaced at once, and
the node restarts into it: its containers keep running, streams of exec, logs
and port-forward end. If the new node does not start, the earlier version is
put back and started.
Without FILE the node restarts into this program, after a package manager or a
build has replaced it.

Exit code: 0 when the node runs the new version, or no node runs; 1 otherwise.
`;

/** Adds the commands that control the running node. */
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
  program
    .command('upgrade')
    .description('replace this program by a release, and restart the node into it under its pods')
    .argument('[file]', 'archive of a release, or a directory with one')
    .addHelpText('after', UPGRADE_HELP)
    .action(
      action(async (context, [file]: [string | undefined]) =>
        (await import('../commands/upgrade.ts')).upgrade(context, file),
      ),
    );
}
