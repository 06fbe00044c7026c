import type { AuthorityRecord } from '../wire/record.ts';
import type { ClusterRecords } from './cluster-records.ts';

/** TTL of cluster records: `ttl 30` in kubeadm's CoreDNS configuration. */
export const TTL_SECONDS = 30;

/**
 * Returns the SOA record of the cluster's domain, with the same names and times as in CoreDNS. Included in every negative answer (RFC
 * 2308).
 */
export function authorityOf({ domain, serial }: ClusterRecords): AuthorityRecord {
  return {
    name: domain,
    ttl: TTL_SECONDS,
    type: 'SOA',
    primary: `ns.dns.${domain}`,
    mailbox: `hostmaster.${domain}`,
    serial,
    refresh: 7200,
    retry: 1800,
    expire: 86_400,
    minimum: TTL_SECONDS,
  };
}
