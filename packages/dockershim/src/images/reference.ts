import { PodwrightError } from '@podwright/base';

/** A name as Docker shows it, without `docker.io/` and `library/`, and which image of that name. */
export type ImageReference = { name: string; version: { tag: string } | { digest: string } };

const HUB = /^(?:(?:index\.)?docker\.io\/)/;
const NAME = /^(?:[a-zA-Z0-9.-]+(?::\d{1,5})?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*$/;

/** Takes a reference apart; a tag beside a digest says nothing, and without either `latest` is meant. Errors: `invalid_argument`. */
export function parseReference(text: string): ImageReference {
  const match = /^(.+?)(?::([\w][\w.-]{0,127}))?(?:@([a-z0-9]+:[0-9a-f]{32,128}))?$/.exec(text);
  const [, full = '', tag = 'latest', digest] = match ?? [];
  if (!NAME.test(full))
    throw new PodwrightError('invalid_argument', `image reference ${JSON.stringify(text)}: it is none`);
  return { name: familiarName(full), version: digest === undefined ? { tag } : { digest } };
}

/** As the Engine lists it: `NAME:TAG`, or `NAME@DIGEST`. */
export function formatReference({ name, version }: ImageReference): string {
  return 'tag' in version ? `${name}:${version.tag}` : `${name}@${version.digest}`;
}

function familiarName(full: string): string {
  const onHub = full.replace(HUB, '');
  return HUB.test(full) || !/[.:]|^localhost\//.test(onHub.split('/')[0]!)
    ? onHub.replace(/^library\/(?=[^/]+$)/, '')
    : full;
}

/** Fewer digits than these may be a name as well as the beginning of an id. */
const MIN_ID_DIGITS = 12;

/**
 * Whether an image that the Engine found for a text is the one that it means: the Engine also takes a name for the beginning of an
 * id, and `cafe` would be any image that begins so.
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
