import { PodwrightError } from '@podwright/base';
import { pathOf } from '@podwright/kube-api';
import type { ApiObject, ApiPort } from './api-port.ts';
import { qualifiedName, type ResourceKind } from './kinds/resource-kind.ts';

/** An object that a verb acts on. */
export type Target = { kind: ResourceKind; object: ApiObject; path: string };

/** The objects a verb acts on: those in `named` or, if it is empty, the objects of `kinds` that match the selector. */
export type TargetQuery = {
  kinds: readonly ResourceKind[];
  named: readonly { kind: ResourceKind; name: string }[];
  namespace: string;
  selector?: string;
  all?: boolean;
};

/** Returns an object's name as kubectl prints it: `deployment.apps/web`. */
export const targetName = ({ kind, object }: Target): string => `${qualifiedName(kind)}/${object.metadata.name}`;

/** Returns an object's name as in kubectl's errors: `deployments.apps "web"`. */
export const quotedTarget = ({ kind, object }: Target): string =>
  `${kind.plural}${kind.group === '' ? '' : `.${kind.group}`} "${object.metadata.name}"`;

/** Returns the kind as in kubectl's errors: `Job.batch`. */
export const kindText = ({ kind }: Pick<Target, 'kind'>): string =>
  kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;

/** Reads the objects. Rejects with `not_found` if a named object does not exist; a selector may match none. */
export async function readTargets(api: ApiPort, query: TargetQuery): Promise<Target[]> {
  const { kinds, named, namespace } = query;
  if (named.length > 0)
    return Promise.all(
      named.map(async ({ kind, name }) => {
        const path = pathOf(kind, { namespace, name });
        return targetOf(kind, (await api.call({ method: 'GET', path })) as ApiObject, path);
      }),
    );
  const lists = kinds.map(async (kind) => {
    const path = pathOf(kind, { namespace });
    const answer = await api.call({ method: 'GET', path, query: { labelSelector: query.selector } });
    return ((answer as { items: ApiObject[] | null }).items ?? []).map((object) =>
      targetOf(kind, object, pathOf(kind, { namespace: object.metadata.namespace, name: object.metadata.name })),
    );
  });
  return (await Promise.all(lists)).flat();
}

/** Returns the target for an object, with the kind and API version that list items lack. */
const targetOf = (kind: ResourceKind, object: ApiObject, path: string): Target => ({
  kind,
  path,
  object: {
    ...object,
    kind: kind.kind,
    apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
  },
});

/** Patches an object and returns the new object. */
export async function patchTarget(
  api: ApiPort,
  { path }: Pick<Target, 'path'>,
  { type, body }: { type: 'strategic-merge' | 'merge' | 'json'; body: unknown },
): Promise<ApiObject> {
  return (await api.call({ method: 'PATCH', path, body, contentType: `application/${type}-patch+json` })) as ApiObject;
}

/** Returns the error for a verb that the object's state does not permit. */
export const refused = (message: string): PodwrightError => new PodwrightError('failed_precondition', message);
