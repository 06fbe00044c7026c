/** How the Kubernetes API (metav1) writes times and durations. */

/** A time as the Kubernetes API writes it: RFC 3339 in whole seconds, UTC. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** A duration as Go programs, and so the kubelet's messages, write it: `10s`, `1m20s`, `5m0s`, `1.5s`, `250ms`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s';
  if (ms < 1000) return `${trimmed(ms)}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = `${trimmed((ms % 60_000) / 1000)}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

function trimmed(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}
