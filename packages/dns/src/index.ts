export { ClientNetworks } from './server/client-networks.ts';
export { type DnsOptions, type DnsServer, startDns } from './start-dns.ts';
export type { Question } from './wire/read-query.ts';
export type { ResourceRecord } from './wire/record.ts';
export { type Answer, answer } from './zone/answer.ts';
export type { ClusterRecords, EndpointRecord, PortRecord, ServiceEntry } from './zone/cluster-records.ts';
