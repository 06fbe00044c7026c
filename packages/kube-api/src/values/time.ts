/** Formats times and durations as in the Kubernetes API (metav1). */

/** Formats a time as in the Kubernetes API: RFC 3339, UTC, in whole seconds. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** Formats a time as in leases (metav1.MicroTime), with microseconds. The last three digits are always 0. */
export function formatMicroTime(ms: number): string {
  return new Date(ms).toISOString().replace(/Z$/, '000Z');
}

/** Formats a duration like Go and the kubelet's messages, with microsecond precision: `1h0m0s`, `1m20s`, `1.5s`, `250ms`, `0s`. */
export function formatDuration(milliseconds: number): string {
  const sign = milliseconds < 0 ? '-' : '';
  const ms = Math.abs(milliseconds);
  if (ms === 0) return '0s';
  if (ms < 1) return `${sign}${trimmed(ms * 1000)}µs`;
  if (ms < 1000) return `${sign}${trimmed(ms)}ms`;
  const seconds = ms / 1000;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const larger = `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}`;
  return `${sign}${larger}${Number((seconds % 60).toFixed(6))}s`;
}

function trimmed(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}
