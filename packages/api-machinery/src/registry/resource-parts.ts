import type { Resource } from '@podwright/kube-schema';
import type { Admission } from '../admission-contract.ts';
import type { FieldManager } from '../managed-fields/field-manager.ts';
import type { ObjectStore } from '../store/object-store.ts';
import type { Allocate } from './allocation.ts';
import type { ServedKind } from './served-kind.ts';

/** Dependencies shared by the functions that read and write one resource. */
export type ResourceParts = {
  store: ObjectStore;
  kind: ServedKind;
  /** Returns the kind of another resource with the same stored objects, such as a different version. */
  kindIn: (resource: Resource) => ServedKind;
  admission: Admission;
  allocate: Allocate;
  /** Returns the field manager for writes to a subresource, or to the main resource if '' is passed. */
  fieldManager: (subresource: string) => FieldManager;
};
