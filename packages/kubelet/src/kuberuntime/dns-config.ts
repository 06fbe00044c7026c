import { create, type DNSConfig, DNSConfigSchema } from '@podwright/cri';
import type { Pod } from '../api/types.ts';
import type { ResolvConf } from '../node/resolv-conf.ts';

/** Limits of the resolver that pods may count on (Kubernetes: DNS for pods). */
const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_BYTES = 2048;

export type DnsSettings = { clusterDns: string[]; clusterDomain: string; host: ResolvConf };

/** The pod's DNS configuration by its policy. Without a cluster DNS server `ClusterFirst` means the host's. */
export function podDnsConfig(pod: Pod, settings: DnsSettings): DNSConfig {
  const base = byPolicy(pod, settings);
  const own = pod.spec.dnsConfig;
  const servers = unique([...base.servers, ...(own?.nameservers ?? [])]);
  const searches = unique([...base.searches, ...(own?.searches ?? [])]);
  return create(DNSConfigSchema, {
    servers: servers.slice(0, MAX_NAMESERVERS),
    searches: boundSearches(searches),
    options: mergeOptions(base.options, own?.options ?? []),
  });
}

function byPolicy(pod: Pod, { clusterDns, clusterDomain, host }: DnsSettings): ResolvConf {
  const policy = pod.spec.dnsPolicy ?? 'ClusterFirst';
  if (policy === 'None') return { servers: [], searches: [], options: [] };
  const cluster = policy === 'ClusterFirstWithHostNet' || (policy === 'ClusterFirst' && pod.spec.hostNetwork !== true);
  if (!cluster || clusterDns.length === 0) return host;
  const ownSearches =
    clusterDomain === ''
      ? []
      : [`${pod.metadata.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
  return { servers: clusterDns, searches: unique([...ownSearches, ...host.searches]), options: ['ndots:5'] };
}

function boundSearches(searches: string[]): string[] {
  const kept: string[] = [];
  let bytes = 0;
  for (const search of searches.slice(0, MAX_SEARCHES)) {
    bytes += search.length + 1;
    if (bytes > MAX_SEARCH_BYTES + 1) break;
    kept.push(search);
  }
  return kept;
}

/** An option of the pod replaces the one of the same name. */
function mergeOptions(base: string[], own: { name: string; value?: string }[]): string[] {
  const merged = new Map(base.map((option) => [option.split(':')[0]!, option]));
  for (const { name, value } of own) {
    merged.set(name, value === undefined || value === '' ? name : `${name}:${value}`);
  }
  return [...merged.values()];
}

function unique(values: string[]): string[] {
  return [...new Set(values.filter((value) => value !== ''))];
}
