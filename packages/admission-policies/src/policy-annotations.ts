import type { AdmissionAttributes } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import type { Evaluated } from './evaluate-policy.ts';

/**
 * Maximum size of an audit annotation's value. As in upstream, longer values are truncated, because expressions can copy text from the
 * request's object.
 */
const MAX_VALUE_BYTES = 10 * 1024;

/** The audit annotations computed by policies for one request. */
export class PolicyAnnotations {
  readonly #values = new Map<string, Set<string>>();

  add({ metadata }: ApiObject, { annotations }: Evaluated): void {
    for (const annotation of annotations) {
      if ('problem' in annotation) continue;
      const key = `${metadata.name}/${annotation.key}`;
      this.#values.set(key, (this.#values.get(key) ?? new Set()).add(annotation.value));
    }
  }

  /** Adds the annotations to the audit event. Like upstream, joins an annotation's values from different bindings or parameters. */
  publish({ annotate }: AdmissionAttributes): void {
    for (const [key, values] of this.#values) annotate?.(key, cut([...values].join(', ')));
  }
}

const cut = (value: string): string =>
  Buffer.byteLength(value) <= MAX_VALUE_BYTES ? value : Buffer.from(value).toString('utf8', 0, MAX_VALUE_BYTES);
