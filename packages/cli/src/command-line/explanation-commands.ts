import { type Command, Option } from 'commander';
import type { Action } from './action.ts';
import { namespaceOption, outputOption } from './options.ts';

/** Adds the commands that explain what happened to an object. */
export function addExplanationCommands(program: Command, action: Action): void {
  program
    .command('why <object>')
    .description(
      'why a pod, a workload or a Service is not ready, down to the cause: why POD, why deploy/NAME, svc/NAME',
    )
    .addOption(namespaceOption())
    .addOption(outputOption())
    .action(
      action(async (context, [object, options]: [string, import('../commands/why.ts').WhyOptions]) =>
        (await import('../commands/why.ts')).why(context, object, options),
      ),
    );
  program
    .command('trace <pod>')
    .description("the waterfall of a pod's start")
    .addOption(namespaceOption())
    .addOption(outputOption())
    .addOption(new Option('-w, --watch', 'draw it again while steps are under way').conflicts('output'))
    .action(
      action(async (context, [pod, options]: [string, import('../commands/trace.ts').TraceOptions]) =>
        (await import('../commands/trace.ts')).trace(context, pod, options),
      ),
    );
}
