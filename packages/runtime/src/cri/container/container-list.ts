import {
  type ContainerFilter,
  ContainerSchema,
  ListContainersResponseSchema,
  messagePages,
  type RuntimeHandlers,
} from '@podwright/cri';
import { encodedList } from '@podwright/grpc';
import type { ContainerRecord } from '../../records/container-record.ts';
import { criContainer, matchesContainer } from '../messages/container-message.ts';
import type { CriServices } from '../services/services.ts';

type Needs = Pick<CriServices, 'containers' | 'sandboxes'>;

/** ListContainers: lists containers from memory, filtered by ID and sandbox ID (prefixes are allowed), state and labels. */
export function containerList(services: Needs): RuntimeHandlers['listContainers'] {
  const response = encodedList({ list: ListContainersResponseSchema, element: ContainerSchema }, criContainer);
  return async ({ filter }) => response(select(services, filter));
}

/** StreamContainers: the same list as ListContainers, split into several messages. */
export function containerStream(services: Needs): RuntimeHandlers['streamContainers'] {
  return async function* ({ filter }) {
    const found = select(services, filter);
    for await (const containers of messagePages(found, (some) => some.map(criContainer))) yield { containers };
  };
}

function select({ containers, sandboxes }: Needs, filter: ContainerFilter | undefined): ContainerRecord[] {
  if (filter === undefined) return containers.list();
  const id = filter.id === '' ? '' : containers.find(filter.id)?.id;
  const podSandboxId = filter.podSandboxId === '' ? '' : sandboxes.find(filter.podSandboxId)?.id;
  if (id === undefined || podSandboxId === undefined) return [];
  return containers.list().filter((record) => matchesContainer(record, { ...filter, id, podSandboxId }));
}
