import { Counter, Gauge, metricIn, type Registry } from '@podwright/base';

/** Registers the same certificate metrics as upstream: the remaining lifetime and the number of failed renewals. */
export function certificateMetrics(
  registry: Registry | undefined,
  kind: 'client' | 'server',
  expiresAtMs: () => number | undefined,
): { failed: () => void } {
  if (registry === undefined) return { failed: () => undefined };
  const registers = [registry];
  const name = `kubelet_certificate_manager_${kind}_ttl_seconds`;
  metricIn(
    registry,
    name,
    () =>
      new Gauge({
        name,
        help: `[ALPHA] Seconds until the kubelet's ${kind} certificate runs out, less than 0 after it; +Inf without one.`,
        registers,
        collect() {
          const atMs = expiresAtMs();
          this.set(atMs === undefined ? Number.POSITIVE_INFINITY : Math.trunc((atMs - Date.now()) / 1000));
        },
      }),
  );
  const errors = {
    client: 'kubelet_certificate_manager_client_expiration_renew_errors',
    server: 'kubelet_server_expiration_renew_errors',
  }[kind];
  const counter = metricIn(
    registry,
    errors,
    () => new Counter({ name: errors, help: '[ALPHA] Counter of certificate renewal errors.', registers }),
  );
  return { failed: () => counter.inc() };
}
