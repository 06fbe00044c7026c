/** Finds registry credentials for an image in Docker config files. */
import { readFile } from 'node:fs/promises';
import { isErrno, isRecord, PodwrightError } from '@podwright/base';
import type { ImageReference } from '@podwright/kube-api';
import { MAX_DOCKER_CONFIG_BYTES } from './limits.ts';

/**
 * Registry credentials (CRI AuthConfig). `serverAddress` is left empty, as in upstream, because container runtimes may not support
 * addresses with a path.
 */
export type RegistryCredential = {
  username: string;
  password: string;
  auth: string;
  serverAddress: string;
  identityToken: string;
};

/** Identifies the Secret that a credential comes from. */
export type SecretCoordinates = { uid: string; namespace: string; name: string };

/**
 * A credential and the image pattern it applies to: a registry, optionally with a path prefix and with `*` in parts of the host name. An
 * entry without `secret` comes from the node and applies to all pods.
 */
export type KeyringEntry = { pattern: string; credential: RegistryCredential; secret?: SecretCoordinates };

/** Decodes a Docker `config.json` (with `auths`) or an older `.dockercfg` (without). Skips invalid entries. */
export function parseDockerConfig(text: string): KeyringEntry[] {
  const parsed: unknown = JSON.parse(text);
  if (!isRecord(parsed)) return [];
  const auths = isRecord(parsed.auths) ? parsed.auths : 'auths' in parsed ? {} : parsed;
  return Object.entries(auths).flatMap(([server, value]) => {
    const credential = isRecord(value) ? decodeCredential(value) : undefined;
    return credential === undefined ? [] : [{ pattern: registryPattern(server), credential }];
  });
}

function withoutZerosAtEnd(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return bytes.subarray(0, end);
}

function decodeCredential(value: Record<string, unknown>): RegistryCredential | undefined {
  const text = (name: string) => (typeof value[name] === 'string' ? value[name] : '');
  const auth = text('auth');
  const identityToken = text('identitytoken');
  const decoded = withoutZerosAtEnd(Buffer.from(auth, 'base64')).toString('utf8');
  const colon = decoded.indexOf(':');
  const username = text('username') || (colon > 0 ? decoded.slice(0, colon) : '');
  const password = text('password') || (colon > 0 ? decoded.slice(colon + 1) : '');
  if (username === '' && identityToken === '') return undefined;
  return { username, password, auth: '', serverAddress: '', identityToken };
}

/**
 * Converts a server address to an image pattern: strips the scheme and the API version, and maps Docker Hub addresses such as
 * `https://index.docker.io/v1/` to `docker.io`.
 */
export function registryPattern(server: string): string {
  const [host = '', ...rest] = server.replace(/^https?:\/\//, '').split('/');
  const path = ['', ...rest].join('/').replace(/^\/v[12](?=\/|$)/, '');
  const registry = /^(?:index\.|registry-1\.)?docker\.io$/.test(host) ? 'docker.io' : host;
  return path === '/' ? registry : registry + path;
}

/**
 * Returns the entries that match the image, most specific first: longer path prefixes before shorter ones, and literal names before `*`.
 */
export function entriesFor(reference: ImageReference, entries: KeyringEntry[]): KeyringEntry[] {
  return entries
    .filter(({ pattern }) => matchesImage(pattern, reference))
    .toSorted((a, b) => (a.pattern < b.pattern ? 1 : a.pattern > b.pattern ? -1 : 0));
}

/**
 * Whether a pattern such as `*.registry.test:5000/team` matches an image. The path is compared as a plain string prefix, so `/te` matches
 * `/team`.
 */
export function matchesImage(pattern: string, { registry, repository }: ImageReference): boolean {
  const slash = pattern.indexOf('/');
  const [host, path] = slash < 0 ? [pattern, ''] : [pattern.slice(0, slash), pattern.slice(slash)];
  return hostMatches(host, registry) && `/${repository}`.startsWith(path);
}

/** Describes what is wrong with an image pattern; `undefined` if it is valid. */
export function imagePatternProblem(pattern: string): string | undefined {
  if (pattern === '' || /\s|:\/\//.test(pattern))
    return 'must be a registry, with a path perhaps: *.registry.test/team';
  return /^[^/]*:(?!\d+(?:\/|$))[^\]]*$/.test(pattern) && !pattern.startsWith('[')
    ? 'must have a port that is a number'
    : undefined;
}

/** Whether a registry's host name and port match a pattern. A `*` matches within a single label of the host name; ports must be equal. */
function hostMatches(pattern: string, host: string): boolean {
  const parts = pattern.split('.');
  const own = host.split('.');
  return parts.length === own.length && parts.every((part, index) => globMatches(part, own[index]!));
}

/**
 * Whether a text matches a pattern with `*`. Backtracks only to the last `*`: patterns come from pods' Secrets, so matching must not take
 * exponential time.
 */
function globMatches(pattern: string, text: string): boolean {
  let [at, star, resumeAt] = [0, -1, 0];
  for (let position = 0; position < text.length; ) {
    if (pattern[at] === '*') {
      star = at++;
      resumeAt = position;
    } else if (pattern[at] === text[position]) {
      at++;
      position++;
    } else if (star >= 0 && text[resumeAt] !== ':') {
      at = star + 1;
      position = ++resumeAt;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}

/** Reads the entries of the node's Docker config files. Missing files are skipped; unreadable ones are reported to `onBadFile`. */
export async function readNodeKeyring(paths: string[], onBadFile: (path: string, error: unknown) => void) {
  const entries: KeyringEntry[] = [];
  for (const path of paths) {
    try {
      const text = await readFile(path, 'utf8');
      if (text.length > MAX_DOCKER_CONFIG_BYTES)
        throw new PodwrightError('invalid_argument', `it is larger than ${MAX_DOCKER_CONFIG_BYTES >> 20} MiB`);
      for (const entry of parseDockerConfig(text)) entries.push(entry);
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) onBadFile(path, error);
    }
  }
  return entries;
}
