/** Decides on which addresses the server listens over TLS, and which one pods connect to. */
import { isIPv6 } from 'node:net';
import { isErrno } from '@podwright/base';
import { type KubernetesService, SECURE_PORT } from './controllers/kubernetes-service.ts';
import type { ApiListeners, SecureAddress, ServingCertificate, StrangerConnections } from './server/api-listeners.ts';
import { advertisedAddress } from './server-address.ts';

/** The server's port on the cluster IP: the default of upstream's `--secure-port`. */
const CLUSTER_IP_PORT = 6443;

export type SecureAddressParts = {
  listeners: Pick<ApiListeners, 'listenSecure'>;
  /** Issues the serving certificate. Called only if the server listens over TLS. */
  certificate: () => ServingCertificate;
  /** The cluster IP of the Service `kubernetes`. */
  clusterIp: string;
  /** Where to listen for other machines (see `ApiServerOptions`). */
  listen?: SecureAddress;
  strangers?: StrangerConnections;
  atClusterIp?: { strangers: StrangerConnections };
};

export type SecureAddresses = {
  /** The host given by `listen` and the port actually used. Undefined if `listen` is unset. */
  bound: SecureAddress | undefined;
  /** The IP address at which other machines reach `bound`; undefined if they cannot reach it. */
  advertised: string | undefined;
  /** The address and port to publish as the endpoint of the Service `kubernetes`. */
  endpoint: KubernetesService['endpoint'];
  /** The address and port at which pods reach the server; undefined if they cannot reach it. */
  forPods: SecureAddress | undefined;
};

/**
 * Listens on `listen`. With `atClusterIp`, also listens on the cluster IP, unless other machines can connect to `listen`: in that case pods
 * can as well, and the service proxy forwards cluster IP connections there.
 *
 * The port on the cluster IP is not 443, as the service proxy translates the Service's port. If the server used port 443 of a single
 * address, a web server or ingress controller on the host could no longer listen on port 443 of all addresses.
 */
export async function listenSecurely(parts: SecureAddressParts): Promise<SecureAddresses> {
  const { listeners, clusterIp, listen, atClusterIp } = parts;
  if (listen === undefined && atClusterIp === undefined)
    return { bound: undefined, advertised: undefined, endpoint: undefined, forPods: undefined };
  const certificate = parts.certificate();
  const port = listen && (await listeners.listenSecure(listen, certificate, parts.strangers));
  const bound = listen && port !== undefined ? { host: listen.host, port } : undefined;
  const advertised = bound && advertisedAddress(bound.host, isIPv6(clusterIp) ? 'IPv6' : 'IPv4');
  const forPods = atClusterIp && { host: clusterIp, port: SECURE_PORT };
  if (bound !== undefined && (advertised !== undefined || atClusterIp === undefined)) {
    const other = advertised === undefined ? undefined : { host: advertised, port: bound.port };
    return { bound, advertised, endpoint: { address: advertised, port: bound.port }, forPods: forPods ?? other };
  }
  const listenAt = (port: number) =>
    listeners.listenSecure({ host: clusterIp, port }, certificate, atClusterIp?.strangers);
  const ownPort = await listenAt(CLUSTER_IP_PORT).catch((error: unknown) => {
    if (isErrno(error, 'EADDRINUSE')) return listenAt(0); // another program listens on this port of all addresses
    throw error;
  });
  return { bound, advertised, endpoint: { address: clusterIp, port: ownPort }, forPods };
}
