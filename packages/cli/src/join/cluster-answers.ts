/** Requests that a joining node sends to its cluster using the bootstrap token. */
import { PodwrightError } from '@podwright/base';
import { isConditionTrue, type KubeObject } from '@podwright/kube-api';
import { CONFIG_MAPS, isApiStatus, type KubeClient, NODES } from '@podwright/kube-client';
import { parseDocument, stringify } from 'yaml';

type ConfigMap = KubeObject & { data?: Record<string, string> };
type Node = KubeObject & { status?: { conditions?: { type?: string; status?: string }[] } };

/**
 * Rejects with `already_exists` if the cluster already has a ready node with this name. Skipped if the token does not permit reading nodes.
 */
export async function refuseTakenName(client: KubeClient, name: string, signal: AbortSignal): Promise<void> {
  const node = await client.get<Node>(NODES, { name }, { signal }).catch(absent);
  const isReady = isConditionTrue(node?.status?.conditions, 'Ready');
  if (!isReady) return;
  throw new PodwrightError(
    'already_exists',
    `the cluster has a node ${name} that is ready; delete it (kubectl delete node ${name}), or set node_name here`,
  );
}

/**
 * Returns the cluster's KubeletConfiguration (kubeadm's ConfigMap `kubelet-config`), with `clientCAFile` set to `authoritiesFile`. Returns
 * `undefined` if the ConfigMap does not exist or the token does not permit reading it.
 */
export async function clusterConfiguration(
  client: KubeClient,
  authoritiesFile: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const key = { namespace: 'kube-system', name: 'kubelet-config' };
  const text = (await client.get<ConfigMap>(CONFIG_MAPS, key, { signal }).catch(absent))?.data?.kubelet;
  if (typeof text !== 'string') return undefined;
  const document = parseDocument(text, { logLevel: 'silent' });
  if (document.errors.length > 0)
    throw new PodwrightError('invalid_argument', "read the cluster's kubelet-config: it is not valid YAML");
  document.setIn(['authentication', 'x509', 'clientCAFile'], authoritiesFile);
  return document.toString();
}

/** Returns the KubeletConfiguration to use if the cluster does not publish one. */
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
      'the API server rejects the token: it has expired, or is not for joining (usage "authentication")',
    );
  throw error;
}
