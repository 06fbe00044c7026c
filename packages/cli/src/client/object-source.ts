import { gatherBytes, PodwrightError } from '@podwright/base';
import type { ViewCalls } from '@podwright/kube-view';
import { decodeAnything } from './answers.ts';
import { type ClusterChoice, readChosen, requireKubeconfig } from './cluster-choice.ts';
import { UnixHttp } from './unix-http.ts';

/** Request timeout. An API server might wait longer for a pod's log if the pod's node does not respond. */
const TIMEOUT_MS = 10_000;
const MAX_TEXT_BYTES = 16 << 20;

/** The API that read-only commands use: this machine's node or a cluster. */
export type ObjectSource = ViewCalls & {
  /** Whether this is the API of this machine's node, as opposed to a cluster's. */
  isNode: boolean;
  /** The namespace of the kubeconfig's context, or `default`. */
  namespace: string;
  close(): void;
};

/** Opens the API selected by the options. Rejects with `invalid_argument` if a kubeconfig is invalid. */
export async function openSource(apiSocket: string, choice: ClusterChoice): Promise<ObjectSource> {
  requireKubeconfig(choice);
  return choice.kubeconfig === undefined ? nodeSource(apiSocket) : await clusterSource(choice);
}

function nodeSource(apiSocket: string): ObjectSource {
  const http = new UnixHttp(apiSocket);
  const tooLong = () => new PodwrightError('resource_exhausted', 'the answer of the node is too long');
  return {
    isNode: true,
    namespace: 'default',
    json: (path) => http.json({ method: 'GET', path }, decodeAnything),
    text: async (path) => {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const answer = await http.stream({ method: 'GET', path, signal });
      return (await gatherBytes(answer, MAX_TEXT_BYTES, tooLong)).toString();
    },
    close: () => undefined,
  };
}

async function clusterSource(choice: ClusterChoice): Promise<ObjectSource> {
  const kubeconfig = await readChosen(choice);
  const { createKubeClient } = await import('@podwright/kube-client');
  const client = createKubeClient(kubeconfig);
  const text = (path: string) => client.getText(path, { timeoutMs: TIMEOUT_MS });
  return {
    isNode: false,
    namespace: kubeconfig.namespace,
    json: async (path) => parsed(path, await text(path)),
    text,
    close: () => client.close(),
  };
}

function parsed(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PodwrightError('unavailable', `get ${path}: the answer is not JSON`);
  }
}
