/** Identifies a kind in requests and in discovery. */
export type GroupVersionKind = { group: string; version: string; kind: string };

/** A subresource, such as `status`, with the kind of its objects. */
export type Subresource = GroupVersionKind & {
  /** The verbs in discovery's order: `create`, `get`, `patch`, `update` and so on. */
  verbs: readonly string[];
};

/** A built-in resource of Kubernetes' API, as in discovery. */
export type Resource = Subresource & {
  plural: string;
  singular: string;
  namespaced: boolean;
  shortNames?: readonly string[];
  /** For example `all` and `api-extensions`. */
  categories?: readonly string[];
  subresources?: Readonly<Record<string, Subresource>>;
};

/** The kind of a list of objects of this kind. */
export const listKind = (kind: string): string => `${kind}List`;

/** Formats an `apiVersion`: `v1`, or `apps/v1`. */
export const apiVersionOf = ({ group, version }: { group: string; version: string }): string =>
  group === '' ? version : `${group}/${version}`;

/** Splits an `apiVersion`; `undefined` if it has more than one `/`, which is invalid in Go as well. */
export function parseApiVersion(apiVersion: string): { group: string; version: string } | undefined {
  const parts = apiVersion.split('/');
  if (parts.length > 2) return undefined;
  return parts.length === 1 ? { group: '', version: parts[0]! } : { group: parts[0]!, version: parts[1]! };
}
