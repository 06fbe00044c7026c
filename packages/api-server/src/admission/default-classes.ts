/** Sets the default StorageClass or IngressClass on objects that do not name a class. */

import type { ObjectStore } from '@podwright/api-machinery';
import { type ApiObject, textAt, valueAt, withValue } from '@podwright/kube-kinds';
import { type AdmissionPlugin, isWriteOf } from './admission-plugin.ts';
import { claimClass } from './resources/claim-class.ts';

const STORAGE_ANNOTATIONS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];
const INGRESS_ANNOTATIONS = ['ingressclass.kubernetes.io/is-default-class'];

/** Sets the default StorageClass on PersistentVolumeClaims that do not name one. '' explicitly requests no class and is left unchanged. */
export function defaultStorageClass(store: ObjectStore): AdmissionPlugin {
  return {
    name: 'DefaultStorageClass',
    mutate(attributes) {
      const { object } = attributes;
      if (!isWriteOf(attributes, 'persistentvolumeclaims', 'CREATE') || claimClass(object) !== undefined) return object;
      const name = defaultOf(store, 'storageclasses.storage.k8s.io', STORAGE_ANNOTATIONS);
      return name === undefined ? object : withValue(object, ['spec', 'storageClassName'], name);
    },
  };
}

/** Sets the default IngressClass on Ingresses that do not name one. */
export function defaultIngressClass(store: ObjectStore): AdmissionPlugin {
  return {
    name: 'DefaultIngressClass',
    mutate(attributes) {
      const { object } = attributes;
      const isNamed =
        valueAt(object, 'spec', 'ingressClassName') !== undefined ||
        valueAt(object, 'metadata', 'annotations', 'kubernetes.io/ingress.class') !== undefined;
      if (!isWriteOf(attributes, 'ingresses.networking.k8s.io', 'CREATE') || isNamed) return object;
      const name = defaultOf(store, 'ingressclasses.networking.k8s.io', INGRESS_ANNOTATIONS);
      return name === undefined ? object : withValue(object, ['spec', 'ingressClassName'], name);
    },
  };
}

/** Returns the name of the newest class with one of the annotations set to `true`. Ties are broken by name. */
function defaultOf(store: ObjectStore, resource: string, annotations: readonly string[]): string | undefined {
  const isDefault = (one: ApiObject) =>
    annotations.some((name) => textAt(one, 'metadata', 'annotations', name) === 'true');
  const defaults = store
    .list(resource)
    .objects.map((object) => object.decode())
    .filter(isDefault);
  const [newest] = defaults.sort((a, b) => timeOf(b) - timeOf(a)); // the sort is stable, and lists are sorted by name
  return newest?.metadata.name;
}

const timeOf = ({ metadata }: ApiObject): number => Date.parse(metadata.creationTimestamp ?? '') || 0;
