import type { AuthorityRecord } from '../wire/record.ts';
import type { ClusterRecords } from './cluster-records.ts';

/** TTL of the cluster's records: `ttl 30` of the configuration of CoreDNS that kubeadm installs. */
export const TTL_SECONDS = 30;

/** The SOA record of the cluster's domain, with the names and times of CoreDNS. It is in every negative answer (RFC 2308). */
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
