import { Counter, Gauge, Histogram, metricIn, type Registry } from '@podwright/base';

/** Metrics of the PLEG under upstream's names. */
export type PlegMetrics = {
  /** Records a relist: its duration, and the time since the previous one, if there was one. */
  relisted(seconds: number, sinceLastSeconds: number | undefined): void;
  /** Records the Unix time of a successful relist. */
  seen(atSeconds: number): void;
  /** Records how long it took to read one pod. */
  podRead(seconds: number): void;
  /** Records that an event stream was established; `connectionFailed` records that one failed. */
  connected(): void;
  connectionFailed(): void;
  /** Records that an event of this age was received. */
  received(seconds: number): void;
};

const ignore = () => undefined;
const NONE: PlegMetrics = {
  relisted: ignore,
  seen: ignore,
  podRead: ignore,
  connected: ignore,
  connectionFailed: ignore,
  received: ignore,
};

/** Returns the metrics from the registry, or no-op metrics if there is no registry. */
export function plegMetrics(registry: Registry | undefined): PlegMetrics {
  if (registry === undefined) return NONE;
  const registers = [registry];
  const known = <M>(name: string, make: (fullName: string) => M) =>
    metricIn(registry, `kubelet_${name}`, () => make(`kubelet_${name}`));
  const histogram = (own: string, help: string) => known(own, (name) => new Histogram({ name, help, registers }));
  const counter = (own: string, help: string) => known(own, (name) => new Counter({ name, help, registers }));
  const duration = histogram('pleg_relist_duration_seconds', 'Duration in seconds for relisting pods in PLEG.');
  const interval = histogram('pleg_relist_interval_seconds', 'Interval in seconds between relisting in PLEG.');
  const podDuration = histogram(
    'pleg_pod_relist_duration_seconds',
    'Duration in seconds for relisting a single pod in PLEG.',
  );
  const lastSeen = known(
    'pleg_last_seen_seconds',
    (name) => new Gauge({ name, help: 'Timestamp in seconds when PLEG was last seen active.', registers }),
  );
  counter('pleg_discard_events', 'The number of discard events in PLEG.'); // always 0: a change directly wakes its pod's worker
  const errors = counter(
    'evented_pleg_connection_error_count',
    'The number of errors encountered during the establishment of streaming connection with the CRI runtime.',
  );
  const successes = counter(
    'evented_pleg_connection_success_count',
    'The number of times a streaming client was obtained to receive CRI Events.',
  );
  const latency = histogram(
    'evented_pleg_connection_latency_seconds',
    'The latency of streaming connection with the CRI runtime, measured in seconds.',
  );
  return {
    relisted(seconds, sinceLastSeconds) {
      duration.observe(seconds);
      if (sinceLastSeconds !== undefined) interval.observe(sinceLastSeconds);
    },
    seen: (atSeconds) => lastSeen.set(atSeconds),
    podRead: (seconds) => podDuration.observe(seconds),
    connected: () => successes.inc(),
    connectionFailed: () => errors.inc(),
    received: (seconds) => latency.observe(seconds),
  };
}
