import type { Command } from 'commander';
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
Follows the logs and ends with the pods; what it made is removed then, but for
PersistentVolumeClaims. What stood before stays, but for what a killed run has
left: it is taken over, and ends with this one.

Exit code: 0 when all pods succeeded, or with --detach are ready; that of the
first container that failed; 1 when a pod was refused, deleted by others or not
ready in time, or its image is not there or not to be had; 130, 143 or 129 when
SIGINT, SIGTERM or SIGHUP ended it.
With --detach, pods that are not ready stay, so that they can be looked at;
Ctrl-C only ends the waiting for them.
Where standard output is no terminal it has the containers' output alone, with
POD/CONTAINER before each line if there is more than one container; everything
else goes to standard error.
A registry that does not answer, or a network that cannot be set up, is tried
again; with --once and --detach for two minutes, or for --timeout.
`;

/** Commands that bring pods up and take them down. */
export function addRunCommands(program: Command, action: Action): void {
  program
    .command('run [file...]')
    .description('run the pods of manifests; starts a node if none is running')
    .addOption(fileOption())
    .addOption(recursiveOption())
    .addOption(manifestNamespaceOption())
    .addOption(strictOption())
    .addOption(dryRunOption('only tell what the running node would do, and what the pods would meet'))
    .option('--once', 'end when the pods have ended; exit code 0 only if all succeeded')
    .option('-d, --detach', 'leave the pods and the node running')
    .option('--timeout <duration>', 'give up when the pods are not ready within this time', timeout)
    .option('--force', 'replace what stands already with other content, without asking')
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
    .addOption(dryRunOption('only tell what would be created, configured or unchanged, and what the pods would meet'))
    .action(
      action(async (context, [names, given]: [string[], import('../commands/apply.ts').ApplyOptions]) => {
        const { files, options } = withDryRun(names, given);
        return (await import('../commands/apply.ts')).apply(context, files, options);
      }),
    );
  program
    .command('check [file...]')
    .description('what is wrong with manifests, and what their pods would meet on this host; needs no node and no root')
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
  program
    .command('delete [pod...]')
    .description('stop and remove pods, or the objects of a manifest; also TYPE NAME, TYPE/NAME, TYPE -l SELECTOR')
    .option('-n, --namespace <name>', 'of the objects, also of those of a manifest that name none (default: default)')
    .addOption(allNamespacesOption())
    .addOption(selectorOption().conflicts('all'))
    .option('--all', 'all of the type in the namespace')
    .option('--force', 'kill at once')
    .option('--now', 'as --grace-period 1')
    .option('--ignore-not-found', 'it is no error if there is none')
    .addOption(fileOption())
    .addOption(recursiveOption())
    .option(
      '--grace-period <seconds>',
      'time to end, at least 1 without --force (default: what the pod says)',
      graceSeconds,
    )
    .option('--volumes', 'also the PersistentVolumeClaims of the manifest (-f), with their files')
    .option('--no-wait', 'do not wait until they are gone')
    .action(
      action(async (context, [names, options]: [string[], import('../commands/delete.ts').DeleteOptions]) =>
        (await import('../commands/delete.ts')).deletePods(context, names, options),
      ),
    );
}
