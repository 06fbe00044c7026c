import { X509Certificate } from 'node:crypto';
import { PodwrightError } from '@podwright/base';
import type { TlsOptions } from '@podwright/kube-client';
import { authorityHashes } from './authority-hash.ts';
import type { DiscoveredCluster } from './discover-cluster.ts';

/** A cluster of which the node has been made one: what its kubeconfig says. */
export type JoinedCluster = { server: string; tls: Pick<TlsOptions, 'ca' | 'certificate'> };

/**
 * Whether the node is one of this cluster already, by its name, with a certificate that is valid still. `failed_precondition`, with
 * what to do, if it is one of another cluster, or by another name. Pure.
 */
export function isJoined(
  { server, tls }: JoinedCluster,
  wanted: DiscoveredCluster & { nodeName: string },
  nowMs: number,
): boolean {
  const refuse = (problem: string) => {
    throw new PodwrightError('failed_precondition', problem);
  };
  if (server !== wanted.server) refuse(`this node is one of ${server}; podwright leave takes it out`);
  const known = authorityHashes(String(tls.ca ?? ''));
  const found = authorityHashes(wanted.authorities);
  if (!known.some((hash) => found.includes(hash)))
    refuse(
      `this node is one of a cluster at ${server} whose authority is ${known.join(', ') || 'none'}, and not ${found.join(', ')}; podwright leave takes it out, to join this one`,
    );
  if (tls.certificate === undefined) return true;
  const certificate = new X509Certificate(tls.certificate);
  const name = /^CN=system:node:(.+)$/m.exec(certificate.subject)?.[1];
  if (name !== undefined && name !== wanted.nodeName)
    refuse(
      `this node is ${name} in the cluster, and would be ${wanted.nodeName} now; set node_name = "${name}", or take it out by podwright leave and kubectl delete node ${name}`,
    );
  return certificate.validToDate.getTime() > nowMs;
}
