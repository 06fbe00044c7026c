import {
  ListPodSandboxResponseSchema,
  messagePages,
  type PodSandboxFilter,
  PodSandboxSchema,
  type RuntimeHandlers,
} from '@podwright/cri';
import { encodedList } from '@podwright/grpc';
import type { SandboxRecord } from '../../records/sandbox-record.ts';
import { criSandbox, matchesSandbox } from '../messages/sandbox-message.ts';
import type { CriServices } from '../services/services.ts';

type Needs = Pick<CriServices, 'sandboxes'>;

/** ListPodSandbox: lists sandboxes from memory, filtered by ID (or a prefix of it), state and labels. */
export function sandboxList({ sandboxes }: Needs): RuntimeHandlers['listPodSandbox'] {
  const response = encodedList({ list: ListPodSandboxResponseSchema, element: PodSandboxSchema }, criSandbox);
  return async ({ filter }) => response(select(sandboxes, filter));
}

/** StreamPodSandboxes: the same list as ListPodSandbox, split into several messages. */
export function sandboxStream({ sandboxes }: Needs): RuntimeHandlers['streamPodSandboxes'] {
  return async function* ({ filter }) {
    const found = select(sandboxes, filter);
    for await (const podSandboxes of messagePages(found, (some) => some.map(criSandbox))) yield { podSandboxes };
  };
}

function select(sandboxes: Needs['sandboxes'], filter: PodSandboxFilter | undefined): SandboxRecord[] {
  if (filter === undefined || filter.id === '')
    return sandboxes.list().filter((record) => matchesSandbox(record, filter));
  const record = sandboxes.find(filter.id);
  if (record === undefined) return [];
  return matchesSandbox(record, { ...filter, id: record.id }) ? [record] : [];
}
