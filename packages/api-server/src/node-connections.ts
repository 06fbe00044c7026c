import type { ObjectStore } from '@podwright/api-machinery';
import { KUBELET_CLIENTS } from './authorization/known-users.ts';
import { ClientCertificate } from './backends/client-certificate.ts';
import { type LocalKubelet, LocalNodeConnector } from './backends/local-node-connector.ts';
import type { NodeConnector } from './backends/node-connector.ts';
import { TlsNodeConnector } from './backends/tls-node-connector.ts';
import type { CertificateAuthority } from './certificates/certificate-authority.ts';

/** Settings for the API server's connections to kubelets. */
export type KubeletConnections = {
  /** CAs for kubelet serving certificates, PEM. If unset, these certificates are not verified. */
  kubeletAuthority?: string;
  /** Returns the kubelet in this process once it is serving. Requests for its node do not go over the network. */
  localKubelet?: () => LocalKubelet | undefined;
};

type ConnectionParts = { store: ObjectStore; authority: CertificateAuthority; now: () => number };

/**
 * Subject of the API server's kubelet client certificate, as issued by kubeadm. Kubelets with webhook authorization grant its group full
 * access to the kubelet API. The group is deliberately not `system:masters`: a node could advertise this server's address as its kubelet's,
 * and the server would then call itself as cluster admin.
 */
const CLIENT = { commonName: 'kube-apiserver-kubelet-client', organizations: [KUBELET_CLIENTS] };

/** Builds the connector for all nodes. */
export function nodeConnector(
  { kubeletAuthority, localKubelet }: KubeletConnections,
  { store, authority, now }: ConnectionParts,
): NodeConnector {
  const client = new ClientCertificate(authority, CLIENT, now);
  const others = new TlsNodeConnector({ store, clientPair: () => client.pair(), kubeletAuthority });
  return localKubelet === undefined ? others : new LocalNodeConnector(localKubelet, others);
}
