import { errorMessage, PodwrightError } from '@podwright/base';
import { chooseOciRuntime } from '../oci-runtime/oci-runtimes.ts';
import type { HandlerOptions, RuntimeOptions } from '../options.ts';
import type { PluginGraph } from './plugin-graph.ts';
import { runtimeHandlers } from './runtime-handlers.ts';
import type { RuntimePluginTypes } from './runtime-plugins.ts';

/** The runtime handlers that can be had here, and why the others cannot. */
export type UsableHandlers = { usable: Map<string, HandlerOptions>; unavailable: Map<string, string> };

/** Looks which handlers have all that they need. The default one must: its error is thrown. */
export function usableHandlers(options: RuntimeOptions, graph: PluginGraph<RuntimePluginTypes>): UsableHandlers {
  const { ociRuntimes } = graph.get('host', 'linux');
  const handlers: UsableHandlers = { usable: new Map(), unavailable: new Map() };
  for (const [name, handler] of runtimeHandlers(options, ociRuntimes)) {
    try {
      graph.get('task-runtime', handler.task);
      graph.get('sandbox-controller', handler.sandbox);
      if (handler.task === 'oci') chooseOciRuntime(ociRuntimes, handler.program);
      if (handler.task === 'shim-v2') checkShim(name, handler, graph);
      handlers.usable.set(name, handler);
    } catch (error) {
      if (name === '') throw error;
      handlers.unavailable.set(name, errorMessage(error));
      options.logger.warn({ handler: name, error: errorMessage(error) }, 'a runtime handler cannot be used here');
    }
  }
  return handlers;
}

/** The handlers as plain data, for Status. */
export function describeHandlers({ usable, unavailable }: UsableHandlers): object[] {
  return [
    ...[...usable].map(([name, handler]) => ({ name, ...handler })),
    ...[...unavailable].map(([name, reason]) => ({ name, reason })),
  ];
}

function checkShim(name: string, { program }: HandlerOptions, graph: PluginGraph<RuntimePluginTypes>): void {
  if (graph.get('shims', 'containerd').programs.has(name)) return;
  const remedy = 'it is not installed; install it, or give its path as the program of the handler';
  throw new PodwrightError('failed_precondition', `find the shim ${program}: ${remedy}`);
}
