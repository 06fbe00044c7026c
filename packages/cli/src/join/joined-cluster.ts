import { X509Certificate } from 'node:crypto';
import { PodwrightError } from '@podwright/base';
import type { TlsOptions } from '@podwright/kube-client';
import { authorityHashes } from './authority-hash.ts';
import type { DiscoveredCluster } from './discover-cluster.ts';

/** The cluster that the node has joined, according to its kubeconfig. */
export type JoinedCluster = { server: string; tls: Pick<TlsOptions, 'ca' | 'certificate'> };

/**
 * Whether the node has already joined this cluster under its current name and with a valid certificate. Throws `failed_precondition`, with
 * advice, if it belongs to a different cluster or has a different name there. Pure.
 */
export function isJoined(
  { server, tls }: JoinedCluster,
  wanted: DiscoveredCluster & { nodeName: string },
  nowMs: number,
): boolean {
  const refuse = (problem: string) => {
    throw new PodwrightError('failed_precondition', problem);
  };
  if (server !== wanted.server) refuse(`this node belongs to ${server}; leave it with podwright leave`);
  const known = authorityHashes(String(tls.ca ?? ''));
  const found = authorityHashes(wanted.authorities);
  if (!known.some((hash) => found.includes(hash)))
    refuse(
      `this node belongs to a cluster at ${server} whose CA is ${known.join(', ') || 'none'}, not ${found.join(', ')}; to join this one, call podwright leave first`,
    );
  if (tls.certificate === undefined) return true;
  const certificate = new X509Certificate(tls.certificate);
  const name = /^CN=system:node:(.+)$/m.exec(certificate.subject)?.[1];
  if (name !== undefined && name !== wanted.nodeName)
    refuse(
      `this node has the name ${name} in the cluster, but ${wanted.nodeName} now; set node_name = "${name}", or remove it with podwright leave and kubectl delete node ${name}`,
    );
  return certificate.validToDate.getTime() > nowMs;
}
