import { once } from 'node:events';
import { type LogOptions, NodeClient } from '../client/node-client.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type LogsOptions = {
  namespace: string;
  container?: string;
  follow?: boolean;
  previous?: boolean;
  tail?: number;
  since?: number;
  timestamps?: boolean;
};

/** `podwright logs POD`. */
export async function logs({ config }: CommandContext, pod: string, options: LogsOptions): Promise<void> {
  const query: LogOptions = {
    ...options,
    tailLines: options.tail,
    sinceSeconds: options.since === undefined ? undefined : Math.max(1, Math.ceil(options.since / 1000)),
  };
  const target = { namespace: options.namespace, name: pod };
  for await (const chunk of await new NodeClient(config.apiSocket).log(target, query)) {
    if (!process.stdout.write(chunk)) await once(process.stdout, 'drain');
  }
}
