import type { ExtensionVersion } from '@podwright/api-documents';
import { Listeners } from '@podwright/base';
import { isSameValue } from '@podwright/kube-kinds';
import type { ReadDocuments } from './read-documents.ts';
import type { Registration } from './registration.ts';

type Known = { documents: ReadDocuments; isCurrent: boolean };

const NOTHING: Known = { documents: { resources: [] }, isCurrent: false };

type Registered = { readonly all: readonly Registration[]; onChange: (listener: () => void) => void };

/** The registered group versions, as described by their servers' documents. */
export class ExtensionDocuments {
  readonly #registrations: Registered;
  /** The documents of registered group versions, by name of their APIService. */
  readonly #known = new Map<string, Known>();
  readonly #changed = new Listeners();

  constructor(registrations: Registered) {
    this.#registrations = registrations;
    registrations.onChange(() => {
      const names = new Set(registrations.all.map(({ name }) => name));
      for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name);
      this.#changed.publish();
    });
  }

  /** The registered group versions, in the form needed for discovery and OpenAPI. */
  get versions(): ExtensionVersion[] {
    return this.#registrations.all.map(({ name, group, version, priority }) => {
      const { documents, isCurrent } = this.#known.get(name) ?? NOTHING;
      return { group, version, priority, ...documents, isCurrent };
    });
  }

  /** Calls `listener` after each change of the documents. */
  onChange(listener: () => void): void {
    this.#changed.subscribe(listener);
  }

  /** Sets the documents of a registered group version. `undefined`: they could not be read, so the previous ones are stale. */
  set(name: string, documents: ReadDocuments | undefined): void {
    const known = this.#known.get(name) ?? NOTHING;
    const next = { documents: documents ?? known.documents, isCurrent: documents !== undefined };
    if (isSameValue(known, next)) return;
    this.#known.set(name, next);
    this.#changed.publish();
  }
}
