import { PodwrightError } from '@podwright/base';
import type { Descriptor } from '../spec/manifest.ts';
import { formatReference, parseReference } from '../spec/reference.ts';

/** Annotations with an image's name in an OCI layout. containerd's contains the full name, image-spec's often only a tag. */
const FULL_NAME_ANNOTATION = 'io.containerd.image.name';
const REF_NAME_ANNOTATION = 'org.opencontainers.image.ref.name';

/**
 * An image in an OCI layout: its manifests, one per platform, and its name. `tag` is set if the annotations contain a tag, either alone or
 * as part of the name.
 */
export type NamedImage = { candidates: Descriptor[]; name?: string; tag?: string };

/**
 * Groups the entries of an OCI layout's index into images. Entries with the same name are the platforms of one image, as are all entries
 * without a name. A nested index counts as one entry.
 */
export function groupByName(descriptors: Descriptor[]): NamedImage[] {
  const groups = new Map<string, NamedImage>();
  for (const descriptor of descriptors) {
    const { name, tag } = nameOf(descriptor);
    const key = name ?? tag ?? '';
    const group = groups.get(key) ?? { candidates: [], name, tag };
    group.candidates.push(descriptor);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/**
 * Returns the full name of each image in a file; `undefined` for an unnamed image. `given` is the name requested by the user: the name of
 * the only image, or the repository for the tags of several images. Throws `invalid_argument` if `given` is neither.
 */
export function chooseNames(
  images: Pick<NamedImage, 'name' | 'tag'>[],
  given: string | undefined,
): (string | undefined)[] {
  if (given === undefined) return images.map(({ name }) => (name === undefined ? undefined : spell(name)));
  const reference = parseReference(given);
  const isRepository = !given.includes('@') && given.lastIndexOf(':') <= given.lastIndexOf('/');
  if (images.length === 1) {
    const tag = images[0]?.tag;
    return [isRepository && tag !== undefined ? spell(`${given}:${tag}`) : formatReference(reference)];
  }
  if (isRepository && images.every(({ tag }) => tag !== undefined))
    return images.map(({ tag }) => spell(`${given}:${tag}`));
  throw new PodwrightError(
    'invalid_argument',
    `the file has ${images.length} images, which cannot all be named ${given}; leave the name out`,
  );
}

/** Like containerd, treats a `ref.name` that contains a slash or a colon as a full name, and anything else as a tag. */
function nameOf({ annotations }: Descriptor): { name?: string; tag?: string } {
  const refName = annotations?.[REF_NAME_ANNOTATION];
  const isTag = refName !== undefined && /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(refName);
  const name = annotations?.[FULL_NAME_ANNOTATION] ?? (isTag ? undefined : refName);
  return { name, tag: isTag ? refName : tagOf(name) };
}

function tagOf(name: string | undefined): string | undefined {
  const colon = name?.lastIndexOf(':') ?? -1;
  return name !== undefined && colon > name.lastIndexOf('/') && !name.includes('@') ? name.slice(colon + 1) : undefined;
}

function spell(name: string): string {
  return formatReference(parseReference(name));
}
