/** What a kind is in requests and in discovery. */
export type GroupVersionKind = { group: string; version: string; kind: string };

/** A resource below another one, as `status`, with the kind of its objects. */
export type Subresource = GroupVersionKind & {
  /** Discovery's verbs, in their order: `create`, `get`, `patch`, `update` and so on. */
  verbs: readonly string[];
};

/** A built-in resource of Kubernetes' API, as discovery describes it. */
export type Resource = Subresource & {
  plural: string;
  singular: string;
  namespaced: boolean;
  shortNames?: readonly string[];
  /** `all` and `api-extensions`. */
  categories?: readonly string[];
  subresources?: Readonly<Record<string, Subresource>>;
};

/** The kind of a resource's lists. */
export const listKind = (kind: string): string => `${kind}List`;

/** `v1`, or `apps/v1`. */
export const apiVersionOf = ({ group, version }: { group: string; version: string }): string =>
  group === '' ? version : `${group}/${version}`;

/** The parts of an `apiVersion`; as in Go, more than one `/` is invalid: `undefined`. */
export function parseApiVersion(apiVersion: string): { group: string; version: string } | undefined {
  const parts = apiVersion.split('/');
  if (parts.length > 2) return undefined;
  return parts.length === 1 ? { group: '', version: parts[0]! } : { group: parts[0]!, version: parts[1]! };
}
