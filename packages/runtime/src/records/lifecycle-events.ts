import { Broadcast, type Subscription } from '@podwright/base';
import type { RecordTable } from '@podwright/metadata';
import { type ContainerRecord, HIDDEN_PHASES } from './container-record.ts';
import type { RecordClock } from './ids.ts';
import type { SandboxRecord } from './sandbox-record.ts';

/** A lifecycle event of the sandbox or container `id`, with the records of its pod at that time. */
export type LifecycleEvent = {
  id: string;
  kind: 'created' | 'started' | 'stopped' | 'deleted';
  atMs: number;
  sandbox: SandboxRecord | undefined;
  containers: ContainerRecord[];
};

export type LifecycleEventsDependencies = {
  sandboxes: RecordTable<SandboxRecord>;
  containers: RecordTable<ContainerRecord>;
  clock: RecordClock;
};

/**
 * Publishes lifecycle events to any number of subscribers. Events are published after the record has been written, so a client that
 * subscribes before it lists misses nothing.
 */
export class LifecycleEvents {
  readonly #broadcast = new Broadcast<LifecycleEvent>();
  readonly #dependencies: LifecycleEventsDependencies;

  constructor(dependencies: LifecycleEventsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Publishes an event. `subject` is the last record of the sandbox or container, which might already have been deleted from its table. */
  publish(kind: LifecycleEvent['kind'], subject: SandboxRecord | ContainerRecord): void {
    const { sandboxes, containers, clock } = this.#dependencies;
    const sandboxId = 'sandboxId' in subject ? subject.sandboxId : subject.id;
    const sandbox = sandboxes.get(sandboxId) ?? ('sandboxId' in subject ? undefined : subject);
    const isVisible = (one: ContainerRecord) => one.sandboxId === sandboxId && !HIDDEN_PHASES.includes(one.state.phase);
    const pod = containers.list().filter(isVisible);
    this.#broadcast.publish({ id: subject.id, kind, atMs: clock.now(), sandbox, containers: pod });
  }

  /** Subscribes to all later events. */
  subscribe(signal: AbortSignal): Subscription<LifecycleEvent> {
    return this.#broadcast.subscribe(signal);
  }
}
