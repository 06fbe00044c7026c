/** The fields of API objects that names are made of, and their resources. */
import type { KubeObject, Resource } from '@podwright/kube-api';

export type DnsService = KubeObject & {
  spec?: {
    type?: string;
    /** `None`: headless. */
    clusterIP?: string;
    clusterIPs?: string[];
    externalName?: string;
    ports?: { name?: string; protocol?: string; port: number }[];
  };
};

export type DnsEndpointSlice = KubeObject & {
  addressType?: string;
  endpoints?: DnsEndpoint[];
  ports?: { name?: string | null; protocol?: string | null; port?: number | null }[] | null;
};

export type DnsEndpoint = { addresses: string[]; conditions?: { ready?: boolean | null }; hostname?: string | null };

export const ENDPOINT_SLICES: Resource = {
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
};

export const NAMESPACES: Resource = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
};

/** The label of an EndpointSlice that names its service. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
