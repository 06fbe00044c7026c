/** Objects of any kind in the Kubernetes API of a node. Loaded late: only manifests with other kinds than those of a plain node need it. */
import { errorCode, errorMessage } from '@podwright/base';
import { ApiResources, inApplyOrder, isGround, pathIn } from '@podwright/node-api/resources';
import { decodeAnything } from './answers.ts';
import type { UnixHttp } from './unix-http.ts';

/** An object of a manifest. Its namespace is ignored if its kind has none. */
export type ApiPlace = { apiVersion: string; kind: string; namespace: string; name: string };

/**
 * An object with its path in the API. `namespace` is '' for an object of the cluster. `isGround`: a namespace or definition, without which
 * others cannot exist.
 */
export type LocatedObject<Place extends ApiPlace = ApiPlace> = Place & { path: string; isGround: boolean };

/**
 * Returns the objects with their paths, in the order in which they are applied. Rejects with `invalid_argument` if the API does not have
 * one of their kinds, unless there is a list `missing`, to which the messages are then added.
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
