import { readPodResolvConf } from '@podwright/host';
import type { Finding } from './doctor-places.ts';

/** Reports a problem if pods cannot reach any of the host's name servers. Returns no findings if they can reach one. */
export async function nameFindings(path = '/etc/resolv.conf', resolvedPath?: string): Promise<Finding[]> {
  const text = await readPodResolvConf(path, resolvedPath);
  const servers = [...text.matchAll(/^\s*nameserver\s+([^\s#;]+)/gm)].map(([, server]) => server!);
  if (servers.some((server) => !/^127\.|^::1$/.test(server))) return [];
  const why =
    servers.length === 0
      ? `${path} lists no name server`
      : `${path} lists only ${servers.join(' and ')}, which pods cannot reach`;
  return [
    {
      what: 'names in pods',
      level: 'note',
      message: `${why}: pods with the DNS policy Default, and all pods of a node without [api], cannot resolve names`,
      fix: `list a server of the network in ${path}, or in the file of the kubelet's field resolvConf`,
    },
  ];
}
