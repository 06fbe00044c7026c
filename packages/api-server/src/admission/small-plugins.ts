/** Small admission plugins that each add one thing to new objects. */

import { groupResource, type ObjectStore } from '@podwright/api-machinery';
import { type ApiObject, objectsAt, textAt, withValue } from '@podwright/kube-kinds';
import { type AdmissionPlugin, isWriteOf } from './admission-plugin.ts';

const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** Adds the not-ready taint to new nodes, so that no pods are scheduled to them before they are ready. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  mutate(attributes) {
    const { object } = attributes;
    const taints = objectsAt(object, 'spec', 'taints');
    const isTainted = taints.some(
      (taint) => textAt(taint, 'key') === NOT_READY.key && textAt(taint, 'effect') === NOT_READY.effect,
    );
    if (!isWriteOf(attributes, 'nodes', 'CREATE') || isTainted) return object;
    return withValue(object, ['spec', 'taints'], [...taints, NOT_READY]);
  },
};

const PROTECTION: ReadonlyMap<string, string> = new Map([
  ['persistentvolumes', 'kubernetes.io/pv-protection'],
  ['persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
  ['volumeattributesclasses.storage.k8s.io', 'kubernetes.io/vac-protection'],
]);

/** Adds a finalizer to volumes, claims and their classes, which a controller removes once the object is no longer in use. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  mutate(attributes) {
    const { object, resource, subresource, operation } = attributes;
    const finalizer = PROTECTION.get(groupResource(resource));
    const finalizers = object.metadata.finalizers ?? [];
    if (operation !== 'CREATE' || subresource !== '' || finalizer === undefined) return object;
    if (finalizers.includes(finalizer)) return object;
    return withValue(object, ['metadata', 'finalizers'], [...finalizers, finalizer]);
  },
};

const TOPOLOGY_LABELS = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/** Copies a node's zone and region labels to each pod bound to it. */
export function podTopologyLabels(store: ObjectStore): AdmissionPlugin {
  const withLabelsOf = (object: ApiObject, nodeName: string): ApiObject => {
    const node = store.get({ resource: 'nodes', namespace: '', name: nodeName })?.decode();
    const entries = Object.entries(node?.metadata.labels ?? {}).filter(([label]) => TOPOLOGY_LABELS.includes(label));
    if (entries.length === 0) return object;
    return withValue(object, ['metadata', 'labels'], { ...object.metadata.labels, ...Object.fromEntries(entries) });
  };
  return {
    name: 'PodTopologyLabels',
    mutate(attributes) {
      const { object, resource, subresource, operation } = attributes;
      if (groupResource(resource) !== 'pods' || operation !== 'CREATE') return object;
      if (subresource === '') return withLabelsOf(object, textAt(object, 'spec', 'nodeName'));
      const isBound = subresource === 'binding' && textAt(object, 'target', 'kind') === 'Node';
      return isBound ? withLabelsOf(object, textAt(object, 'target', 'name')) : object;
    },
  };
}
