import { PodwrightError } from '@podwright/base';

/** An image reference: a name as Docker shows it, without `docker.io/` and `library/`, and a tag or digest. */
export type ImageReference = { name: string; version: { tag: string } | { digest: string } };

const HUB = /^(?:(?:index\.)?docker\.io\/)/;
const NAME = /^(?:[a-zA-Z0-9.-]+(?::\d{1,5})?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*$/;

/** Parses a reference. A tag next to a digest is ignored; without either the tag is `latest`. Errors: `invalid_argument`. */
export function parseReference(text: string): ImageReference {
  const match = /^(.+?)(?::([\w][\w.-]{0,127}))?(?:@([a-z0-9]+:[0-9a-f]{32,128}))?$/.exec(text);
  const [, full = '', tag = 'latest', digest] = match ?? [];
  if (!NAME.test(full))
    throw new PodwrightError('invalid_argument', `image reference ${JSON.stringify(text)} is malformed`);
  return { name: familiarName(full), version: digest === undefined ? { tag } : { digest } };
}

/** The reference as the Engine lists it: `NAME:TAG` or `NAME@DIGEST`. */
export function formatReference({ name, version }: ImageReference): string {
  return 'tag' in version ? `${name}:${version.tag}` : `${name}@${version.digest}`;
}

function familiarName(full: string): string {
  const onHub = full.replace(HUB, '');
  return HUB.test(full) || !/[.:]|^localhost\//.test(onHub.split('/')[0]!)
    ? onHub.replace(/^library\/(?=[^/]+$)/, '')
    : full;
}

/** A hexadecimal text with fewer digits is taken as a name, not as a prefix of an id. */
const MIN_ID_DIGITS = 12;

/**
 * Whether an image that the Engine found for a text has this name or id: the Engine also takes a name as a prefix of an id, so that
 * `cafe` would match any image whose id starts with it.
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
