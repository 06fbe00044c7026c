/** Where the server listens over TLS, and how pods reach it. */
import { isIPv6 } from 'node:net';
import { isErrno } from '@podwright/base';
import { type KubernetesService, SECURE_PORT } from './controllers/kubernetes-service.ts';
import type { ApiListeners, SecureAddress, ServingCertificate, StrangerConnections } from './server/api-listeners.ts';
import { advertisedAddress } from './server-address.ts';

/** The port at the cluster IP, as upstream's `--secure-port`. */
const CLUSTER_IP_PORT = 6443;

export type SecureAddressParts = {
  listeners: Pick<ApiListeners, 'listenSecure'>;
  /** Issues the serving certificate. Called only if the server listens over TLS. */
  certificate: () => ServingCertificate;
  /** The cluster IP of the Service `kubernetes`. */
  clusterIp: string;
  /** See `ApiServerOptions`. */
  listen?: SecureAddress;
  strangers?: StrangerConnections;
  atClusterIp?: { strangers: StrangerConnections };
};

export type SecureAddresses = {
  /** The address of `listen`, with the port on which the server listens. */
  bound: SecureAddress | undefined;
  /** The address under which other machines reach `bound`; undefined if they cannot. */
  advertised: string | undefined;
  /** The endpoint of the Service `kubernetes`. */
  endpoint: KubernetesService['endpoint'];
  /** The address and port under which pods reach the server; undefined if they cannot. */
  forPods: SecureAddress | undefined;
};

/**
 * Listens at `listen`. With `atClusterIp`, it also listens at the cluster IP unless pods and other machines reach `listen`: the cluster IP
 * is then the only address that pods reach. The port there is not that of the Service, which the proxy translates: a server at port 443 of
 * one address would take this port at all addresses from web servers and ingress controllers of the host.
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
    if (isErrno(error, 'EADDRINUSE')) return listenAt(0); // another program has the port at all addresses
    throw error;
  });
  return { bound, advertised, endpoint: { address: clusterIp, port: ownPort }, forPods };
}
