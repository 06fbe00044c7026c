import { matchesLabels, type PodSandboxFilter, PodSandboxState, type RuntimeHandlers } from '@podwright/cri';
import type { SandboxCheckpoint } from '../checkpoints/checkpoint.ts';
import type { ContainerFilter } from '../engine/engine-containers.ts';
import type { ContainerSummary } from '../engine/engine-types.ts';
import { criMarks, SANDBOX_TYPE, TYPE_LABEL } from '../labels/labels.ts';
import type { SandboxDependencies } from './sandbox-dependencies.ts';
import { decodeDetails } from './sandbox-details.ts';
import { sandboxIdentity } from './sandbox-identity.ts';

/** A sandbox as it appears in lists and statuses. */
type Sandbox = {
  id: string;
  metadata: { name: string; namespace: string; uid: string; attempt: number };
  state: PodSandboxState;
  createdAt: bigint;
  labels: Record<string, string>;
  annotations?: Record<string, string>;
  runtimeHandler?: string;
};

/**
 * ListPodSandbox: returns the sandboxes from a single Engine list, plus the checkpoints whose container no longer exists. The latter are
 * listed as not ready so that the client removes them.
 */
export function sandboxList(dependencies: SandboxDependencies): RuntimeHandlers['listPodSandbox'] {
  return async ({ filter }, { signal }) => {
    const { services, checkpoints, unfinished } = dependencies;
    const isReadyOnly = filter?.state?.state === PodSandboxState.SANDBOX_READY;
    // read before the Engine's list; otherwise a sandbox created in between would look like a checkpoint without a container
    const checkpointed = isReadyOnly ? [] : await checkpoints.ids();
    const found = await services.engine.lists.list(engineFilter(filter), signal);
    const listed = found.flatMap((container) => listedSandbox(container, unfinished) ?? []);
    const withContainer = new Set(found.map(({ Id }) => Id));
    const orphans = checkpointed.filter((id) => !withContainer.has(id) && id.startsWith(filter?.id ?? ''));
    const read = await Promise.all(orphans.map(async (id) => ({ id, checkpoint: await checkpoints.read(id) })));
    const withoutContainer = read.flatMap(({ id, checkpoint }) =>
      checkpoint ? [checkpointedSandbox(id, checkpoint)] : [],
    );
    return { items: [...listed, ...withoutContainer].filter((sandbox) => matches(sandbox, filter)) };
  };
}

/**
 * Returns the part of the filter that is passed to the Engine. It must not exclude a sandbox with a checkpoint, which would then seem to
 * have lost its container.
 */
export function engineFilter(filter: PodSandboxFilter | undefined): ContainerFilter {
  const type = `${TYPE_LABEL}=${SANDBOX_TYPE}`;
  if (filter?.state?.state !== PodSandboxState.SANDBOX_READY) return { label: [type], ...idOf(filter) };
  const labels = Object.entries(filter.labelSelector).map(([name, value]) => `${name}=${value}`);
  return { label: [type, ...labels], status: ['running'], ...idOf(filter) };
}

const idOf = (filter: PodSandboxFilter | undefined): ContainerFilter =>
  filter === undefined || !/^[0-9a-f]+$/.test(filter.id) ? {} : { id: [filter.id] };

/** Returns the list entry for a sandbox's container, or `undefined` for any other container. */
export function listedSandbox(container: ContainerSummary, unfinished: ReadonlySet<string>): Sandbox | undefined {
  const { Id, Labels, Names, State, Created } = container;
  const identity = sandboxIdentity({ names: Names, labels: Labels });
  if (identity === undefined) return undefined;
  const details = decodeDetails(Labels);
  const isReady = State === 'running' && !unfinished.has(Id);
  return {
    id: Id,
    metadata: metadataOf({ ...identity, name: identity.podName }),
    state: isReady ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY,
    createdAt: details?.createdAtNs ?? BigInt(Created) * 1_000_000_000n,
    ...criMarks(Labels),
    runtimeHandler: details?.runtimeHandler ?? '',
  };
}

/** Returns the list entry for a sandbox whose container no longer exists. The entry has only the kubelet's standard labels. */
export function checkpointedSandbox(id: string, checkpoint: SandboxCheckpoint): Sandbox {
  const { name, namespace, uid, createdAtMs } = checkpoint;
  return {
    id,
    metadata: metadataOf(checkpoint),
    state: PodSandboxState.SANDBOX_NOTREADY,
    createdAt: BigInt(Math.trunc(createdAtMs)) * 1_000_000n,
    labels: {
      'io.kubernetes.pod.name': name,
      'io.kubernetes.pod.namespace': namespace,
      'io.kubernetes.pod.uid': uid,
    },
  };
}

/** Copies only the fields of the CRI's sandbox metadata. */
export function metadataOf(pod: Sandbox['metadata']): Sandbox['metadata'] {
  const { name, namespace, uid, attempt } = pod;
  return { name, namespace, uid, attempt };
}

function matches({ id, state, labels }: Sandbox, filter: PodSandboxFilter | undefined): boolean {
  if (filter === undefined) return true;
  if (!id.startsWith(filter.id) || (filter.state !== undefined && filter.state.state !== state)) return false;
  return matchesLabels(labels, filter.labelSelector);
}
