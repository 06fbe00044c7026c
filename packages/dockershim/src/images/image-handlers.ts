import { statfs } from 'node:fs/promises';
import { errorMessage, isNotFound, PodwrightError, wrapError } from '@podwright/base';
import { type ImageHandlers, type ImageSchema, type MessageInitShape, verboseInfo } from '@podwright/cri';
import { isConflict } from '../engine/engine-error.ts';
import type { ImageInspection, ImageSummary } from '../engine/engine-images.ts';
import type { DockershimServices } from '../services.ts';
import { ociImage } from './oci-image.ts';
import { pullImage } from './pull-image.ts';
import { formatReference, isMeant, parseReference } from './reference.ts';

type Needs = Pick<DockershimServices, 'engine' | 'options'>;
type Verbs = 'listImages' | 'imageStatus' | 'pullImage' | 'removeImage' | 'imageFsInfo';

/** The CRI's image calls. */
export function imageHandlers(services: Needs): Pick<ImageHandlers, Verbs> {
  return {
    listImages: listImages(services),
    imageStatus: imageStatus(services),
    pullImage: pull(services),
    removeImage: removeImage(services),
    imageFsInfo: imageFsInfo(services),
  };
}

/** ListImages: returns all images, or the one named by the filter. */
function listImages({ engine, options }: Needs): ImageHandlers['listImages'] {
  return async ({ filter }, { signal }) => {
    const reference = filter?.image?.image ?? '';
    const found = reference === '' ? await engine.images.list(signal) : await findImage(engine, reference, signal);
    const images = Array.isArray(found) ? found : found === undefined ? [] : [found];
    return { images: images.map((image) => criImage(image, options.sandboxImage)) };
  };
}

/** ImageStatus: returns an empty response for a nonexistent image, which is not an error. */
function imageStatus({ engine, options }: Needs): ImageHandlers['imageStatus'] {
  return async ({ image, verbose }, { signal }) => {
    const found = await findImage(engine, given(image, 'image status'), signal);
    if (found === undefined) return {};
    const history = verbose ? await engine.images.history(found.Id, signal).catch(nothingIfMissing) : [];
    const details = () => ({ labels: found.Config?.Labels ?? undefined, imageSpec: ociImage(found, history ?? []) });
    return { image: criImage(found, options.sandboxImage), info: verboseInfo(verbose, details) };
  };
}

/** PullImage: returns the image's ID, as ImageStatus does. */
function pull(services: Needs): ImageHandlers['pullImage'] {
  return async ({ image, auth }, { signal }) => {
    const reference = parseReference(given(image, 'pull image'));
    return { imageRef: await pullImage(services, { reference, credentials: auth }, signal) };
  };
}

/** RemoveImage: removes the image and all of its names. Succeeds if the image does not exist. */
function removeImage({ engine }: Needs): ImageHandlers['removeImage'] {
  return async ({ image }, { signal }) => {
    const reference = given(image, 'remove image');
    const found = await findImage(engine, reference, signal);
    if (found === undefined) return {};
    const names = namesOf(found);
    // an image with only digests is removed by ID, which removes all of its digests
    for (const name of names.repoTags.length > 0 ? names.repoTags : [found.Id]) await remove(engine, name, signal);
    if (await stillThere(engine, found.Id, signal)) await remove(engine, found.Id, signal);
    return {};
  };
}

async function stillThere({ images }: Needs['engine'], id: string, signal: AbortSignal): Promise<boolean> {
  return (await images.inspect(id, signal).catch(nothingIfMissing)) !== undefined;
}

async function remove({ images }: Needs['engine'], name: string, signal: AbortSignal): Promise<void> {
  await images.remove(name, signal).catch((error: unknown) => {
    if (isConflict(error)) throw wrapError('a container uses it', error, 'failed_precondition');
    nothingIfMissing(error);
  });
}

/**
 * ImageFsInfo: reports the file system of Docker's root directory. Layers shared by several images are counted once per image, because
 * computing exact sizes would take the Engine seconds. Writable layers are part of the container statistics.
 */
function imageFsInfo({ engine }: Needs): ImageHandlers['imageFsInfo'] {
  return async (_request, { signal }) => {
    const [{ DockerRootDir: mountpoint }, images] = await Promise.all([
      engine.info(signal),
      engine.images.list(signal),
    ]);
    const { files, ffree } = await statfs(mountpoint);
    const place = { timestamp: BigInt(Date.now()) * 1_000_000n, fsId: { mountpoint } };
    const usedBytes = { value: images.reduce((sum, { Size }) => sum + BigInt(Size), 0n) };
    const inodesUsed = { value: BigInt(files - ffree) };
    return { imageFilesystems: [{ ...place, usedBytes, inodesUsed }], containerFilesystems: [place] };
  };
}

async function findImage(
  { images }: Needs['engine'],
  reference: string,
  signal: AbortSignal,
): Promise<ImageInspection | undefined> {
  const found = await images.inspect(asEngineHasIt(reference), signal).catch(nothingIfMissing);
  return found !== undefined && isMeant(reference, found) ? found : undefined;
}

/** Strips the tag from a reference with both a tag and a digest, which the Engine would reject. */
function asEngineHasIt(reference: string): string {
  return reference.includes('@') ? formatReference(parseReference(reference)) : reference;
}

function nothingIfMissing(error: unknown): undefined {
  // "unrecognized image ID": the image was removed by a concurrent call
  if (!isNotFound(error) && !/unrecognized image ID/.test(errorMessage(error))) throw error;
}

function given(image: { image: string } | undefined, attempted: string): string {
  if (image !== undefined && image.image !== '') return image.image;
  throw new PodwrightError('invalid_argument', `${attempted}: the request names no image`);
}

function criImage(
  image: ImageSummary & Pick<ImageInspection, 'Config'>,
  sandboxImage: string,
): MessageInitShape<typeof ImageSchema> {
  const { repoTags, repoDigests } = namesOf(image);
  const id = image.Id;
  return {
    ...{ id, repoTags, repoDigests, size: BigInt(image.Size) },
    ...imageUser(image.Config?.User ?? ''),
    spec: { image: repoTags[0] ?? repoDigests[0] ?? id },
    pinned: isMeant(sandboxImage, image),
  };
}

/** Returns an image's names, without the Engine's placeholder `<none>:<none>`. */
function namesOf({ RepoTags, RepoDigests }: ImageSummary): { repoTags: string[]; repoDigests: string[] } {
  const isReal = (name: string) => !name.includes('<none>');
  return { repoTags: RepoTags.filter(isReal), repoDigests: RepoDigests.filter(isReal) };
}

/** Returns the image's `USER` as a number or a name; neither if it is unset, which means root. */
function imageUser(user: string): { uid?: { value: bigint }; username?: string } {
  const name = user.split(':')[0] ?? '';
  return /^\d{1,10}$/.test(name) ? { uid: { value: BigInt(name) } } : { username: name };
}
