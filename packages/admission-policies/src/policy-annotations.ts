import type { AdmissionAttributes } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import type { Evaluated } from './evaluate-policy.ts';

/** Longer values are cut, as in upstream: expressions may copy texts of the object. */
const MAX_VALUE_BYTES = 10 * 1024;

/** The audit annotations that policies compute for one request. */
export class PolicyAnnotations {
  readonly #values = new Map<string, Set<string>>();

  add({ metadata }: ApiObject, { annotations }: Evaluated): void {
    for (const annotation of annotations) {
      if ('problem' in annotation) continue;
      const key = `${metadata.name}/${annotation.key}`;
      this.#values.set(key, (this.#values.get(key) ?? new Set()).add(annotation.value));
    }
  }

  /** Adds the annotations to the audit event. Values of one annotation for several bindings or parameters are joined, as in upstream. */
  publish({ annotate }: AdmissionAttributes): void {
    for (const [key, values] of this.#values) annotate?.(key, cut([...values].join(', ')));
  }
}

const cut = (value: string): string =>
  Buffer.byteLength(value) <= MAX_VALUE_BYTES ? value : Buffer.from(value).toString('utf8', 0, MAX_VALUE_BYTES);
