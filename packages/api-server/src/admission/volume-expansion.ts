import type { ObjectStore } from '@podwright/api-machinery';
import { compareQuantities } from '@podwright/kube-api';
import { type ApiObject, booleanAt, textAt } from '@podwright/kube-kinds';
import { type AdmissionPlugin, isWriteOf, rejected } from './admission-plugin.ts';
import { claimClass } from './resources/claim-class.ts';

/** Allows a claim to grow only if its StorageClass supports volume expansion. */
export function persistentVolumeClaimResize(store: ObjectStore): AdmissionPlugin {
  return {
    name: 'PersistentVolumeClaimResize',
    validate(attributes) {
      const { object, oldObject } = attributes;
      if (!isWriteOf(attributes, 'persistentvolumeclaims', 'UPDATE')) return;
      if (compareQuantities(sizeOf(object), sizeOf(oldObject)) <= 0) return;
      if (textAt(oldObject, 'status', 'phase') !== 'Bound')
        throw rejected(attributes, 'Only bound persistent volume claims can be expanded');
      const name = claimClass(object) ?? '';
      const isSame = name !== '' && name === claimClass(oldObject);
      const key = { resource: 'storageclasses.storage.k8s.io', namespace: '', name };
      if (isSame && booleanAt(store.get(key)?.decode(), 'allowVolumeExpansion')) return;
      throw rejected(
        attributes,
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      );
    },
  };
}

const sizeOf = (claim: ApiObject | undefined): string =>
  textAt(claim, 'spec', 'resources', 'requests', 'storage') || '0';
