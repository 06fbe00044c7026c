import { stringify } from 'yaml';
import type { KeyPair } from './certificate-authority.ts';

export type KubeconfigParts = { server: string; caCertificate: string; user: string; pair: KeyPair };

const CLUSTER = 'podwright';

/** Returns a kubeconfig with one context. The certificates and the key are embedded. */
export function kubeconfigText({ server, caCertificate, user, pair }: KubeconfigParts): string {
  const cluster = { server, 'certificate-authority-data': encoded(caCertificate) };
  const credentials = { 'client-certificate-data': encoded(pair.certificate), 'client-key-data': encoded(pair.key) };
  const context = `${user}@${CLUSTER}`;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: CLUSTER, cluster }],
    users: [{ name: user, user: credentials }],
    contexts: [{ name: context, context: { cluster: CLUSTER, user } }],
    'current-context': context,
  };
  return stringify(config, { lineWidth: 0 });
}

/** Returns a kubeconfig for the cluster without users, as published by kubeadm in the ConfigMap `cluster-info`. */
export function clusterInfoText({ server, caCertificate }: Pick<KubeconfigParts, 'server' | 'caCertificate'>): string {
  const cluster = { 'certificate-authority-data': encoded(caCertificate), server };
  const clusters = [{ cluster, name: '' }];
  const config = { apiVersion: 'v1', clusters, contexts: null, 'current-context': '', kind: 'Config', users: null };
  return stringify(config, { lineWidth: 0 });
}

const encoded = (text: string): string => Buffer.from(text).toString('base64');
