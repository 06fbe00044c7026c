/** DaemonSets (apps/v1), limited to the fields used by controllers. The API server has already set the defaults. */
import type { IntOrString, KubeObject, LabelSelector, Resource } from '@podwright/kube-api';
import type { Owner } from '../pods/controller-reference.ts';
import type { PodTemplate } from '../pods/pod-template.ts';

export const DAEMON_SETS: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'daemonsets',
  kind: 'DaemonSet',
  namespaced: true,
};

export type DaemonSetSpec = {
  selector: LabelSelector;
  template: PodTemplate;
  updateStrategy?: {
    type?: 'RollingUpdate' | 'OnDelete';
    rollingUpdate?: { maxSurge?: IntOrString; maxUnavailable?: IntOrString };
  };
  minReadySeconds?: number;
  revisionHistoryLimit?: number;
};

export type DaemonSetStatus = {
  observedGeneration?: number;
  desiredNumberScheduled?: number;
  currentNumberScheduled?: number;
  numberMisscheduled?: number;
  numberReady?: number;
  updatedNumberScheduled?: number;
  numberAvailable?: number;
  numberUnavailable?: number;
  collisionCount?: number;
};

export type DaemonSet = KubeObject & { metadata: Owner['metadata']; spec: DaemonSetSpec; status?: DaemonSetStatus };
