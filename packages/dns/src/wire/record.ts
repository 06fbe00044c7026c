type Named = { name: string; ttl: number };

export type AddressRecord = Named & { type: 'A' | 'AAAA'; address: string };
export type NameRecord = Named & { type: 'CNAME' | 'PTR' | 'NS'; target: string };
export type ServiceRecord = Named & { type: 'SRV'; priority: number; weight: number; port: number; target: string };
export type TextRecord = Named & { type: 'TXT'; text: string };

/** Times in seconds. `minimum` is how long a negative answer may be cached (RFC 2308, section 4). */
export type AuthorityRecord = Named & {
  type: 'SOA';
  primary: string;
  mailbox: string;
  serial: number;
  refresh: number;
  retry: number;
  expire: number;
  minimum: number;
};

/** A resource record of class IN. `ttl` is in seconds. */
export type ResourceRecord = AddressRecord | NameRecord | ServiceRecord | TextRecord | AuthorityRecord;
