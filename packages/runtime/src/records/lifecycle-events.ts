import { Broadcast, type Subscription } from '@podwright/base';
import type { RecordTable } from '@podwright/metadata';
import { type ContainerRecord, HIDDEN_PHASES } from './container-record.ts';
import type { RecordClock } from './ids.ts';
import type { SandboxRecord } from './sandbox-record.ts';

/** What happened to the sandbox or container `id`, with the records of its pod as they were right then. */
export type LifecycleEvent = {
  id: string;
  kind: 'created' | 'started' | 'stopped' | 'deleted';
  atMs: number;
  sandbox: SandboxRecord | undefined;
  containers: ContainerRecord[];
};

/** What events are made from. */
export type LifecycleEventsDependencies = {
  sandboxes: RecordTable<SandboxRecord>;
  containers: RecordTable<ContainerRecord>;
  clock: RecordClock;
};

/**
 * Tells any number of subscribers what happened. An event is published after its record was put, so a list made after
 * `subscribe` shows what the events before it said.
 */
export class LifecycleEvents {
  readonly #broadcast = new Broadcast<LifecycleEvent>();
  readonly #dependencies: LifecycleEventsDependencies;

  constructor(dependencies: LifecycleEventsDependencies) {
    this.#dependencies = dependencies;
  }

  /** `subject` is the record that the event is about, as it was last: it may be gone from its table. */
  publish(kind: LifecycleEvent['kind'], subject: SandboxRecord | ContainerRecord): void {
    const { sandboxes, containers, clock } = this.#dependencies;
    const sandboxId = 'sandboxId' in subject ? subject.sandboxId : subject.id;
    const sandbox = sandboxes.get(sandboxId) ?? ('sandboxId' in subject ? undefined : subject);
    const isThere = (one: ContainerRecord) => one.sandboxId === sandboxId && !HIDDEN_PHASES.includes(one.state.phase);
    const pod = containers.list().filter(isThere);
    this.#broadcast.publish({ id: subject.id, kind, atMs: clock.now(), sandbox, containers: pod });
  }

  /** Everything published from this call on. */
  subscribe(signal: AbortSignal): Subscription<LifecycleEvent> {
    return this.#broadcast.subscribe(signal);
  }
}
