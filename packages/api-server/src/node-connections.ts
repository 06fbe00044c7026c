import type { ObjectStore } from '@podwright/api-machinery';
import { KubeletClientCertificate } from './backends/kubelet-client-certificate.ts';
import { type LocalKubelet, LocalNodeConnector } from './backends/local-node-connector.ts';
import type { NodeConnector } from './backends/node-connector.ts';
import { TlsNodeConnector } from './backends/tls-node-connector.ts';
import type { CertificateAuthority } from './certificates/certificate-authority.ts';

/** How the API server reaches kubelets. */
export type KubeletConnections = {
  /** CAs of the serving certificates of kubelets, PEM. By default these certificates are not verified. */
  kubeletAuthority?: string;
  /** Returns the kubelet in this process once it serves. Requests for its node are not sent over the network. */
  localKubelet?: () => LocalKubelet | undefined;
};

type ConnectionParts = { store: ObjectStore; authority: CertificateAuthority; now: () => number };

/** Composes the connector for all nodes. */
export function nodeConnector(
  { kubeletAuthority, localKubelet }: KubeletConnections,
  { store, authority, now }: ConnectionParts,
): NodeConnector {
  const client = new KubeletClientCertificate(authority, now);
  const others = new TlsNodeConnector({ store, clientPair: () => client.pair(), kubeletAuthority });
  return localKubelet === undefined ? others : new LocalNodeConnector(localKubelet, others);
}
