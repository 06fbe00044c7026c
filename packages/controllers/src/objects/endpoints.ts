import type { ObjectMeta, Resource } from '@podwright/kube-api';
import type { EndpointTarget } from './endpoint-slice.ts';

export const ENDPOINTS: Resource = {
  group: '',
  version: 'v1',
  plural: 'endpoints',
  kind: 'Endpoints',
  namespaced: true,
};

export type EndpointAddress = { ip: string; hostname?: string; nodeName?: string; targetRef?: EndpointTarget };

export type SubsetPort = { name?: string; port: number; protocol?: string; appProtocol?: string };

export type EndpointSubset = {
  addresses?: EndpointAddress[];
  notReadyAddresses?: EndpointAddress[];
  ports?: SubsetPort[];
};

/** A v1 Endpoints object as the API server stores it. */
export type Endpoints = {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  subsets?: EndpointSubset[] | null;
};
