import type { ApiPort, WatchedChange } from '@podwright/kube-verbs';
import { NodeClient } from './node-client.ts';
import { kindOfWord, OBJECT_KINDS, type ObjectKind, typeWords } from './object-names.ts';
import { readValues, type UnixHttp } from './unix-http.ts';

/**
 * Returns the kinds that a command's words may refer to: those that every node supports and, if a word names another kind, those of the
 * node's Kubernetes API. The node is called only in the latter case.
 */
export async function knownKinds(socketPath: string, words: readonly string[]): Promise<readonly ObjectKind[]> {
  if (typeWords(words).every((word) => kindOfWord(word) !== undefined)) return OBJECT_KINDS;
  const client = new NodeClient(socketPath);
  if ((await client.hasKubernetesApi()) !== true) return OBJECT_KINDS;
  const { discoverKinds } = await import('@podwright/kube-verbs');
  return [...OBJECT_KINDS, ...(await discoverKinds(apiPort(client.http))).filter((kind) => !isPlain(kind))];
}

const isPlain = ({ group, kind }: { group: string; kind: string }): boolean =>
  (group === '' || group === 'node.k8s.io') && OBJECT_KINDS.some((plain) => plain.kind === kind);

/** Returns a Kubernetes API client that sends its calls through the node's socket. */
export function apiPort(http: UnixHttp): ApiPort {
  return {
    call: ({ body, ...request }) =>
      http.json({ ...request, body: body === undefined ? undefined : JSON.stringify(body) }, (value) => value),
    async *watch({ body: _none, signal = new AbortController().signal, ...request }) {
      const response = await http.stream({ ...request, signal });
      yield* readValues(response, (value) => value as WatchedChange, signal);
    },
  };
}
