/** Formats a size such as `1.5 MiB`: binary units, with one decimal below 10. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** Formats a duration: `350 ms`, `1.2 s`, `45 s`, `5m10s`, `3h20m`, `12d`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1000) return `${Math.round(durationMs)} ms`;
  const seconds = durationMs / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${Math.floor(seconds % 60)}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h${minutes % 60}m`;
  return `${Math.floor(hours / 24)}d`;
}

/** Formats the time elapsed since an RFC 3339 timestamp, or `-` if there is none. */
export function formatAge(since: string | undefined, nowMs: number): string {
  return since === undefined ? '-' : formatDuration(Math.max(0, nowMs - Date.parse(since)));
}
