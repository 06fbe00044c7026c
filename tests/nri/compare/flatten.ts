import type { JsonValue } from '@bufbuild/protobuf';

/** Fields that identify a list entry, in order of preference. */
const KEYS = ['destination', 'path', 'type', 'name', 'containerId', 'pageSize'];

/**
 * Converts a message to lines of the form `path=value`. List entries are named by their identifying field instead of their index, so that
 * their order does not matter.
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
  const keys = 'path' in entry && Object.keys(entry).length <= 2 ? ['type', ...KEYS] : KEYS; // an OCI namespace, which its type identifies
  const key = keys.find((name) => typeof entry[name] === 'string');
  return key === undefined ? '' : String(entry[key]);
}

/** Replaces values that differ between any two runs: IDs, PIDs, times and, according to `names`, paths. */
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
