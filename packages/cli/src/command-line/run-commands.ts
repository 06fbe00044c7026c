import { type Command, Option } from 'commander';
import type { Action } from './action.ts';
import {
  allNamespacesOption,
  dryRunOption,
  fileOption,
  graceSeconds,
  manifestNamespaceOption,
  outputOption,
  recursiveOption,
  selectorOption,
  strictOption,
  timeout,
  withDryRun,
} from './options.ts';

const RUN_HELP = `
Follows the logs until the pods end, and then removes the objects that it has
created, except for PersistentVolumeClaims. Existing objects are kept. Leftovers
of a killed run are adopted and removed at exit.

Exit code: 0 when all pods succeeded, or with --detach are ready; that of the
first container that failed; 1 when a pod was refused, deleted by another client
or not ready in time, or when its image cannot be pulled; 130, 143 or 129 when
SIGINT, SIGTERM or SIGHUP ended the command.
With --detach, pods that do not get ready are kept for inspection. Ctrl-C then
only stops the waiting.
If standard output is not a terminal, only the containers' output goes there,
with POD/CONTAINER before each line if there is more than one container.
Everything else goes to standard error.
If a registry does not answer or a network cannot be set up, the node tries
again: with --once and --detach for two minutes, or for --timeout.
`;

/** Adds the commands `run`, `apply`, `check` and `delete`. */
export function addRunCommands(program: Command, action: Action): void {
  program
    .command('run [file...]')
    .description('run the pods of manifests; starts a node if none is running')
    .addOption(fileOption())
    .addOption(recursiveOption())
    .addOption(manifestNamespaceOption())
    .addOption(strictOption())
    .addOption(dryRunOption('only print what the running node would do, and problems of the pods'))
    .option('--once', 'end when the pods have ended; exit code 0 only if all succeeded')
    .option('-d, --detach', 'leave the pods and the node running')
    .option('--timeout <duration>', 'give up when the pods are not ready within this time', timeout)
    .option('--force', 'replace existing objects that differ, without asking')
    .option('-q, --quiet', 'only the output of the containers; errors go to standard error')
    .addHelpText('after', RUN_HELP)
    .action(
      action(async (context, [names, given]: [string[], import('../commands/run.ts').RunOptions]) => {
        const { files, options } = withDryRun(names, given);
        return (await import('../commands/run.ts')).run(files, options, context);
      }),
    );
  program
    .command('apply [file...]')
    .description('create or configure the objects of manifests on the running node')
    .addOption(fileOption())
    .addOption(recursiveOption())
    .addOption(manifestNamespaceOption())
    .addOption(strictOption())
    .addOption(dryRunOption('only print what would be created, configured or unchanged, and problems of the pods'))
    .action(
      action(async (context, [names, given]: [string[], import('../commands/apply.ts').ApplyOptions]) => {
        const { files, options } = withDryRun(names, given);
        return (await import('../commands/apply.ts')).apply(context, files, options);
      }),
    );
  program
    .command('check [file...]')
    .description('find errors in manifests and problems the pods would have on this host; needs no node and no root')
    .addOption(fileOption())
    .addOption(recursiveOption())
    .addOption(manifestNamespaceOption())
    .addOption(strictOption())
    .addOption(outputOption())
    .action(
      action(async (context, [files, options]: [string[], import('../commands/check.ts').CheckOptions]) =>
        (await import('../commands/check.ts')).check(context, files, options),
      ),
    );
  addDelete(program, action);
}

function addDelete(program: Command, action: Action): void {
  program
    .command('delete [object...]')
    .description('stop and remove pods, or the objects of a manifest; also TYPE NAME, TYPE/NAME, TYPE -l SELECTOR')
    .option('-n, --namespace <name>', 'namespace of the objects, also of manifests that name none (default: default)')
    .addOption(allNamespacesOption())
    .addOption(selectorOption().conflicts('all'))
    .option('--all', 'all objects of the type in the namespace')
    .option('--force', 'kill immediately')
    .option('--now', 'same as --grace-period 1')
    .option('--ignore-not-found', 'exit with 0 if an object does not exist')
    .addOption(fileOption())
    .addOption(recursiveOption())
    .option(
      '--grace-period <seconds>',
      'time to end, at least 1 without --force (default: what the pod says)',
      graceSeconds,
    )
    .option('--volumes', 'also the PersistentVolumeClaims of the manifest (-f), with their files')
    .addOption(
      new Option('--cascade <how>', 'what happens to the objects that a workload owns')
        .choices(['background', 'foreground', 'orphan'])
        .default('background'),
    )
    .addOption(
      new Option('--timeout <duration>', 'maximum time to wait for workloads and other objects').argParser(timeout),
    )
    .option('--no-wait', 'do not wait until they are removed')
    .action(
      action(async (context, [names, options]: [string[], import('../commands/delete-options.ts').DeleteOptions]) =>
        (await import('../commands/delete.ts')).deletePods(context, names, options),
      ),
    );
}
