import { PodwrightError } from '@podwright/base';
import { isDigest } from '../content/digest.ts';

/** A normalized image reference. `parseReference` sets exactly one of `tag` and `digest`. */
export type Reference = {
  /** Registry host with an optional port, such as `docker.io`, `localhost:5000` or `[::1]:5000`. */
  domain: string;
  /** Repository within the registry, such as `library/busybox`. */
  path: string;
  tag?: string;
  digest?: string;
};

// The grammar of distribution's reference package, which Docker, containerd and the kubelet use.
const DOMAIN_COMPONENT = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const HOST = `(?:${DOMAIN_COMPONENT}(?:\\.${DOMAIN_COMPONENT})*|\\[(?:[a-fA-F0-9:]+)\\])`;
const domainPattern = new RegExp(`^${HOST}(?::[0-9]+)?$`);
const pathPattern = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

const MAX_PATH_LENGTH = 255;
/** Maximum length of the text to parse. Exceeds the longest domain (253 characters and a port), path, tag and digest combined. */
const MAX_REFERENCE_LENGTH = 1024;

/**
 * Parses and normalizes an image name from a command or manifest: `busybox` becomes `docker.io/library/busybox:latest`. If there is a
 * digest, any tag is dropped, as in containerd, because the digest already identifies the image. Throws `invalid_argument` with the reason
 * if the name is invalid.
 */
export function parseReference(text: string): Reference {
  const fail = (why: string) =>
    new PodwrightError('invalid_argument', `image reference "${text.slice(0, 300)}" is invalid: ${why}`);
  if (text === '') throw fail('it is empty');
  if (text.length > MAX_REFERENCE_LENGTH) throw fail(`it is longer than ${MAX_REFERENCE_LENGTH} characters`);
  if (/^[a-f0-9]{64}$/.test(text)) throw fail('64 hex digits are an image id, not a name');
  const { name, tag, digest } = splitSuffixes(text);
  const { domain, path } = splitDomain(name);
  if (!domainPattern.test(domain)) throw fail(`"${domain}" is not a registry host`);
  if (path !== path.toLowerCase()) throw fail(`the repository name "${path}" must be lower case`);
  if (!pathPattern.test(path)) throw fail(`"${path}" is not a repository name`);
  if (path.length > MAX_PATH_LENGTH) throw fail(`the repository name is longer than ${MAX_PATH_LENGTH} characters`);
  if (tag !== undefined && !tagPattern.test(tag)) throw fail(`"${tag}" is not a tag`);
  if (digest === undefined) return { domain, path, tag: tag ?? 'latest' };
  if (!isDigest(digest)) throw fail(`"${digest}" is not a digest that can be verified`);
  return { domain, path, digest };
}

/** Returns `domain/path`, without tag and digest. */
export function repositoryOf(reference: Reference): string {
  return `${reference.domain}/${reference.path}`;
}

/** Returns the canonical form, which `parseReference` parses back to the same reference. */
export function formatReference(reference: Reference): string {
  const suffix = reference.digest === undefined ? `:${reference.tag}` : `@${reference.digest}`;
  return `${repositoryOf(reference)}${suffix}`;
}

function splitSuffixes(text: string): { name: string; tag?: string; digest?: string } {
  const at = text.indexOf('@');
  const digest = at < 0 ? undefined : text.slice(at + 1);
  const rest = at < 0 ? text : text.slice(0, at);
  const colon = rest.lastIndexOf(':');
  // a colon before the last slash precedes the port of the registry's host, not a tag
  if (colon < 0 || colon < rest.lastIndexOf('/')) return { name: rest, digest };
  return { name: rest.slice(0, colon), tag: rest.slice(colon + 1), digest };
}

/**
 * Splits a name into host and path. The first component is a host if it contains a dot, a port or an upper-case letter, or is `localhost`.
 */
function splitDomain(name: string): { domain: string; path: string } {
  const slash = name.indexOf('/');
  const first = name.slice(0, Math.max(slash, 0));
  const isHost = slash >= 0 && (/[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase());
  if (isHost && first !== 'docker.io' && first !== 'index.docker.io') {
    return { domain: first, path: name.slice(slash + 1) };
  }
  const path = isHost ? name.slice(slash + 1) : name;
  return { domain: 'docker.io', path: path.includes('/') ? path : `library/${path}` };
}
