import type { NodeStatus } from '@podwright/kube-api';

/** What a runtime says that it can do, as the CRI has it. */
export type RuntimeAbilities = {
  handlers: { name: string; features?: { recursiveReadOnlyMounts: boolean; userNamespaces: boolean } }[];
  features: { supplementalGroupsPolicy: boolean } | undefined;
};

/** The same in a node's status, in the order of names: runtimes list their handlers in any. */
export function abilitiesStatus(told: RuntimeAbilities | undefined): Pick<NodeStatus, 'runtimeHandlers' | 'features'> {
  if (told === undefined) return {};
  const { handlers, features } = told;
  const named = handlers.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return {
    runtimeHandlers: named.map(
      ({ name, features: { recursiveReadOnlyMounts = false, userNamespaces = false } = {} }) => ({
        name,
        features: { recursiveReadOnlyMounts, userNamespaces },
      }),
    ),
    ...(features === undefined ? {} : { features: { supplementalGroupsPolicy: features.supplementalGroupsPolicy } }),
  };
}
