import {
  type Container,
  ContainerSchema,
  ContainerState,
  type ContainerStatus,
  ContainerStatusSchema,
  create,
  type PodSandbox,
  PodSandboxSchema,
  PodSandboxState,
  type PodSandboxStatus,
  PodSandboxStatusSchema,
} from '@podwright/cri';
import type { RecordedContainer, RecordedObject, RecordedSandbox } from './recorded-objects.ts';
import type { Timeline } from './timeline.ts';

/** A sandbox or container in a replay: the recorded object, but with the names from the client's request and current timestamps. */
abstract class ReplayedObject<Status extends { state: State }, State> {
  readonly recorded: RecordedObject<Status, State, { labels: Record<string, string> }>;
  readonly timeline: Timeline;
  isMade: boolean;
  isRemoved = false;
  /** When the client stopped the object, in ms since the epoch, if that stop was not recorded. */
  stoppedAtMs: number | undefined;

  constructor(recorded: RecordedObject<Status, State, { labels: Record<string, string> }>, timeline: Timeline) {
    this.recorded = recorded;
    this.timeline = timeline;
    this.isMade = recorded.madeBy === undefined;
  }

  get isVisible(): boolean {
    return this.isMade && !this.isRemoved;
  }

  /** Returns the object's last state recorded up to `recordedMs` or, if there is none, its first recorded state. */
  recordedState(recordedMs: number): State | undefined {
    const { states } = this.recorded;
    return (states.findLast(({ atMs }) => atMs <= recordedMs) ?? states[0])?.value;
  }

  /**
   * Returns the object's last status with this state recorded up to `recordedMs` or, if there is none, the first recorded status with this
   * state. If no recorded status has this state, returns the last status.
   */
  recordedStatus(state: State | undefined, recordedMs: number): Status | undefined {
    const { statuses } = this.recorded;
    const ofState = statuses.filter(({ value }) => value.state === state);
    return (ofState.findLast(({ atMs }) => atMs <= recordedMs) ?? ofState[0] ?? statuses.at(-1))?.value;
  }
}

/** A sandbox in a replay. */
export class ReplayedSandbox extends ReplayedObject<PodSandboxStatus, PodSandboxState> {
  declare readonly recorded: RecordedSandbox;

  entry(recordedMs: number): PodSandbox {
    const status = this.status(recordedMs);
    const { id, metadata, state, createdAt, labels, annotations, runtimeHandler } = status;
    return create(PodSandboxSchema, { id, metadata, state, createdAt, labels, annotations, runtimeHandler });
  }

  status(recordedMs: number): PodSandboxStatus {
    const { id, config, runtimeHandler, madeBy } = this.recorded;
    const { SANDBOX_READY, SANDBOX_NOTREADY } = PodSandboxState;
    const recordedState = this.recordedState(recordedMs) ?? SANDBOX_READY;
    const state = this.stoppedAtMs === undefined ? recordedState : SANDBOX_NOTREADY;
    const status = this.recordedStatus(state, recordedMs);
    const made = BigInt(Math.round((madeBy?.endMs ?? 0) * 1e6));
    return create(PodSandboxStatusSchema, {
      ...(status ?? { id, runtimeHandler }),
      metadata: config?.metadata,
      labels: config?.labels ?? {},
      annotations: config?.annotations ?? {},
      state,
      createdAt: this.timeline.realNs(status?.createdAt || made),
    });
  }
}

/** A container in a replay. */
export class ReplayedContainer extends ReplayedObject<ContainerStatus, ContainerState> {
  declare readonly recorded: RecordedContainer;
  /** The log path from the client's request. It differs from the recorded path in the pod's UID. */
  logPath: string | undefined;

  entry(recordedMs: number): Container {
    const { entries, sandboxId: podSandboxId } = this.recorded;
    const entry = (entries.findLast(({ atMs }) => atMs <= recordedMs) ?? entries[0])?.value;
    const { id, metadata, state, createdAt, labels, annotations, image, imageRef, imageId } = this.status(recordedMs);
    const images = entry ?? { image, imageRef, imageId };
    return create(ContainerSchema, {
      ...{ id, podSandboxId, metadata, state, createdAt, labels, annotations },
      ...{ image: images.image, imageRef: images.imageRef, imageId: images.imageId },
    });
  }

  status(recordedMs: number): ContainerStatus {
    const { id, config, madeBy } = this.recorded;
    const { CONTAINER_EXITED, CONTAINER_UNKNOWN } = ContainerState;
    const recordedState = this.recordedState(recordedMs) ?? CONTAINER_UNKNOWN;
    const state = this.stoppedAtMs === undefined ? recordedState : CONTAINER_EXITED;
    const status = this.recordedStatus(state, recordedMs);
    const made = BigInt(Math.round((madeBy?.endMs ?? 0) * 1e6));
    const real = (ns: bigint | undefined) => this.timeline.realNs(ns ?? 0n);
    const isStopped = state === CONTAINER_EXITED && status?.state !== CONTAINER_EXITED;
    return create(ContainerStatusSchema, {
      ...(status ?? { id, image: config?.image }),
      metadata: config?.metadata,
      labels: config?.labels ?? {},
      annotations: config?.annotations ?? {},
      state,
      createdAt: this.timeline.realNs(status?.createdAt || made),
      startedAt: real(status?.startedAt),
      finishedAt: isStopped ? BigInt(Math.round((this.stoppedAtMs ?? 0) * 1e6)) : real(status?.finishedAt),
      ...(isStopped && { reason: 'Completed' }),
      ...(this.logPath !== undefined && { logPath: this.logPath }),
    });
  }
}
