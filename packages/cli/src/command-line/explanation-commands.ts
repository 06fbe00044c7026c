import { type Command, Option } from 'commander';
import type { Action } from './action.ts';
import { clusterOptions, contextNamespaceOption, outputOption } from './options.ts';

const CLUSTER_HELP = `
The object is read from the node of this machine or, with --kubeconfig, from a
cluster, with the rights of the file's user. As a plugin, 'kubectl podwright'
chooses the cluster as kubectl does.
`;

/** Adds the commands that explain what happened to an object. */
export function addExplanationCommands(program: Command, action: Action): void {
  const why = program
    .command('why <object>')
    .description(
      'why a pod, a workload or a Service is not ready, down to the cause: why POD, why deploy/NAME, svc/NAME',
    )
    .addOption(contextNamespaceOption())
    .addOption(outputOption())
    .addHelpText('after', CLUSTER_HELP)
    .action(
      action(async (context, [object, options]: [string, import('../commands/why.ts').WhyOptions]) =>
        (await import('../commands/why.ts')).why(context, object, options),
      ),
    );
  const trace = program
    .command('trace <pod>')
    .description("the waterfall of a pod's start")
    .addOption(contextNamespaceOption())
    .addOption(outputOption())
    .addHelpText('after', CLUSTER_HELP)
    .addOption(new Option('-w, --watch', 'draw it again while steps are under way').conflicts('output'))
    .action(
      action(async (context, [pod, options]: [string, import('../commands/trace.ts').TraceOptions]) =>
        (await import('../commands/trace.ts')).trace(context, pod, options),
      ),
    );
  for (const command of [why, trace]) for (const option of clusterOptions()) command.addOption(option);
}
