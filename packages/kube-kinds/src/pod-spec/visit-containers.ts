import { type JsonObject, objectsAt } from '../values.ts';

export type ContainerList = 'initContainers' | 'containers' | 'ephemeralContainers';

export type VisitedContainer = { container: JsonObject; list: ContainerList; index: number };

const LISTS: readonly ContainerList[] = ['initContainers', 'containers', 'ephemeralContainers'];

/** Returns all containers of a pod spec in upstream's order: init containers first, ephemeral ones last. */
export const containersOf = (
  spec: JsonObject | undefined,
  lists: readonly ContainerList[] = LISTS,
): VisitedContainer[] =>
  lists.flatMap((list) =>
    [...objectsAt(spec, list).entries()].map(([index, container]) => ({ container, list, index })),
  );
