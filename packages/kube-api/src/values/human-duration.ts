/** Formats an age as in Kubernetes' tables (apimachinery, `duration.HumanDuration`): `45s`, `5m10s`, `3h20m`, `12d`. */
export function humanDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 120) return `${Math.max(0, seconds)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return joined(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return joined(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return joined(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? joined(years, 'y', days % 365, 'd') : `${years}y`;
}

function joined(...[large, unit, small, smallUnit]: [number, string, number, string]): string {
  return small === 0 ? `${large}${unit}` : `${large}${unit}${small}${smallUnit}`;
}
