import type { FieldPath } from '../issue.ts';
import type { ManifestObject } from '../objects/types.ts';

/**
 * Something to know about an object before it is there. With a `problem` its pod does not run, or not yet; a `note` is what will
 * not be as a cluster would have it.
 */
export type Finding = {
  severity: 'problem' | 'note';
  kind: string;
  /** '' for kinds without namespaces. */
  namespace: string;
  name: string;
  /** The field; empty for the whole object. */
  path: FieldPath;
  message: string;
};

/** What is found about one object. */
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
