import type { Command } from 'commander';
import type { Action } from './action.ts';
import { allNamespacesOption, namespaceOption, objectOutputOption, outputOption, selectorOption } from './options.ts';

/** What lists of objects have in common. */
function addListOptions(command: Command): Command {
  return command
    .option('-w, --watch', 'and every change from now on')
    .addOption(selectorOption())
    .option('--field-selector <selector>', 'only those with these fields, such as status.phase=Running')
    .addOption(objectOutputOption())
    .option('--no-headers', 'no titles above the columns')
    .option('--show-labels', 'with a column of labels')
    .option('--sort-by <path>', 'in the order of a field, such as .metadata.name');
}

/** Commands that show pods and what happened to them. */
export function addPodCommands(program: Command, action: Action): void {
  addListOptions(
    program
      .command('get <type> [name...]')
      .description('list objects: pods, configmaps, secrets, runtimeclasses, events, nodes, images; also TYPE/NAME')
      .addOption(namespaceOption())
      .addOption(allNamespacesOption()),
  ).action(
    action(async (context, [type, names, options]: [string, string[], import('../commands/get.ts').GetOptions]) =>
      (await import('../commands/get.ts')).get(context, [type, ...names], options),
    ),
  );
  addListOptions(
    program
      .command('ps')
      .description('list pods')
      .option('-n, --namespace <name>', 'only those of this namespace (default: of all)')
      .addOption(allNamespacesOption()),
  ).action(
    action(async (context, [options]: [import('../commands/ps.ts').PsOptions]) =>
      (await import('../commands/ps.ts')).ps(context, options),
    ),
  );
  program
    .command('describe <pod>')
    .description('everything about a pod, with its events')
    .addOption(namespaceOption())
    .addOption(outputOption())
    .action(
      action(async (context, [pod, options]: [string, import('../commands/describe.ts').DescribeOptions]) =>
        (await import('../commands/describe.ts')).describe(context, pod, options),
      ),
    );
  program
    .command('events')
    .description('what happened lately')
    .option('-w, --watch', 'and what happens from now on')
    .addOption(outputOption())
    .action(
      action(async (context, [options]: [import('../commands/events.ts').EventsOptions]) =>
        (await import('../commands/events.ts')).events(context, options),
      ),
    );
  program
    .command('trace <pod>')
    .description("the waterfall of a pod's start")
    .addOption(namespaceOption())
    .addOption(outputOption())
    .action(
      action(async (context, [pod, options]: [string, import('../commands/trace.ts').TraceOptions]) =>
        (await import('../commands/trace.ts')).trace(context, pod, options),
      ),
    );
}
