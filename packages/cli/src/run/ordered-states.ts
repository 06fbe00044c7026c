import { sleep } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { LogFollower } from './log-follower.ts';
import type { RunView } from './run-view.ts';

/** Maximum delay for showing a state while waiting for a log, which a busy node might send late. */
const LOG_WAIT_MS = 500;

/** Shows each pod's states in order. A state that reports a container's termination is shown after the container's log. */
export class OrderedStates {
  readonly #view: Pick<RunView, 'pod'>;
  readonly #logs: Pick<LogFollower, 'endsShown'> | undefined;
  /** For each pod, by UID: resolves once the pod's latest state has been shown. */
  readonly #shown = new Map<string, Promise<void>>();

  constructor(view: Pick<RunView, 'pod'>, logs: Pick<LogFollower, 'endsShown'> | undefined) {
    this.#view = view;
    this.#logs = logs;
  }

  show(pod: Pod): void {
    const { uid } = pod.metadata;
    const before = this.#shown.get(uid);
    this.#shown.set(uid, this.#showAfter(before, pod));
  }

  /** Resolves once all states received so far have been shown. */
  async caughtUp(): Promise<void> {
    await Promise.all(this.#shown.values());
  }

  async #showAfter(before: Promise<void> | undefined, pod: Pod): Promise<void> {
    await before;
    const logs = this.#logs?.endsShown(pod);
    if (logs !== undefined) await Promise.race([logs, sleep(LOG_WAIT_MS)]);
    this.#view.pod(pod);
  }
}
