/** Deletes the objects of a namespace on extension API servers (upstream, controller/namespace/deletion). */
import { isRecord, parseBoundedJson } from '@podwright/base';
import { type JsonObject, numberAt, objectsAt, textAt, textsAt, type UserInfo } from '@podwright/kube-kinds';
import type { Backend } from '../backends/backend.ts';
import { askExtension, type ExtensionParts, extensionBackend } from './extension-backend.ts';
import type { ExtensionDocuments } from './extension-documents.ts';
import type { GroupVersionName, Registration } from './registration.ts';
import type { Registrations } from './registrations.ts';

/** A namespace's remaining objects after an attempt to delete them. */
export type ExtensionContent = {
  /** Number of remaining objects by resource, such as `things.example.com`. */
  objects: Map<string, number>;
  /** Group versions whose resources are unknown because their server could not be queried. */
  undiscovered: string[];
  errors: string[];
};

export type ContentParts = { registrations: Registrations; documents: ExtensionDocuments; extension: ExtensionParts };

/** The user as which this server deletes the objects: that of upstream's namespace controller. */
const CONTROLLER: UserInfo = {
  username: 'system:serviceaccount:kube-system:namespace-controller',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
};
const BOUNDS = { timeoutMs: 30_000, maxBytes: 16 << 20 };
/** Maximum number of JSON values in a list. */
const MAX_VALUES = 300_000;
/** Maximum number of objects that one attempt deletes individually. */
const MAX_OBJECTS = 500;

/** Deletes a namespace's objects on all extension API servers. Never rejects; errors are part of the result. */
export async function deleteExtensionContent(
  namespace: string,
  { registrations, documents, extension }: ContentParts,
  signal: AbortSignal,
): Promise<ExtensionContent> {
  const content: ExtensionContent = { objects: new Map(), undiscovered: [], errors: [] };
  const byName = new Map(registrations.all.map((one) => [`${one.version}.${one.group}`, one]));
  for (const { group, version, resources, isCurrent } of documents.versions) {
    const registration = byName.get(`${version}.${group}`);
    if (!isCurrent) content.undiscovered.push(`${group}/${version}`);
    if (!isCurrent || registration === undefined) continue;
    for (const resource of resources.filter(isDeletable)) {
      const name = `${textAt(resource, 'resource')}.${group}`;
      try {
        const deletion = new Deletion({ registration, resource, namespace }, extension, signal);
        const remaining = await deletion.run();
        if (remaining > 0) content.objects.set(name, remaining);
      } catch (error) {
        content.errors.push(`${name}: ${error instanceof Error ? error.message : error}`);
      }
    }
  }
  return content;
}

const isDeletable = (resource: JsonObject): boolean =>
  textAt(resource, 'scope') === 'Namespaced' &&
  ['delete', 'list'].every((verb) => textsAt(resource, 'verbs').includes(verb));

type Target = { registration: Registration; resource: JsonObject; namespace: string };

class Deletion {
  readonly #target: Target;
  readonly #extension: ExtensionParts;
  readonly #signal: AbortSignal;

  constructor(target: Target, extension: ExtensionParts, signal: AbortSignal) {
    this.#target = target;
    this.#extension = extension;
    this.#signal = signal;
  }

  /** Deletes the namespace's objects of one resource. Returns how many remain. */
  async run(): Promise<number> {
    const { registration, resource } = this.#target;
    const backend = await extensionBackend(registration, this.#extension);
    if (countOf(await this.#list(backend, 1)) === 0) return 0;
    if (textsAt(resource, 'verbs').includes('deletecollection')) await this.#ask(backend, 'DELETE', '');
    else await this.#deleteEach(backend);
    return countOf(await this.#list(backend, 1));
  }

  async #deleteEach(backend: Backend): Promise<void> {
    for (const object of objectsAt(await this.#list(backend, MAX_OBJECTS), 'items')) {
      const name = textAt(object, 'metadata', 'name');
      await this.#ask(backend, 'DELETE', `/${encodeURIComponent(name)}`);
    }
  }

  async #list(backend: Backend, limit: number): Promise<JsonObject> {
    const value = parseBoundedJson(await this.#ask(backend, 'GET', `?limit=${limit}`), MAX_VALUES);
    return isRecord(value) ? value : {};
  }

  async #ask(backend: Backend, method: 'GET' | 'DELETE', rest: string): Promise<Buffer> {
    const { registration, resource, namespace } = this.#target;
    const plural = encodeURIComponent(textAt(resource, 'resource'));
    const base = `${pathOf(registration)}/namespaces/${namespace}/${plural}${rest}`;
    const path = method === 'DELETE' ? `${base}?propagationPolicy=Background` : base;
    const headers = { accept: 'application/json' };
    const call = { method, path, user: CONTROLLER, headers, ...BOUNDS, signal: this.#signal };
    const { status, body } = await askExtension(backend, call);
    if (status >= 300 && !(method === 'DELETE' && status === 404))
      throw new Error(`${method} ${path}: the server answered with the status ${status}`);
    return body;
  }
}

const pathOf = ({ group, version }: GroupVersionName): string => `/apis/${group}/${version}`;

const countOf = (list: JsonObject): number =>
  objectsAt(list, 'items').length + (numberAt(list, 'metadata', 'remainingItemCount') ?? 0);
