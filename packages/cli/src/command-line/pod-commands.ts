import type { Command } from 'commander';
import type { Action } from './action.ts';
import { namespaceOption, outputOption } from './options.ts';

/** Commands that show pods and what happened to them. */
export function addPodCommands(program: Command, action: Action): void {
  program
    .command('ps')
    .description('list pods')
    .addOption(outputOption())
    .action(
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
