import { PodwrightError } from '@podwright/base';
import { isDigest } from '../content/digest.ts';
import { formatReference, parseReference } from '../spec/reference.ts';
import type { ImageRecord } from './image-service.ts';

type NamedRecord = Pick<ImageRecord, 'id' | 'repoTags' | 'repoDigests' | 'manifestDigest'>;

/** Minimum length of an ID prefix. Anything shorter is treated as a name. */
const MIN_PREFIX_LENGTH = 8;

/**
 * Finds an image by ID, ID prefix, name, or manifest or index digest. A name takes precedence over a prefix. Throws `invalid_argument` if
 * the prefix is ambiguous. Returns `undefined` if the image is not found or `text` is not a valid reference.
 */
export function findImage<T extends NamedRecord>(images: T[], text: string): T | undefined {
  const digest = /^[0-9a-f]{64}$/.test(text) ? `sha256:${text}` : text;
  const found = images.find(({ id }) => id === digest);
  if (found !== undefined) return found;
  if (isDigest(digest)) return images.find((image) => hasDigest(image, digest));
  const name = canonicalName(text);
  const named = images.find(({ repoTags, repoDigests }) => [...repoTags, ...repoDigests].some((own) => own === name));
  return named ?? findByPrefix(images, text);
}

function hasDigest({ manifestDigest, repoDigests }: NamedRecord, digest: string): boolean {
  return manifestDigest === digest || repoDigests.some((name) => name.endsWith(`@${digest}`));
}

/** Returns the canonical form of a reference, as used in the records; `undefined` if the reference is invalid. */
export function canonicalName(text: string): string | undefined {
  try {
    return formatReference(parseReference(text));
  } catch {
    return undefined;
  }
}

/**
 * Returns the names to remove when `name` is removed: `name` itself and, if it is the last tag of its repository, the image's digests in
 * that repository, as in Docker.
 */
export function namesToRemove({ repoTags, repoDigests }: NamedRecord, name: string): string[] {
  if (name.includes('@')) return [name];
  const repository = name.slice(0, name.lastIndexOf(':'));
  const hasOtherTag = repoTags.some((tag) => tag !== name && tag.startsWith(`${repository}:`));
  return hasOtherTag ? [name] : [name, ...repoDigests.filter((digest) => digest.startsWith(`${repository}@`))];
}

function findByPrefix<T extends NamedRecord>(images: T[], text: string): T | undefined {
  const prefix = text.replace(/^sha256:/, '');
  if (prefix.length < MIN_PREFIX_LENGTH || !/^[0-9a-f]+$/.test(prefix)) return undefined;
  const matches = images.filter(({ id }) => id.startsWith(`sha256:${prefix}`));
  if (matches.length > 1) {
    throw new PodwrightError('invalid_argument', `find image ${text}: ${matches.length} image ids have this prefix`);
  }
  return matches[0];
}
