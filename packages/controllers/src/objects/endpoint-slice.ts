import type { ObjectMeta } from '@podwright/kube-api';

export type AddressType = 'IPv4' | 'IPv6';

export type EndpointPort = { name?: string; port?: number; protocol?: string; appProtocol?: string };

/** A reference to an endpoint's pod. */
export type EndpointTarget = {
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  resourceVersion?: string;
};

export type Endpoint = {
  addresses: string[];
  conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean };
  hostname?: string;
  nodeName?: string;
  zone?: string;
  targetRef?: EndpointTarget;
  hints?: { forZones?: { name: string }[]; forNodes?: { name: string }[] };
};

/** A discovery.k8s.io/v1 EndpointSlice as the API server stores it. Empty lists can be null. */
export type EndpointSlice = {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  addressType: AddressType | (string & {});
  endpoints?: Endpoint[] | null;
  ports?: EndpointPort[] | null;
};

/** An EndpointSlice to create. The server generates the name. */
export type NewEndpointSlice = Omit<EndpointSlice, 'metadata' | 'endpoints'> & {
  metadata: Partial<ObjectMeta> & { generateName?: string; namespace: string };
  endpoints: Endpoint[];
};
