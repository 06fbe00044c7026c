import { Counter, Histogram, metricIn, type Registry } from '@podwright/base';
import type { ProbeKind } from './probe-results.ts';

/** The container and the kind of probe that a metric is about. */
export type ProbeSubject = { kind: ProbeKind; container: string; pod: string; namespace: string; podUid: string };

/** Probe counters under upstream's metric names. */
export interface ProbeMetrics {
  /** Records an executed probe; `seconds` includes its retries. */
  record(subject: ProbeSubject, verdict: 'success' | 'failure', seconds: number): void;
  /** Removes the time series of a probe that has stopped. */
  remove(subject: ProbeSubject): void;
}

/** Names of the probe kinds in events and metrics. */
export const PROBE_NAMES = { liveness: 'Liveness', readiness: 'Readiness', startup: 'Startup' } as const;

const RESULTS = { success: 'successful', failure: 'failed' } as const;
const POD_LABELS = ['probe_type', 'container', 'pod', 'namespace'] as const;
const RESULT_LABELS = [...POD_LABELS, 'result', 'pod_uid'] as const;

/** Returns metrics registered in the registry, or no-op metrics if there is no registry. */
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
      // as in upstream, only the durations of successful probes are recorded
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
