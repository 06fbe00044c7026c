import { isNotFound, PodwrightError } from '@podwright/base';
import type { ApiCall, KubernetesApi } from './kubernetes-api.ts';

/** Where the API serves the objects of a kind. */
export type ApiResource = { base: string; plural: string; namespaced: boolean };

/** Looks up the resources of kinds in the discovery documents, each of which is read only once. */
export class ApiResources {
  readonly #api: Pick<KubernetesApi, 'text'>;
  readonly #read = new Map<string, Promise<DiscoveredResource[]>>();

  constructor(api: Pick<KubernetesApi, 'text'>) {
    this.#api = api;
  }

  /** Returns the resource of a kind. Rejects with `invalid_argument` if the API does not have it. */
  async of({ apiVersion, kind }: { apiVersion: string; kind: string }): Promise<ApiResource> {
    const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const found = (await this.#resources(base, apiVersion)).find((one) => one.kind === kind && !one.name.includes('/'));
    if (found !== undefined) return { base, plural: found.name, namespaced: found.namespaced };
    this.#read.delete(base); // not cached, because the kind may be defined later
    throw unknownKind(kind, apiVersion, await this.#advice(apiVersion));
  }

  /** Makes later calls read the discovery documents again, because the API may have new kinds. */
  forget(): void {
    this.#read.clear();
  }

  /**
   * Returns a hint to append to the error message about an unknown kind: the versions of its group that the API serves, or that its
   * CustomResourceDefinition must be applied first.
   */
  async #advice(apiVersion: string): Promise<string> {
    const [group = '', version] = apiVersion.split('/');
    if (version === undefined) return '';
    const call: ApiCall = {
      method: 'GET',
      path: encodeURI(`/apis/${group}`),
      what: `look up the versions of ${group}`,
    };
    try {
      const { versions } = JSON.parse(await this.#api.text(call)) as { versions: { version: string }[] | null };
      const names = (versions ?? []).map((one) => one.version);
      return names.includes(version) ? '' : `; it has the group in ${names.join(', ')}`;
    } catch (error) {
      if (isNotFound(error)) return '; apply its CustomResourceDefinition first';
      throw error;
    }
  }

  #resources(base: string, apiVersion: string): Promise<DiscoveredResource[]> {
    const read = this.#read.get(base) ?? this.#discover(base, apiVersion);
    this.#read.set(base, read);
    return read;
  }

  async #discover(path: string, apiVersion: string): Promise<DiscoveredResource[]> {
    const call: ApiCall = { method: 'GET', path: encodeURI(path), what: `look up the kinds of ${apiVersion}` };
    try {
      return (JSON.parse(await this.#api.text(call)) as { resources: DiscoveredResource[] | null }).resources ?? [];
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  }
}

type DiscoveredResource = { name: string; kind: string; namespaced: boolean };

const unknownKind = (kind: string, apiVersion: string, advice: string) =>
  new PodwrightError(
    'invalid_argument',
    `the Kubernetes API of this node has no kind "${kind.slice(0, 60)}" in ${apiVersion.slice(0, 60)}${advice}`,
  );

/** Returns the path of an object, or of the collection if the name is empty. */
export function pathIn({ base, plural, namespaced }: ApiResource, namespace: string, name = ''): string {
  const collection = namespaced ? `${base}/namespaces/${encodeURIComponent(namespace)}/${plural}` : `${base}/${plural}`;
  return name === '' ? collection : `${collection}/${encodeURIComponent(name)}`;
}
