import type { IssueList } from '../issue.ts';
import type { ManifestObject } from '../objects/types.ts';
import { validateClaim, validateConfigMap, validateRuntimeClass, validateSecret } from './local-object.ts';
import { validatePod } from './pod.ts';

/** Adds an issue for each rule violated by the object. The object must be decoded and have its defaults set. */
export function validateObject(object: ManifestObject, issues: IssueList): void {
  switch (object.kind) {
    case 'Pod':
      return validatePod(object, issues);
    case 'ConfigMap':
      return validateConfigMap(object, issues);
    case 'Secret':
      return validateSecret(object, issues);
    case 'PersistentVolumeClaim':
      return validateClaim(object, issues);
    case 'RuntimeClass':
      return validateRuntimeClass(object, issues);
  }
}
