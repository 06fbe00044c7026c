import type { PodSteps } from '../pod/pod-workers.ts';
import type { PodTracer } from '../trace/pod-tracer.ts';

/** Wraps the sync steps to record each one as a trace under its upstream name. */
export function tracedSteps(steps: PodSteps, tracer: Pick<PodTracer, 'sync'>): PodSteps {
  return {
    sync: (pod, signal) => tracer.sync(pod.metadata.uid, 'syncPod', () => steps.sync(pod, signal)),
    terminate: (pod, end, signal) =>
      tracer.sync(pod.metadata.uid, 'syncTerminatingPod', () => steps.terminate(pod, end, signal)),
    finish: (pod, end) => tracer.sync(pod.metadata.uid, 'syncTerminatedPod', () => steps.finish(pod, end)),
    remove: (pod, end) => tracer.sync(pod.metadata.uid, 'removePod', () => steps.remove(pod, end)),
  };
}
