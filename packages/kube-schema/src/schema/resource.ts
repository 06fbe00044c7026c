/** Identifies a kind in requests and in discovery. */
export type GroupVersionKind = { group: string; version: string; kind: string };

/** A subresource, such as `status`, and the kind of its objects. */
export type Subresource = GroupVersionKind & {
  /** The verbs, in discovery order: `create`, `get`, `patch`, `update` and so on. */
  verbs: readonly string[];
};

/** A resource of the Kubernetes API, as in discovery. */
export type Resource = Subresource & {
  plural: string;
  singular: string;
  namespaced: boolean;
  shortNames?: readonly string[];
  /** The categories that the resource belongs to, such as `all` and `api-extensions`. */
  categories?: readonly string[];
  subresources?: Readonly<Record<string, Subresource>>;
  /** Whether a CustomResourceDefinition defines the resource. Its objects are not encoded as protobuf. */
  isCustom?: true;
  /** The version in which objects of a custom resource are stored. */
  storageVersion?: string;
  /** List kind of a custom kind, if its definition specifies one. */
  listKind?: string;
};

/** Returns the list kind for a kind, such as `PodList`. */
export const listKind = (kind: string): string => `${kind}List`;

/** Formats an `apiVersion`, such as `v1` or `apps/v1`. */
export const apiVersionOf = ({ group, version }: { group: string; version: string }): string =>
  group === '' ? version : `${group}/${version}`;

/**
 * Splits an `apiVersion` into group and version. Returns `undefined` if it contains more than one `/`, which ParseGroupVersion rejects as
 * well.
 */
export function parseApiVersion(apiVersion: string): { group: string; version: string } | undefined {
  const parts = apiVersion.split('/');
  if (parts.length > 2) return undefined;
  return parts.length === 1 ? { group: '', version: parts[0]! } : { group: parts[0]!, version: parts[1]! };
}
