import { Counter, Histogram, metricIn, type Registry } from '@podwright/base';
import type { ProbeKind } from './probe-results.ts';

/** Whose probe is counted. */
export type ProbeSubject = { kind: ProbeKind; container: string; pod: string; namespace: string; podUid: string };

/** Counts probes under the names that upstream's metrics have. */
export interface ProbeMetrics {
  /** A probe that was made; `seconds` with its tries. */
  record(subject: ProbeSubject, verdict: 'success' | 'failure', seconds: number): void;
  /** The container is not probed in this way any more: nothing is said of it from now on. */
  remove(subject: ProbeSubject): void;
}

/** Names of the kinds in events and metrics. */
export const PROBE_NAMES = { liveness: 'Liveness', readiness: 'Readiness', startup: 'Startup' } as const;

const RESULTS = { success: 'successful', failure: 'failed' } as const;
const POD_LABELS = ['probe_type', 'container', 'pod', 'namespace'] as const;
const RESULT_LABELS = [...POD_LABELS, 'result', 'pod_uid'] as const;

/** Metrics in a registry, or none. */
export function probeMetrics(registry: Registry | undefined): ProbeMetrics {
  if (registry === undefined) return { record: () => undefined, remove: () => undefined };
  const registers = [registry];
  const totals = {
    name: 'prober_probe_total',
    help: 'Cumulative number of a liveness, readiness or startup probe for a container by result.',
    labelNames: RESULT_LABELS,
    registers,
  };
  const durations = {
    name: 'prober_probe_duration_seconds',
    help: 'Duration in seconds for a probe response.',
    labelNames: POD_LABELS,
    registers,
  };
  const total = metricIn(registry, totals.name, () => new Counter(totals));
  const duration = metricIn(registry, durations.name, () => new Histogram(durations));
  return {
    record(subject, verdict, seconds) {
      total.inc({ ...podLabels(subject), result: RESULTS[verdict], pod_uid: subject.podUid });
      // as upstream: how long failures took is not told
      if (verdict === 'success') duration.observe(podLabels(subject), seconds);
    },
    remove(subject) {
      duration.remove(podLabels(subject));
      for (const result of Object.values(RESULTS)) {
        total.remove({ ...podLabels(subject), result, pod_uid: subject.podUid });
      }
    },
  };
}

function podLabels({ kind, container, pod, namespace }: ProbeSubject) {
  return { probe_type: PROBE_NAMES[kind], container, pod, namespace };
}
