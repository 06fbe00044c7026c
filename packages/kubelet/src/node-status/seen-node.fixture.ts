import type { Node } from '@podwright/kube-api';
import { nodeSettings } from '@podwright/kubelet-configuration';
import { initialNode, type NodeIdentity } from './initial-node.ts';
import type { ObservedNode } from './observed-node.ts';

export const AT = Date.parse('2026-11-23T10:00:00Z');

/** A node observation of a healthy host, from which the tests compute the node status. */
export function seen(given: Partial<ObservedNode> = {}): ObservedNode {
  return {
    atMs: AT,
    addresses: [
      { type: 'InternalIP', address: '10.0.0.7' },
      { type: 'Hostname', address: 'n1' },
    ],
    externalCloudProvider: false,
    providedIps: undefined,
    capacity: { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi', pods: '110' },
    reserved: { memory: '100Mi' },
    devices: { capacity: {}, allocatable: {} },
    nodeInfo: {
      ...{ machineID: 'm', systemUUID: 's', bootID: 'b1', kernelVersion: '6.18', osImage: 'Debian' },
      ...{ containerRuntimeVersion: 'podwright://0.1.0', kubeletVersion: 'v1.36.0', kubeProxyVersion: '' },
      ...{ operatingSystem: 'linux', architecture: 'amd64' },
    },
    port: 10250,
    images: [{ names: ['a@sha256:1', 'a:1'], sizeBytes: 5 }],
    declaredFeatures: ['F'],
    pressure: { memory: false, disk: false, pids: false },
    problems: [],
    volumesInUse: [],
    ...given,
  };
}

export const identity = (given: Partial<NodeIdentity> = {}): NodeIdentity => ({
  ...{ name: 'n1', labels: {}, settings: nodeSettings() },
  ...given,
});

/** The registered node object of a healthy host. */
export function registered(given: Partial<ObservedNode> = {}): Node {
  const { node } = initialNode(identity(), seen(given));
  return { ...node, metadata: { ...node.metadata, uid: 'uid-1', resourceVersion: '10' } };
}
