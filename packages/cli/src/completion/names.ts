import { raceAbort, silentLogger } from '@podwright/base';
import { connectCri } from '@podwright/cri';
import { decodePods } from '../client/answers.ts';
import { knownKinds } from '../client/known-kinds.ts';
import { NodeClient } from '../client/node-client.ts';
import { ObjectClient } from '../client/object-client.ts';
import { kindOfWord, type ObjectKind } from '../client/object-names.ts';
import { COMPLETION_TIMEOUT_MS } from '../limits.ts';
import type { NodePaths } from '../settings/node-paths.ts';
import type { Question } from './wanted.ts';

/** Returns the names of the wanted objects on the running node. Rejects on a timeout. */
export async function namesOnNode(config: NodePaths, { wanted, options }: Question): Promise<string[]> {
  if (wanted.kind === 'image') return imageNames(config);
  const signal = AbortSignal.timeout(COMPLETION_TIMEOUT_MS);
  const namespace = options.get('namespace') ?? 'default';
  if (wanted.kind === 'object' || wanted.kind === 'typed') {
    const kind = wanted.kind === 'object' ? wanted.of : await kindOfType(config, wanted.type);
    if (kind === undefined) return [];
    const bound = AbortSignal.timeout(COMPLETION_TIMEOUT_MS);
    const objects = await new ObjectClient(config.apiSocket).list(kind, { namespace }, bound);
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

/** Returns the kind with this name. Makes two more calls to the node if only a Kubernetes API has the kind. */
async function kindOfType({ apiSocket }: NodePaths, type: string): Promise<ObjectKind | undefined> {
  const bound = AbortSignal.timeout(5 * COMPLETION_TIMEOUT_MS);
  return kindOfWord(type, await raceAbort(knownKinds(apiSocket, [type]), bound));
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
