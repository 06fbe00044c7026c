import { Counter, type Registry } from '@podwright/base';
import { type ContainerStatus, findCondition, type Pod, type PodStatus } from '@podwright/kube-api';

/** What is remembered of a pod's last published status: the names of its terminated containers, and why a resize is pending. */
type Shown = { ended: ReadonlySet<string>; pending?: string | undefined };

const NOTHING: Shown = { ended: new Set() };

const LISTS = [
  ['init_container', 'initContainerStatuses'],
  ['container', 'containerStatuses'],
  ['ephemeral_container', 'ephemeralContainerStatuses'],
] as const;

/** Counts pod status changes. */
export class StatusMetrics {
  readonly #shown = new Map<string, Shown>();
  readonly #ended: Counter<'container_type' | 'exit_code' | 'reason'>;
  readonly #accepted: Counter<'retry_trigger'>;
  readonly #infeasible: Counter<'reason_detail'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#ended = new Counter({
      name: 'kubelet_terminated_containers_total',
      help: 'Cumulative number of container terminations.',
      labelNames: ['container_type', 'exit_code', 'reason'],
      registers,
    });
    this.#accepted = new Counter({
      name: 'kubelet_pod_deferred_accepted_resizes_total',
      help: 'Cumulative number of resizes that were accepted after being deferred.',
      labelNames: ['retry_trigger'],
      registers,
    });
    this.#infeasible = new Counter({
      name: 'kubelet_pod_infeasible_resizes_total',
      help: 'Number of infeasible resizes for pods.',
      labelNames: ['reason_detail'],
      registers,
    });
  }

  /** Records the pod's published status. */
  statusChanged({ metadata: { uid }, status }: Pod): void {
    if (status === undefined) return;
    const before = this.#shown.get(uid) ?? NOTHING;
    const ended = LISTS.flatMap(([type, list]) => endedIn(status[list]).map((one) => ({ type, ...one })));
    for (const { type, name, exitCode, reason = '' } of ended)
      if (!before.ended.has(name)) this.#ended.inc({ container_type: type, exit_code: String(exitCode), reason });
    const pending = conditionOf(status, 'PodResizePending')?.reason;
    // `retry_trigger` is always `periodic_retry` for an accepted resize, even if the removal of another pod triggered the retry
    if (before.pending === 'Deferred' && pending === undefined && conditionOf(status, 'PodResizeInProgress'))
      this.#accepted.inc({ retry_trigger: 'periodic_retry' });
    // `reason_detail` is always `swap_limitation` for an infeasible resize, whatever its reason
    if (before.pending !== 'Infeasible' && pending === 'Infeasible')
      this.#infeasible.inc({ reason_detail: 'swap_limitation' });
    this.#shown.set(uid, { ended: new Set(ended.map(({ name }) => name)), pending });
  }

  forget(podUid: string): void {
    this.#shown.delete(podUid);
  }
}

function endedIn(statuses: ContainerStatus[] = []) {
  return statuses.flatMap(({ name, state: { terminated } }) =>
    terminated === undefined ? [] : [{ name, ...terminated }],
  );
}

const conditionOf = ({ conditions = [] }: PodStatus, type: string) => findCondition(conditions, type);
