import { errorMessage, PodwrightError } from '@podwright/base';
import { chooseOciRuntime } from '../oci-runtime/oci-runtimes.ts';
import type { HandlerOptions, RuntimeOptions } from '../options.ts';
import type { PluginGraph } from './plugin-graph.ts';
import { runtimeHandlers } from './runtime-handlers.ts';
import type { RuntimePluginTypes } from './runtime-plugins.ts';

/** The runtime handlers that work on this host, and the reasons why others do not. */
export type UsableHandlers = { usable: Map<string, HandlerOptions>; unavailable: Map<string, string> };

/** Determines which runtime handlers have all of their requirements met. Throws if those of the default handler are not met. */
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
      options.logger.warn({ handler: name, error: errorMessage(error) }, 'a runtime handler is not available');
    }
  }
  return handlers;
}

/** Returns the runtime handlers as plain data, for Status. */
export function describeHandlers({ usable, unavailable }: UsableHandlers): object[] {
  return [
    ...[...usable].map(([name, handler]) => ({ name, ...handler })),
    ...[...unavailable].map(([name, reason]) => ({ name, reason })),
  ];
}

function checkShim(name: string, { program }: HandlerOptions, graph: PluginGraph<RuntimePluginTypes>): void {
  if (graph.get('shims', 'containerd').programs.has(name)) return;
  const remedy = 'it is not installed; install it, or set its path as the program of the handler';
  throw new PodwrightError('failed_precondition', `find the shim ${program}: ${remedy}`);
}
