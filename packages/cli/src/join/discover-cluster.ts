/** What a cluster tells those who are to join it (kubeadm's token discovery). */
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

/** A cluster that can be trusted as far as the token and the hashes are right. */
export type DiscoveredCluster = { server: string; authorities: string };

export type Discovery = {
  /** `HOST:PORT` of an API server. */
  endpoint: string;
  token: BootstrapToken;
  /** Of which the cluster must have one; none takes the token's word for it. */
  hashes: readonly string[];
  timeoutMs: number;
};

type ConfigMap = KubeObject & { data?: Record<string, string> };

/**
 * Reads the ConfigMap `cluster-info` without credentials, verifies that the token has signed it and that an authority in it has one
 * of the hashes, and reads it again from a server that such an authority vouches for.
 */
export async function discoverCluster(discovery: Discovery): Promise<DiscoveredCluster> {
  const { token, hashes } = discovery;
  const text = await clusterInfo(discovery, { insecureSkipTlsVerify: true });
  const cluster = readClusterInfo(text);
  const found = authorityHashes(cluster.authorities);
  if (hashes.length > 0 && !found.some((hash) => hashes.includes(hash)))
    throw new PodwrightError(
      'failed_precondition',
      `the cluster's authority is ${found.join(', ') || 'none'}, which no --discovery-token-ca-cert-hash names: this is another cluster, or somebody in between`,
    );
  if (hashes.length === 0) return cluster;
  const again = await clusterInfo(discovery, { ca: cluster.authorities });
  if (again === text) return cluster;
  throw new PodwrightError('failed_precondition', `cluster-info is another, asked again for token id ${token.id}`);
}

/** The kubeconfig in `cluster-info`, once the token has signed it: that happens a little after the token was made. */
async function clusterInfo({ endpoint, token, timeoutMs }: Discovery, tls: TlsOptions): Promise<string> {
  const client = createKubeClient({ server: `https://${endpoint}`, tls });
  using deadline = withTimeout(undefined, timeoutMs, `ask ${endpoint} for cluster-info`);
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
  const place = { namespace: 'kube-public', name: 'cluster-info' };
  const { data = {} } = await client.get<ConfigMap>(CONFIG_MAPS, place, { signal });
  const { kubeconfig } = data;
  if (typeof kubeconfig !== 'string' || kubeconfig === '')
    throw new PodwrightError(
      'failed_precondition',
      'its ConfigMap cluster-info has no kubeconfig: it lets nobody join by token',
    );
  const jws = data[`jws-kubeconfig-${token.id}`];
  if (typeof jws !== 'string' || jws === '')
    return {
      kind: 'unsigned',
      why: `token id ${token.id} is none of this cluster, or it has expired; kubeadm token create --print-join-command makes another`,
    };
  if (isSignedBy(token, jws, kubeconfig)) return { kind: 'signed', kubeconfig };
  throw new PodwrightError(
    'permission_denied',
    `cluster-info is not signed by token id ${token.id}: its second half is wrong, or this is not the API server that it claims to be`,
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

/** The cluster of a kubeconfig without users. `invalid_argument` for what is none. Pure. */
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

/** A client of the cluster for whoever has the token. Closed by the caller. */
export function bootstrapClient(
  { server, authorities }: DiscoveredCluster,
  { id, secret }: BootstrapToken,
): KubeClient {
  return createKubeClient({ server, tls: { ca: authorities }, authorization: bearerToken(`${id}.${secret}`) });
}
