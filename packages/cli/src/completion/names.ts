import { silentLogger } from '@podwright/base';
import { connectCri } from '@podwright/cri';
import { decodePods } from '../client/answers.ts';
import { NodeClient } from '../client/node-client.ts';
import { ObjectClient } from '../client/object-client.ts';
import { COMPLETION_TIMEOUT_MS } from '../limits.ts';
import type { NodePaths } from '../settings/node-paths.ts';
import type { Question } from './wanted.ts';

/** Returns the names of the wanted objects on the running node. Rejects if the node does not respond in time. */
export async function namesOnNode(config: NodePaths, { wanted, options }: Question): Promise<string[]> {
  if (wanted.kind === 'image') return imageNames(config);
  const signal = AbortSignal.timeout(COMPLETION_TIMEOUT_MS);
  const namespace = options.get('namespace') ?? 'default';
  if (wanted.kind === 'object') {
    const objects = await new ObjectClient(config.apiSocket).list(wanted.of, { namespace }, signal);
    return objects.map(({ metadata }) => metadata.name);
  }
  const call = { method: 'GET', path: '/api/v1/pods', signal } as const;
  const { items } = await new NodeClient(config.apiSocket).http.json(call, decodePods);
  if (wanted.kind === 'namespace') return items.map(({ metadata }) => metadata.namespace);
  const here = items.filter(({ metadata }) => metadata.namespace === namespace);
  if (wanted.kind !== 'container') return here.map(({ metadata }) => metadata.name);
  const of = wanted.pod?.replace(/^pods?\//, '');
  return here
    .filter(({ metadata }) => of === undefined || metadata.name === of)
    .flatMap(({ spec }) =>
      [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])].map(({ name }) => name),
    );
}

async function imageNames({ criSocket }: NodePaths): Promise<string[]> {
  const bounded = { connectTimeoutMs: COMPLETION_TIMEOUT_MS, apiVersion: 'v1' } as const;
  const cri = await connectCri({ runtimeEndpoint: criSocket, logger: silentLogger, ...bounded });
  try {
    const { images } = await cri.image.listImages({}, { signal: AbortSignal.timeout(COMPLETION_TIMEOUT_MS) });
    return images.flatMap(({ repoTags }) => repoTags);
  } finally {
    cri.close();
  }
}
