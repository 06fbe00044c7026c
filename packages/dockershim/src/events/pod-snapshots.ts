import { errorCode, sleep } from '@podwright/base';
import {
  type ContainerEventResponseSchema,
  ContainerStatusRequestSchema,
  create,
  type MessageInitShape,
  PodSandboxStatusRequestSchema,
  type RuntimeHandlers,
} from '@podwright/cri';
import type { CallContext } from '@podwright/grpc';
import type { Engine } from '../engine/engine.ts';
import { unlessNotFound } from '../engine/unless-not-found.ts';
import { CONTAINER_TYPE, SANDBOX_ID_LABEL, TYPE_LABEL } from '../labels/labels.ts';
import { EVENTS_RETRY } from '../limits.ts';

type Event = MessageInitShape<typeof ContainerEventResponseSchema>;

/** The statuses of a sandbox and its containers. */
export type PodSnapshot = Pick<Event, 'podSandboxStatus' | 'containersStatuses'>;

/** The CRI calls that return the statuses of a sandbox and its containers. */
export type StatusVerbs = Pick<RuntimeHandlers, 'podSandboxStatus' | 'containerStatus'>;

/** Error codes of calls to an Engine that is unreachable or does not respond. */
const AWAY = ['unavailable', 'deadline_exceeded'];

/** Maximum number of pods whose last snapshot is cached. A cached snapshot is used for events that occurred before it was taken. */
const MAX_CACHED = 64;

/** Reads the pod statuses that are included in events. */
export class PodSnapshots {
  readonly #engine: Pick<Engine, 'containers'>;
  readonly #verbs: StatusVerbs;
  readonly #cached = new Map<string, { takenAtMs: number; snapshot: PodSnapshot }>();

  constructor(engine: Pick<Engine, 'containers'>, verbs: StatusVerbs) {
    this.#engine = engine;
    this.#verbs = verbs;
  }

  /**
   * Returns the pod's statuses as of `sinceMs` (in milliseconds since the epoch) or later. Waits while the Engine is unreachable, because
   * an event without statuses would mean that the pod was removed.
   */
  async take(sandboxId: string, sinceMs: number, context: CallContext): Promise<PodSnapshot> {
    const cached = this.#cached.get(sandboxId);
    const takenAtMs = Date.now();
    // a snapshot dated in the future was taken before the clock was set back
    if (cached !== undefined && cached.takenAtMs > sinceMs && cached.takenAtMs <= takenAtMs) return cached.snapshot;
    const snapshot = await this.#untilAnswered(sandboxId, context);
    this.#cached.delete(sandboxId);
    this.#cached.set(sandboxId, { takenAtMs, snapshot });
    if (this.#cached.size > MAX_CACHED) this.#cached.delete(this.#cached.keys().next().value!);
    return snapshot;
  }

  async #untilAnswered(sandboxId: string, context: CallContext): Promise<PodSnapshot> {
    for (;;) {
      try {
        return await this.#look(sandboxId, context);
      } catch (error) {
        if (!AWAY.includes(errorCode(error)) || context.signal.aborted) throw error;
        await sleep(EVENTS_RETRY.initialMs, context.signal);
      }
    }
  }

  async #look(sandboxId: string, context: CallContext): Promise<PodSnapshot> {
    const label = [`${TYPE_LABEL}=${CONTAINER_TYPE}`, `${SANDBOX_ID_LABEL}=${sandboxId}`];
    const listed = await this.#engine.containers.list({ label }, context.signal);
    const ask = create(PodSandboxStatusRequestSchema, { podSandboxId: sandboxId });
    const [sandbox, ...containers] = await Promise.all([
      unlessNotFound(this.#verbs.podSandboxStatus(ask, context)),
      ...listed.map(({ Id }) => {
        const one = create(ContainerStatusRequestSchema, { containerId: Id });
        return unlessNotFound(this.#verbs.containerStatus(one, context));
      }),
    ]);
    const statuses = containers.flatMap((answer) => answer?.status ?? []);
    return { podSandboxStatus: sandbox?.status, containersStatuses: statuses };
  }
}
