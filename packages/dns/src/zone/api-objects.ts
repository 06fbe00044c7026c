/** Fields of API objects that are used for DNS names, and the label that links an EndpointSlice to its service. */
import type { KubeObject } from '@podwright/kube-api';

export type DnsService = KubeObject & {
  spec?: {
    type?: string;
    /** The cluster IP; `None` if the service is headless. */
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

/** The label that specifies the service of an EndpointSlice. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
