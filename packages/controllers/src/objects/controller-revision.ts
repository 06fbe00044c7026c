import type { KubeObject, Resource } from '@podwright/kube-api';
import type { PodTemplate } from '../pods/pod-template.ts';

export const CONTROLLER_REVISIONS: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'controllerrevisions',
  kind: 'ControllerRevision',
  namespaced: true,
};

/** A patch that restores the template of a StatefulSet or DaemonSet. */
export type TemplatePatch = { spec: { template: PodTemplate & { $patch: 'replace' } } };

/** An apps/v1 ControllerRevision as the API server stores it. Its data never changes. */
export type ControllerRevision = KubeObject & {
  metadata: { name: string; namespace: string; uid: string };
  data?: TemplatePatch;
  /** The newest revision has the highest number. */
  revision: number;
};
