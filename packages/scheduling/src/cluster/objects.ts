/** The API object fields used by the scheduler, and the resources that kube-client does not define. */
import type { KubeObject, LabelSelector, NodeSelectorTerm, Resource } from '@podwright/kube-api';

export type Claim = KubeObject & {
  spec?: {
    volumeName?: string;
    storageClassName?: string;
    volumeAttributesClassName?: string;
    accessModes?: string[];
    volumeMode?: string;
    selector?: LabelSelector;
    resources?: { requests?: { storage?: string } };
  };
  status?: { phase?: string };
};

export type PersistentVolume = KubeObject & {
  spec?: {
    capacity?: { storage?: string };
    claimRef?: { namespace?: string; name?: string; uid?: string };
    accessModes?: string[];
    volumeMode?: string;
    storageClassName?: string;
    volumeAttributesClassName?: string;
    nodeAffinity?: { required?: { nodeSelectorTerms: NodeSelectorTerm[] } };
  };
  status?: { phase?: string };
};

export type StorageClass = KubeObject & {
  provisioner?: string;
  volumeBindingMode?: string;
  allowedTopologies?: { matchLabelExpressions?: { key: string; values: string[] }[] }[];
};

/** A PodDisruptionBudget. */
export type Budget = KubeObject & {
  spec?: { selector?: LabelSelector };
  status?: { disruptionsAllowed?: number; disruptedPods?: Record<string, string> };
};

export const BUDGETS: Resource = {
  group: 'policy',
  version: 'v1',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  namespaced: true,
};

/** Whether a pod is in a terminal phase (Succeeded or Failed), in which it no longer uses any resources. */
export function hasEnded({ status }: { status?: { phase?: string } }): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
