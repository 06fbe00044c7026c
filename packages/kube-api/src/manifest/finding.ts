import type { FieldPath } from '../issue.ts';
import type { ManifestObject } from '../objects/types.ts';

/**
 * A message for the user about an object before it is applied. A `problem` keeps its pod from running, temporarily or permanently; a `note`
 * points out what works differently from a cluster.
 */
export type Finding = {
  severity: 'problem' | 'note';
  kind: string;
  /** The object's namespace; '' for cluster-scoped kinds. */
  namespace: string;
  name: string;
  /** Path of the field that the finding is about; empty for the whole object. */
  path: FieldPath;
  message: string;
};

/** Collects findings about one object. */
export class ObjectFindings {
  readonly list: Finding[] = [];
  readonly #object: Pick<Finding, 'kind' | 'namespace' | 'name'>;

  constructor({ kind, metadata }: ManifestObject) {
    this.#object = { kind, namespace: metadata.namespace, name: metadata.name };
  }

  problem(path: FieldPath, message: string): void {
    this.list.push({ severity: 'problem', ...this.#object, path, message });
  }

  note(path: FieldPath, message: string): void {
    this.list.push({ severity: 'note', ...this.#object, path, message });
  }
}
