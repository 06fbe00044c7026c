import type { JsonValue } from '@bufbuild/protobuf';

/** The fields that identify the entries of lists. */
const KEYS = ['destination', 'path', 'type', 'name', 'containerId', 'pageSize'];

/**
 * Converts a message to lines `path=value`, in order. Entries of lists are named by their key, or by their value if they are plain, so that
 * their order has no effect.
 */
export function flatten(value: JsonValue | undefined, path = ''): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((entry) => flatten(entry, `${path}[${keyOf(entry)}]`));
  if (typeof value !== 'object') return [`${path}=${String(value)}`];
  const entries = Object.entries(value);
  if (entries.length === 0) return path.endsWith(']') ? [] : [`${path}={}`];
  return entries.flatMap(([key, field]) => flatten(field, path === '' ? key : `${path}.${key}`));
}

function keyOf(entry: JsonValue): string {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return '';
  const keys = 'path' in entry && Object.keys(entry).length <= 2 ? ['type', ...KEYS] : KEYS; // namespaces have a type and a path
  const key = keys.find((name) => typeof entry[name] === 'string');
  return key === undefined ? '' : String(entry[key]);
}

/** Replaces what differs by chance: IDs, process IDs, times and directories. `names` maps own directories to names. */
export function normalized(lines: readonly string[], names: ReadonlyMap<string, string>): string[] {
  return lines.map((line) => {
    let text = line;
    for (const [own, name] of names) text = text.replaceAll(own, name);
    return text
      .replaceAll(/[0-9a-f]{64}/g, '<id>')
      .replace(/<directory>\/(?:root|state)\/(?:io\.containerd\.grpc\.v1\.cri\/)?sandboxes\//, '<files>/')
      .replace(/(namespaces\[(?:ipc|uts|network|pid)\]\.path)=.+$/, '$1=<path>')
      .replace(/((?:^|\.)pid)=[1-9]\d*$/, '$1=<pid>')
      .replace(/((?:created|started|finished)At)=[1-9]\d*$/, '$1=<time>')
      .replace(/(\bips\[\])=[0-9.]+$/, '$1=<address>')
      .replace(/(digest|Digest)=sha256:.*$/, '$1=<digest>');
  });
}
