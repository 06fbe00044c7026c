/** A time as the Kubernetes API writes it: RFC 3339 in whole seconds, UTC. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}
