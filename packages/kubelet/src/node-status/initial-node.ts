import type { Node } from '@podwright/kube-api';
import type { NodeSettings } from '@podwright/kubelet-configuration';
import { standardLabels } from '../node/node-facts.ts';
import type { ObservedNode } from './observed-node.ts';
import { type NodeUpdate, updateNode } from './update-node.ts';

/** Annotation that leaves attaching this node's volumes to the cluster's attach-detach controller. */
export const CONTROLLER_ATTACHES = 'volumes.kubernetes.io/controller-managed-attach-detach';

/** Taint that keeps pods off a node until the cloud controller has initialized it. */
const UNINITIALIZED = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };

export type NodeIdentity = {
  name: string;
  /** Labels from `--node-labels`, which override the standard labels. */
  labels: Readonly<Record<string, string>>;
  settings: NodeSettings;
};

/** Builds the Node object for registration, plus the events for its first status. */
export function initialNode({ name, labels, settings }: NodeIdentity, seen: ObservedNode): NodeUpdate {
  const taints = settings.externalCloudProvider ? [...settings.taints, UNINITIALIZED] : settings.taints;
  const bare: Node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { ...standardLabels(name), ...labels },
      ...(settings.controllerAttachDetach ? { annotations: { [CONTROLLER_ATTACHES]: 'true' } } : {}),
    },
    spec: {
      ...(taints.length > 0 ? { taints } : {}),
      ...(settings.providerId === '' ? {} : { providerID: settings.providerId }),
    },
  };
  const update = updateNode(bare, seen);
  // updateNode sets the os and arch labels, but at registration --node-labels may override them
  return { ...update, node: { ...update.node, metadata: { ...update.node.metadata, labels: bare.metadata.labels! } } };
}
