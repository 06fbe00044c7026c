import { ApiError, notFound, type ObjectStore } from '@podwright/api-machinery';
import { type ApiObject, numberAt, objectsAt, textAt } from '@podwright/kube-kinds';
import type { KeyPair } from '../certificates/certificate-authority.ts';
import { networkBackend } from './network-backend.ts';
import type { NodeConnector, NodeKubelet } from './node-connector.ts';

export type TlsNodeConnectorParts = {
  store: ObjectStore;
  /** Returns this server's kubelet client certificate. */
  clientPair: () => KeyPair;
  /**
   * CAs for kubelet serving certificates, PEM. If unset, the certificates are not verified, as in upstream, because kubelets self-sign
   * them.
   */
  kubeletAuthority?: string;
};

/** Address types in order of preference, as configured by kubeadm. Hostnames come last because they often cannot be resolved. */
const ADDRESS_TYPES = ['InternalIP', 'ExternalIP', 'Hostname'];
const DEFAULT_PORT = 10250;

/** Reaches kubelets over TLS at the address and port in their node's status. */
export class TlsNodeConnector implements NodeConnector {
  readonly #parts: TlsNodeConnectorParts;

  constructor(parts: TlsNodeConnectorParts) {
    this.#parts = parts;
  }

  kubelet(nodeName: string): NodeKubelet {
    const { store, clientPair, kubeletAuthority } = this.#parts;
    const node = store.get({ resource: 'nodes', namespace: '', name: nodeName })?.decode();
    if (node === undefined) throw notFound({ group: '', plural: 'nodes' }, nodeName);
    const host = addressOf(node);
    const port = portOf(node);
    return {
      host,
      port,
      isLocal: false,
      backend: ({ address, skipVerification = false } = {}) => {
        const { certificate: cert, key } = clientPair();
        const ca = skipVerification ? undefined : kubeletAuthority;
        return networkBackend({ scheme: 'https', host, port, address, tls: { cert, key, ca } });
      },
    };
  }
}

/**
 * Returns the port of the node's kubelet, or the default port if none is published. Throws `ApiError` if the port is out of range, because
 * nodes may publish any number.
 */
function portOf(node: ApiObject): number {
  const port = numberAt(node, 'status', 'daemonEndpoints', 'kubeletEndpoint', 'Port') ?? 0;
  if (port <= 0) return DEFAULT_PORT;
  if (port > 65_535) throw new ApiError(500, '', { message: `dial tcp: address ${port}: invalid port` });
  return port;
}

function addressOf(node: ApiObject): string {
  const addresses = objectsAt(node, 'status', 'addresses');
  for (const type of ADDRESS_TYPES) {
    const found = addresses.find((one) => one.type === type);
    if (found !== undefined) return textAt(found, 'address');
  }
  const known = addresses.map((one) => `{${textAt(one, 'type')} ${textAt(one, 'address')}}`).join(' ');
  throw new ApiError(500, '', { message: `no preferred addresses found; known addresses: [${known}]` });
}
