import { PodwrightError } from '@podwright/base';

/** An image reference: the name as shown by Docker, without `docker.io/` and `library/`, and a tag or digest. */
export type ImageReference = { name: string; version: { tag: string } | { digest: string } };

const HUB = /^(?:(?:index\.)?docker\.io\/)/;
const NAME = /^(?:[a-zA-Z0-9.-]+(?::\d{1,5})?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*$/;

/**
 * Parses an image reference. If it has both a tag and a digest, the tag is ignored; if it has neither, the tag is `latest`. Throws
 * `invalid_argument`.
 */
export function parseReference(text: string): ImageReference {
  const match = /^(.+?)(?::([\w][\w.-]{0,127}))?(?:@([a-z0-9]+:[0-9a-f]{32,128}))?$/.exec(text);
  const [, full = '', tag = 'latest', digest] = match ?? [];
  if (!NAME.test(full))
    throw new PodwrightError('invalid_argument', `image reference ${JSON.stringify(text)} is malformed`);
  return { name: familiarName(full), version: digest === undefined ? { tag } : { digest } };
}

/** Formats the reference as listed by the Engine: `NAME:TAG` or `NAME@DIGEST`. */
export function formatReference({ name, version }: ImageReference): string {
  return 'tag' in version ? `${name}:${version.tag}` : `${name}@${version.digest}`;
}

function familiarName(full: string): string {
  const onHub = full.replace(HUB, '');
  return HUB.test(full) || !/[.:]|^localhost\//.test(onHub.split('/')[0]!)
    ? onHub.replace(/^library\/(?=[^/]+$)/, '')
    : full;
}

/** Minimum number of hexadecimal digits in an ID prefix. Anything shorter is a name. */
const MIN_ID_DIGITS = 12;

/**
 * Whether an image returned by the Engine really has the requested name or ID. The Engine also treats names as ID prefixes, so `cafe` would
 * match any image whose ID starts with these digits.
 */
export function isMeant(
  text: string,
  { Id, RepoTags, RepoDigests }: { Id: string; RepoTags: string[]; RepoDigests: string[] },
) {
  const digits = text.replace(/^sha256:/, '');
  if (digits.length >= MIN_ID_DIGITS && Id.replace(/^sha256:/, '').startsWith(digits)) return true;
  const names = [...RepoTags, ...RepoDigests];
  try {
    return names.includes(formatReference(parseReference(text)));
  } catch {
    return false;
  }
}
