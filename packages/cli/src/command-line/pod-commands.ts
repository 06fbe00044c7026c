import { type Command, Option } from 'commander';
import { WAIT_TIMEOUT_MS } from '../limits.ts';
import type { Action } from './action.ts';
import {
  allNamespacesOption,
  eventTypes,
  gathered,
  namespaceOption,
  objectOutputOption,
  outputOption,
  selectorOption,
  signedSeconds,
} from './options.ts';

function addListOptions(command: Command): Command {
  return command
    .option('-w, --watch', 'also print every change from now on')
    .addOption(selectorOption())
    .option('--field-selector <selector>', 'only those with these fields, such as status.phase=Running')
    .addOption(objectOutputOption())
    .option('--no-headers', 'no titles above the columns')
    .option('-L, --label-columns <labels>', 'with a column for each of these labels', labelNames)
    .option('--show-labels', 'with a column of labels')
    .option('--sort-by <path>', 'sort by a field, such as .metadata.name');
}

/** Parser for a repeatable option that accepts a comma-separated list of label names. */
const labelNames = (value: string, before: string[] = []) => [...before, ...value.split(',')];

/** Adds the commands `wait`, `label`, `annotate`, `patch` and `top`. */
export function addObjectCommands(program: Command, action: Action): void {
  addWait(program, action);
  for (const [verb, what] of [
    ['label', 'labels'],
    ['annotate', 'annotations'],
  ] as const) {
    program
      .command(`${verb} <pod...>`)
      .description(`set or remove ${what}: ${verb} POD KEY=VALUE KEY-; also TYPE/NAME, TYPE -l SELECTOR`)
      .addOption(namespaceOption())
      .addOption(selectorOption().conflicts('all'))
      .option('--all', 'all objects of the type in the namespace')
      .option('--overwrite', 'replace existing values')
      .option('--list', `show the ${what}`)
      .action(
        action(
          async (context, [words, options]: [string[], import('../commands/set-metadata.ts').SetMetadataOptions]) =>
            (await import('../commands/set-metadata.ts'))[verb](context, words, options),
        ),
      );
  }
  program
    .command('patch <object...>')
    .description(
      'change labels, annotations, or with --subresource conditions, CPU and memory: patch POD -p JSON; also TYPE/NAME',
    )
    .addOption(namespaceOption())
    .option('-p, --patch <patch>', 'what to change, as JSON or YAML')
    .option('--patch-file <file>', 'what to change, in a file')
    .addOption(
      new Option('--type <type>', 'format of the patch: part of an object, or a list of operations (json)')
        .choices(['strategic', 'merge', 'json'])
        .default('strategic'),
    )
    .addOption(
      new Option('--subresource <name>', 'status: conditions; resize: CPU and memory; scale: replicas').choices([
        ...['status', 'resize', 'scale'],
      ]),
    )
    .action(
      action(async (context, [words, options]: [string[], import('../commands/patch.ts').PatchOptions]) =>
        (await import('../commands/patch.ts')).patch(context, words, options),
      ),
    );
  program
    .command('edit <object...>')
    .description('change objects in an editor (KUBE_EDITOR, EDITOR, vi), with a Kubernetes API: edit deploy/web')
    .addOption(namespaceOption())
    .addOption(new Option('-o, --output <format>', 'format of the text').choices(['yaml', 'json']).default('yaml'))
    .addOption(new Option('--subresource <name>', 'change this part of the objects').choices(['status']))
    .option('--output-patch', 'print the patches')
    .action(
      action(async (context, [words, options]: [string[], import('../commands/edit.ts').EditOptions]) =>
        (await import('../commands/edit.ts')).edit(context, words, options),
      ),
    );
  program
    .command('top <type> [name]')
    .description('what pods or the node use: top pods, top node')
    .addOption(namespaceOption())
    .addOption(allNamespacesOption())
    .addOption(selectorOption())
    .option('-w, --watch', 'refresh every 2 s')
    .option('--containers', 'show each container')
    .addOption(new Option('--sort-by <resource>', 'sort by this resource, highest first').choices(['cpu', 'memory']))
    .option('--no-headers', 'no titles above the columns')
    .action(
      action(
        async (context, [type, name, options]: [string, string | undefined, import('../commands/top.ts').TopOptions]) =>
          (await import('../commands/top.ts')).top(context, [type, name], options),
      ),
    );
}

function addWait(program: Command, action: Action): void {
  program
    .command('wait <pod...>')
    .description(
      'wait until objects meet a condition: wait --for=condition=Ready POD; also TYPE/NAME, TYPE -l SELECTOR',
    )
    .requiredOption(
      '--for <condition>',
      "condition=NAME[=STATUS], delete, create or jsonpath='{PATH}'[=VALUE]",
      gathered,
    )
    .addOption(namespaceOption())
    .addOption(allNamespacesOption())
    .addOption(selectorOption())
    .option('--all', 'all objects of the type in the namespace')
    .addOption(
      new Option('--timeout <duration>', '0 checks once, a negative one waits for a week')
        .argParser(signedSeconds)
        .default(WAIT_TIMEOUT_MS, `${WAIT_TIMEOUT_MS / 1000}s`),
    )
    .action(
      action(async (context, [words, options]: [string[], import('../commands/wait.ts').WaitOptions]) =>
        (await import('../commands/wait.ts')).wait(context, words, options),
      ),
    );
}

/** Adds the commands that show pods and what happened to them. */
export function addPodCommands(program: Command, action: Action): void {
  addListOptions(
    program
      .command('get <type> [name...]')
      .description(
        'list objects: pods, configmaps, secrets, persistentvolumeclaims, runtimeclasses, events, nodes, images; also TYPE/NAME',
      )
      .addOption(namespaceOption())
      .addOption(allNamespacesOption())
      .option('--ignore-not-found', 'exit with 0 if an object does not exist'),
  ).action(
    action(
      async (context, [type, names, options]: [string, string[], import('../commands/get-options.ts').GetOptions]) =>
        (await import('../commands/get.ts')).get(context, [type, ...names], options),
    ),
  );
  addListOptions(
    program
      .command('ps')
      .description('list pods')
      .option('-n, --namespace <name>', 'only those of this namespace (default: of all)')
      .addOption(allNamespacesOption())
      .addOption(new Option('-q, --quiet', 'only the names').conflicts(['watch', 'output']))
      .option('-a, --all', 'no effect: ended pods are always listed'),
  ).action(
    action(async (context, [options]: [import('../commands/ps.ts').PsOptions]) =>
      (await import('../commands/ps.ts')).ps(context, options),
    ),
  );
  program
    .command('describe <pod...>')
    .description('everything about pods, with their events; also TYPE NAME and TYPE/NAME')
    .addOption(namespaceOption())
    .addOption(allNamespacesOption())
    .addOption(selectorOption())
    .addOption(outputOption())
    .action(
      action(
        async (context, [words, options]: [string[], import('../commands/describe-selection.ts').DescribeOptions]) =>
          (await import('../commands/describe.ts')).describe(context, words, options),
      ),
    );
  program
    .command('events')
    .description('the newest hundred events of the last hour')
    .addOption(namespaceOption())
    .addOption(allNamespacesOption())
    .option('-w, --watch', 'also print new events')
    .option('--for <object>', 'only events about one object, such as pod/web')
    .option('--types <types>', 'only Normal or Warning', eventTypes)
    .option('--all', 'also older events')
    .addOption(objectOutputOption())
    .option('--no-headers', 'no titles above the columns')
    .action(
      action(async (context, [options]: [import('../commands/events.ts').EventsOptions]) =>
        (await import('../commands/events.ts')).events(context, options),
      ),
    );
}
