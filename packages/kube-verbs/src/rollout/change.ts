import type { ApiPort } from '../api-port.ts';
import { patchTarget, quotedTarget, refused, type Target } from '../target.ts';
import type { Workload } from '../workload.ts';

const RESTARTED_AT = 'kubectl.kubernetes.io/restartedAt';

/** Restarts a workload by setting an annotation in its pod template, which makes its controller replace the pods. */
export async function restartRollout(api: ApiPort, target: Target, nowMs: number): Promise<void> {
  const { kind, object } = target;
  if (kind.group !== 'apps' || !['Deployment', 'DaemonSet', 'StatefulSet'].includes(kind.kind))
    throw refused(`${quotedTarget(target)} restarting is not supported`);
  if ((object as Workload).spec.paused)
    throw refused(`${quotedTarget(target)} can't restart paused deployment (run rollout resume first)`);
  const restartedAt = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z');
  const template = { metadata: { annotations: { [RESTARTED_AT]: restartedAt } } };
  await patchTarget(api, target, { type: 'merge', body: { spec: { template } } });
}

/** Pauses or resumes the rollouts of a Deployment. */
export async function pauseRollout(api: ApiPort, target: Target, paused: boolean): Promise<void> {
  const { kind, object } = target;
  if (kind.kind !== 'Deployment' || kind.group !== 'apps')
    throw refused(`${quotedTarget(target)} ${paused ? 'pausing' : 'resuming'} is not supported`);
  const isPaused = (object as Workload).spec.paused === true;
  if (isPaused === paused) throw refused(`${quotedTarget(target)} is ${paused ? 'already' : 'not'} paused`);
  await patchTarget(api, target, { type: 'merge', body: { spec: { paused } } });
}
