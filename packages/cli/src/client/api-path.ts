/**
 * Finds the API paths of objects of any kind in a node's Kubernetes API. Loaded lazily: only manifests with kinds that a standalone node
 * lacks need it.
 */
import { errorCode, errorMessage } from '@podwright/base';
import { ApiResources, inApplyOrder, isGround, pathIn } from '@podwright/node-api/resources';
import { decodeAnything } from './answers.ts';
import type { UnixHttp } from './unix-http.ts';

/** An object in a manifest. Its namespace is ignored if its kind is cluster-scoped. */
export type ApiPlace = { apiVersion: string; kind: string; namespace: string; name: string };

/**
 * An object and its path in the API. `namespace` is '' for cluster-scoped objects. `isGround` marks namespaces and
 * CustomResourceDefinitions, which other objects depend on.
 */
export type LocatedObject<Place extends ApiPlace = ApiPlace> = Place & { path: string; isGround: boolean };

/**
 * Returns the objects with their API paths, in apply order. If the API lacks an object's kind, appends an error message to `missing` or, if
 * `missing` is unset, rejects with `invalid_argument`.
 */
export async function locate<Place extends ApiPlace>(
  http: UnixHttp,
  objects: readonly Place[],
  missing?: string[],
): Promise<LocatedObject<Place>[]> {
  const read = (path: string) => http.json({ method: 'GET', path }, decodeAnything);
  const resources = new ApiResources({ text: async ({ path }) => JSON.stringify(await read(path)) });
  const located = await Promise.all(
    inApplyOrder(objects).map(async (object): Promise<LocatedObject<Place>[]> => {
      const resource = await resources.of(object).catch((error: unknown) => {
        if (missing === undefined || errorCode(error) !== 'invalid_argument') throw error;
        missing.push(`delete ${object.kind.toLowerCase()} ${object.name}: ${errorMessage(error)}`);
        return undefined;
      });
      if (resource === undefined) return [];
      const path = pathIn(resource, object.namespace, object.name);
      return [{ ...object, namespace: resource.namespaced ? object.namespace : '', path, isGround: isGround(object) }];
    }),
  );
  return located.flat();
}
