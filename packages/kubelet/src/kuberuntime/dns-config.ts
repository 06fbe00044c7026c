import { create, type DNSConfig, DNSConfigSchema } from '@podwright/cri';
import type { Pod } from '@podwright/kube-api';
import { describePod } from '../kubecontainer/pod-identity.ts';
import type { WaitingReason } from '../kubecontainer/sync-result.ts';
import {
  MAX_SEARCH_DOMAIN_LENGTH,
  MAX_SEARCH_LINE_LENGTH,
  MAX_SEARCHES,
  type ResolvConf,
} from '../node/resolv-conf.ts';

/** The resolver's limit on name servers (resolv.conf(5)). */
const MAX_NAMESERVERS = 3;

export type DnsSettings = {
  clusterDns: string[];
  clusterDomain: string;
  /** Whether to emit MissingClusterDNS for ClusterFirst pods if no cluster DNS is configured. */
  warnOfMissingClusterDns: boolean;
  host: ResolvConf;
};

/** A pod's DNS configuration, and warnings to emit as events. */
export type PodDns = { config: DNSConfig; warnings: WaitingReason[] };

/**
 * Returns the pod's DNS configuration according to its `dnsPolicy`. `ClusterFirst` falls back to the host's DNS settings if there is no
 * cluster DNS server.
 */
export function podDnsConfig(pod: Pod, settings: DnsSettings): PodDns {
  const base = byPolicy(pod, settings);
  const own = pod.spec.dnsConfig;
  const servers = unique([...base.servers, ...(own?.nameservers ?? [])]);
  const allSearches = unique([...base.searches, ...(own?.searches ?? [])]);
  const searches = boundSearches(allSearches);
  const applied = servers.slice(0, MAX_NAMESERVERS);
  const warnings =
    isWithoutClusterDns(pod, settings) && settings.warnOfMissingClusterDns ? [missingClusterDns(pod)] : [];
  if (applied.length < servers.length) {
    const what = 'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is:';
    warnings.push({ reason: 'DNSConfigForming', message: `${what} ${applied.join(' ')}` });
  }
  if (searches.length < allSearches.length) {
    const what = 'Search Line limits were exceeded, some search paths have been omitted, the applied search line is:';
    warnings.push({ reason: 'DNSConfigForming', message: `${what} ${searches.join(' ')}` });
  }
  return {
    config: create(DNSConfigSchema, {
      servers: applied,
      searches,
      options: mergeOptions(base.options, own?.options ?? []),
    }),
    warnings,
  };
}

function byPolicy(pod: Pod, settings: DnsSettings): ResolvConf {
  const { clusterDns, clusterDomain, host } = settings;
  if (pod.spec.dnsPolicy === 'None') return { servers: [], searches: [], options: [] };
  if (!usesClusterDns(pod) || clusterDns.length === 0) return host;
  const ownSearches =
    clusterDomain === ''
      ? []
      : [`${pod.metadata.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
  return { servers: clusterDns, searches: unique([...ownSearches, ...host.searches]), options: ['ndots:5'] };
}

function usesClusterDns({ spec }: Pod): boolean {
  const policy = spec.dnsPolicy ?? 'ClusterFirst';
  return policy === 'ClusterFirstWithHostNet' || (policy === 'ClusterFirst' && spec.hostNetwork !== true);
}

function isWithoutClusterDns(pod: Pod, { clusterDns }: DnsSettings): boolean {
  return clusterDns.length === 0 && usesClusterDns(pod);
}

function missingClusterDns(pod: Pod): WaitingReason {
  const what =
    'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';
  return { reason: 'MissingClusterDNS', message: `pod: "${describePod(pod)}". ${what}` };
}

/**
 * Enforces the limits on the number of search domains, their individual length (longer ones crash some resolvers), and their total length.
 */
function boundSearches(searches: string[]): string[] {
  const bounded = searches.slice(0, MAX_SEARCHES).filter((search) => search.length <= MAX_SEARCH_DOMAIN_LENGTH);
  while (bounded.join(' ').length > MAX_SEARCH_LINE_LENGTH) bounded.pop();
  return bounded;
}

/** Merges resolver options; the pod's own override base options with the same name. */
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
