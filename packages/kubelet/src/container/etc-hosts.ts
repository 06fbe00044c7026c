import type { HostAlias, Pod } from '@podwright/kube-api';
import { podNames } from './pod-hostname.ts';

/** Entries in the /etc/hosts of every pod that does not use the host network, as in upstream. */
const STANDARD_ENTRIES = [
  ['127.0.0.1', 'localhost'],
  ['::1', 'localhost ip6-localhost ip6-loopback'],
  ['fe00::0', 'ip6-localnet'],
  ['fe00::0', 'ip6-mcastprefix'],
  ['fe00::1', 'ip6-allnodes'],
  ['fe00::2', 'ip6-allrouters'],
];

export type EtcHostsInput = {
  pod: Pod;
  podIps: string[];
  clusterDomain: string;
  /** The content of the host's own /etc/hosts, for pods that use the host network. */
  hostContent: string;
};

/** Returns the content of a pod's /etc/hosts. */
export function etcHosts({ pod, podIps, clusterDomain, hostContent }: EtcHostsInput): string {
  const aliases = aliasLines(pod.spec.hostAliases ?? []);
  if (pod.spec.hostNetwork === true) {
    return `# Kubernetes-managed hosts file (host network).\n${hostContent}${aliases}`;
  }
  const names = ownNames(pod, clusterDomain);
  const lines = [...STANDARD_ENTRIES, ...podIps.map((ip) => [ip, ...names])].map((entry) => `${entry.join('\t')}\n`);
  return `# Kubernetes-managed hosts file.\n${lines.join('')}${aliases}`;
}

/** Returns the pod's FQDN, if any, followed by its short name. */
function ownNames(pod: Pod, clusterDomain: string): string[] {
  const { hostname, domain } = podNames(pod, clusterDomain);
  return domain === '' ? [hostname] : [`${hostname}.${domain}`, hostname];
}

function aliasLines(aliases: HostAlias[]): string {
  if (aliases.length === 0) return '';
  const lines = aliases.map(({ ip, hostnames }) => `${[ip, ...(hostnames ?? [])].join('\t')}\n`);
  return `\n# Entries added by HostAliases.\n${lines.join('')}`;
}
