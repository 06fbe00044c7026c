/** A kind served by an API server, with its names on the command line. */
export type ResourceKind = {
  group: string;
  version: string;
  kind: string;
  singular: string;
  plural: string;
  short: readonly string[];
  /** Names that stand for several kinds, such as `all`. */
  categories: readonly string[];
  namespaced: boolean;
  /** API verbs, such as `list`. */
  verbs: readonly string[];
  subresources: readonly string[];
};

/** Returns a kind's name as kubectl prints it before a slash: `deployment.apps`, `service`. */
export const qualifiedName = ({ singular, group }: Pick<ResourceKind, 'singular' | 'group'>): string =>
  group === '' ? singular : `${singular}.${group}`;
