/** What a joining node asks of its cluster by its bootstrap token. */
import { PodwrightError } from '@podwright/base';
import type { KubeObject } from '@podwright/kube-api';
import { CONFIG_MAPS, isApiStatus, type KubeClient, NODES } from '@podwright/kube-client';
import { parseDocument, stringify } from 'yaml';

type ConfigMap = KubeObject & { data?: Record<string, string> };
type Node = KubeObject & { status?: { conditions?: { type?: string; status?: string }[] } };

/** A node of this name is ready already: rejects with `already_exists`. Whoever may not look joins all the same. */
export async function refuseTakenName(client: KubeClient, name: string, signal: AbortSignal): Promise<void> {
  const node = await client.get<Node>(NODES, { name }, { signal }).catch(absent);
  const isReady = node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
  if (!isReady) return;
  throw new PodwrightError(
    'already_exists',
    `the cluster has a node ${name} that is ready; delete it (kubectl delete node ${name}), or set node_name here`,
  );
}

/**
 * The cluster's KubeletConfiguration (kubeadm's ConfigMap `kubelet-config`) with its authorities in this file; `undefined` where
 * there is none, or it may not be read.
 */
export async function clusterConfiguration(
  client: KubeClient,
  authoritiesFile: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const place = { namespace: 'kube-system', name: 'kubelet-config' };
  const text = (await client.get<ConfigMap>(CONFIG_MAPS, place, { signal }).catch(absent))?.data?.kubelet;
  if (typeof text !== 'string') return undefined;
  const document = parseDocument(text, { logLevel: 'silent' });
  if (document.errors.length > 0)
    throw new PodwrightError('invalid_argument', "read the cluster's kubelet-config: its text is no YAML");
  document.setIn(['authentication', 'x509', 'clientCAFile'], authoritiesFile);
  return document.toString();
}

/** What a cluster asks of its kubelets that says nothing else. */
export function leastConfiguration(authoritiesFile: string): string {
  return stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: authoritiesFile },
    },
    authorization: { mode: 'Webhook' },
    rotateCertificates: true,
  });
}

function absent(error: unknown): undefined {
  if (isApiStatus(error, 404) || isApiStatus(error, 403)) return undefined;
  if (isApiStatus(error, 401))
    throw new PodwrightError(
      'unauthenticated',
      'the API server does not take the token: it has expired, or is not for joining (usage "authentication")',
    );
  throw error;
}
