import { errorCode, sleep } from '@podwright/base';
import {
  type CallContext,
  type ContainerEventResponseSchema,
  ContainerStatusRequestSchema,
  create,
  type MessageInitShape,
  PodSandboxStatusRequestSchema,
  type RuntimeHandlers,
} from '@podwright/cri';
import type { Engine } from '../engine/engine.ts';
import { unlessGone } from '../engine/unless-gone.ts';
import { CONTAINER_TYPE, SANDBOX_ID_LABEL, TYPE_LABEL } from '../labels/labels.ts';
import { EVENTS_RETRY } from '../limits.ts';

type Event = MessageInitShape<typeof ContainerEventResponseSchema>;

/** A sandbox and its containers as their status calls show them. */
export type PodSnapshot = Pick<Event, 'podSandboxStatus' | 'containersStatuses'>;

/** The verbs that tell how a pod is. */
export type StatusVerbs = Pick<RuntimeHandlers, 'podSandboxStatus' | 'containerStatus'>;

/** How calls fail while the Engine is away, or is not itself. */
const AWAY = ['unavailable', 'deadline_exceeded'];

/** Pods whose last snapshot is kept, for the events that came before it was taken. */
const MAX_KEPT = 64;

/** How pods are, for the events about them. */
export class PodSnapshots {
  readonly #engine: Pick<Engine, 'containers'>;
  readonly #verbs: StatusVerbs;
  readonly #kept = new Map<string, { takenAtMs: number; snapshot: PodSnapshot }>();

  constructor(engine: Pick<Engine, 'containers'>, verbs: StatusVerbs) {
    this.#engine = engine;
    this.#verbs = verbs;
  }

  /** How the pod was at `sinceMs` (since 1970) or later. An Engine that is away is waited for: an event without its pod says that it is gone. */
  async take(sandboxId: string, sinceMs: number, context: CallContext): Promise<PodSnapshot> {
    const kept = this.#kept.get(sandboxId);
    const takenAtMs = Date.now();
    // not one from before the clock was set back
    if (kept !== undefined && kept.takenAtMs > sinceMs && kept.takenAtMs <= takenAtMs) return kept.snapshot;
    const snapshot = await this.#untilAnswered(sandboxId, context);
    this.#kept.delete(sandboxId);
    this.#kept.set(sandboxId, { takenAtMs, snapshot });
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
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
      unlessGone(this.#verbs.podSandboxStatus(ask, context)),
      ...listed.map(({ Id }) => {
        const one = create(ContainerStatusRequestSchema, { containerId: Id });
        return unlessGone(this.#verbs.containerStatus(one, context));
      }),
    ]);
    const statuses = containers.flatMap((answer) => answer?.status ?? []);
    return { podSandboxStatus: sandbox?.status, containersStatuses: statuses };
  }
}
