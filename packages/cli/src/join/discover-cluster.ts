/** Discovers a cluster for a node that is joining it, like kubeadm's token discovery. */
import { errorMessage, PodwrightError, sleep, withTimeout, wrapError } from '@podwright/base';
import type { KubeObject } from '@podwright/kube-api';
import {
  bearerToken,
  CONFIG_MAPS,
  createKubeClient,
  isApiStatus,
  type KubeClient,
  type TlsOptions,
} from '@podwright/kube-client';
import { parse } from 'yaml';
import { DISCOVERY_RETRY_MS } from '../limits.ts';
import { authorityHashes } from './authority-hash.ts';
import { type BootstrapToken, isSignedBy } from './bootstrap-token.ts';

/** The cluster's API server and CA certificates, verified with the token and the hashes. */
export type DiscoveredCluster = { server: string; authorities: string };

export type Discovery = {
  /** `HOST:PORT` of an API server. */
  endpoint: string;
  token: BootstrapToken;
  /** Accepted hashes of the CA's public key. If empty, the CA is verified only by the token. */
  hashes: readonly string[];
  timeoutMs: number;
};

type ConfigMap = KubeObject & { data?: Record<string, string> };

/**
 * Reads the ConfigMap `cluster-info` without credentials, and verifies that it is signed with the token. If `hashes` is not empty, also
 * verifies that a CA has an accepted hash, then rereads the ConfigMap over TLS verified by these CAs to check that it is unchanged.
 */
export async function discoverCluster(discovery: Discovery): Promise<DiscoveredCluster> {
  const { token, hashes } = discovery;
  const text = await clusterInfo(discovery, { insecureSkipTlsVerify: true });
  const cluster = readClusterInfo(text);
  const found = authorityHashes(cluster.authorities);
  if (hashes.length > 0 && !found.some((hash) => hashes.includes(hash)))
    throw new PodwrightError(
      'failed_precondition',
      `the cluster's authority is ${found.join(', ') || 'none'}, which no --discovery-token-ca-cert-hash matches: this is another cluster, or an attacker in between`,
    );
  if (hashes.length === 0) return cluster;
  const again = await clusterInfo(discovery, { ca: cluster.authorities });
  if (again === text) return cluster;
  throw new PodwrightError(
    'failed_precondition',
    `cluster-info has changed between two reads with token id ${token.id}`,
  );
}

/** Waits until `cluster-info` has been signed with the token, which takes a moment for a new token, and returns its kubeconfig. */
async function clusterInfo({ endpoint, token, timeoutMs }: Discovery, tls: TlsOptions): Promise<string> {
  const client = createKubeClient({ server: `https://${endpoint}`, tls });
  using deadline = withTimeout(undefined, timeoutMs, `read cluster-info of ${endpoint}`);
  try {
    for (;;) {
      const found = await tryClusterInfo(client, token, deadline).catch((error: unknown) => {
        throw explained(error, endpoint);
      });
      if (found.kind === 'signed') return found.kubeconfig;
      await sleep(DISCOVERY_RETRY_MS, deadline).catch(() => {
        throw new PodwrightError('failed_precondition', found.why);
      });
    }
  } finally {
    client.close();
  }
}

type Found = { kind: 'signed'; kubeconfig: string } | { kind: 'unsigned'; why: string };

async function tryClusterInfo(client: KubeClient, token: BootstrapToken, signal: AbortSignal): Promise<Found> {
  const key = { namespace: 'kube-public', name: 'cluster-info' };
  const { data = {} } = await client.get<ConfigMap>(CONFIG_MAPS, key, { signal });
  const { kubeconfig } = data;
  if (typeof kubeconfig !== 'string' || kubeconfig === '')
    throw new PodwrightError(
      'failed_precondition',
      'its ConfigMap cluster-info has no kubeconfig, so joining by token is not possible',
    );
  const jws = data[`jws-kubeconfig-${token.id}`];
  if (typeof jws !== 'string' || jws === '')
    return {
      kind: 'unsigned',
      why: `token id ${token.id} does not belong to this cluster, or it has expired; create another with kubeadm token create --print-join-command`,
    };
  if (isSignedBy(token, jws, kubeconfig)) return { kind: 'signed', kubeconfig };
  throw new PodwrightError(
    'permission_denied',
    `cluster-info is not signed by token id ${token.id}: its secret is wrong, or this is not the API server of the cluster`,
  );
}

function explained(error: unknown, endpoint: string): PodwrightError {
  const what = `discover the cluster at ${endpoint}`;
  if (isApiStatus(error, 404) || isApiStatus(error, 403) || isApiStatus(error, 401))
    return new PodwrightError(
      'failed_precondition',
      `${what}: cluster-info in kube-public cannot be read without credentials (${errorMessage(error)}); kubeadm init phase bootstrap-token opens it`,
    );
  return wrapError(what, error);
}

/**
 * Returns the cluster from the kubeconfig in cluster-info, which has no users. Throws `invalid_argument` if the text is not such a
 * kubeconfig. Pure.
 */
export function readClusterInfo(text: string): DiscoveredCluster {
  const what = 'read the kubeconfig in cluster-info';
  try {
    const { clusters } = parse(text, { logLevel: 'silent' }) as { clusters?: { cluster?: Record<string, unknown> }[] };
    const { server, 'certificate-authority-data': data } = clusters?.[0]?.cluster ?? {};
    if (typeof server === 'string' && URL.canParse(server) && typeof data === 'string')
      return { server, authorities: Buffer.from(data, 'base64').toString() };
  } catch (error) {
    throw wrapError(what, error, 'invalid_argument');
  }
  throw new PodwrightError(
    'invalid_argument',
    `${what}: it has no cluster with a server and certificate-authority-data`,
  );
}

/** Returns a client for the cluster that authenticates with the token. The caller must close it. */
export function bootstrapClient(
  { server, authorities }: DiscoveredCluster,
  { id, secret }: BootstrapToken,
): KubeClient {
  return createKubeClient({ server, tls: { ca: authorities }, authorization: bearerToken(`${id}.${secret}`) });
}
