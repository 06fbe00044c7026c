import {
  type ContainerSchema,
  type ContainerFilter as CriFilter,
  type MessageInitShape,
  matchesLabels,
  messagePages,
  type RuntimeHandlers,
} from '@podwright/cri';
import type { ContainerFilter } from '../engine/engine-containers.ts';
import type { ContainerSummary } from '../engine/engine-types.ts';
import { CONTAINER_TYPE, SANDBOX_ID_LABEL, TYPE_LABEL } from '../labels/labels.ts';
import { parseName } from '../labels/names.ts';
import { isOurs } from '../labels/ownership.ts';
import { engineStates, listedState } from './container-phase.ts';
import type { ContainerServices } from './container-services.ts';
import { givenMarks } from './details.ts';

type Listed = MessageInitShape<typeof ContainerSchema>;
type Needs = Pick<ContainerServices, 'engine'>;

/** ListContainers: sends a single filtered request to the Engine, or none if the list is cached. */
export function containerList(services: Needs): RuntimeHandlers['listContainers'] {
  return async ({ filter }, { signal }) => ({ containers: await select(services, filter, signal) });
}

/** StreamContainers: returns the same list as ListContainers, split across several messages. */
export function containerStream(services: Needs): RuntimeHandlers['streamContainers'] {
  return async function* ({ filter }, { signal }) {
    const found = await select(services, filter, signal);
    for await (const containers of messagePages(found, (some) => some)) yield { containers };
  };
}

async function select({ engine }: Needs, filter: CriFilter | undefined, signal: AbortSignal): Promise<Listed[]> {
  const asked = engineFilter(filter);
  if (asked === undefined) return [];
  const found = await engine.lists.list(asked, signal);
  const ours = found.filter(({ Names, Labels }) => isOurs(CONTAINER_TYPE, { names: Names, labels: Labels }));
  return ours.map(listedContainer).filter((container) => matches(container, filter));
}

/**
 * Returns the part of the filter that the Engine supports, or `undefined` if no container can match. The Engine treats IDs as patterns, so
 * `matches` checks them again.
 */
function engineFilter(filter: CriFilter | undefined): ContainerFilter | undefined {
  const label = [`${TYPE_LABEL}=${CONTAINER_TYPE}`];
  if (filter === undefined) return { label };
  const { id, podSandboxId, state, labelSelector } = filter;
  const isId = (text: string) => /^[0-9a-f]*$/.test(text);
  if (!isId(id) || !isId(podSandboxId)) return undefined;
  // the Engine compares only complete label values, so a sandbox ID prefix is checked by `matches`
  if (podSandboxId.length === FULL_ID_LENGTH) label.push(`${SANDBOX_ID_LABEL}=${podSandboxId}`);
  label.push(...Object.entries(labelSelector).map(([name, value]) => `${name}=${value}`));
  const status = state === undefined ? undefined : engineStates(state.state);
  if (status?.length === 0) return undefined;
  return { label, ...(id !== '' && { id: [id] }), ...(status !== undefined && { status }) };
}

/** Length of a full container ID in hexadecimal digits. */
const FULL_ID_LENGTH = 64;

function matches({ id = '', podSandboxId = '', labels = {} }: Listed, filter: CriFilter | undefined): boolean {
  if (filter === undefined) return true;
  if (!id.startsWith(filter.id) || !podSandboxId.startsWith(filter.podSandboxId)) return false;
  return matchesLabels(labels, filter.labelSelector);
}

function listedContainer(container: ContainerSummary): Listed {
  const { labels, annotations, userSpecifiedImage } = givenMarks(container.Labels);
  const { name, attempt } = container.Names.map(parseName).find((one) => one !== undefined)!;
  return {
    id: container.Id,
    podSandboxId: container.Labels[SANDBOX_ID_LABEL],
    metadata: { name, attempt },
    image: { image: container.Image, userSpecifiedImage },
    imageRef: container.ImageID,
    imageId: container.ImageID,
    state: listedState(container),
    createdAt: BigInt(container.Created) * 1_000_000_000n,
    labels,
    annotations,
  };
}
