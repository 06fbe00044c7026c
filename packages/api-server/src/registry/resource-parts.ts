import type { Admission } from '../admission-contract.ts';
import type { FieldManager } from '../managed-fields/field-manager.ts';
import type { ObjectStore } from '../store/object-store.ts';
import type { ServedKind } from './served-kind.ts';

/** The parts that the functions of a resource share. */
export type ResourceParts = {
  store: ObjectStore;
  kind: ServedKind;
  admission: Admission;
  /** The field manager for writes of a subresource; '' for the main resource. */
  fieldManager: (subresource: string) => FieldManager;
};
