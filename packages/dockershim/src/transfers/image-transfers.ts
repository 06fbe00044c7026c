import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { counted, PodwrightError, PRIVATE_FILE, wrapError } from '@podwright/base';
import type { ImageTransfers } from '@podwright/cri';
import type { ServiceHandlers } from '@podwright/grpc';
import { replaceFile } from '@podwright/host';
import type { Engine } from '../engine/engine.ts';
import type { EngineArchives } from '../engine/engine-archives.ts';
import { FULL_DISK } from '../engine/engine-error.ts';

type Handlers = ServiceHandlers<typeof ImageTransfers>;

/**
 * Creates the handlers for podwright.v1.ImageTransfers, except for the calls that the Engine cannot serve: the progress of other clients'
 * pulls, and cleanup.
 */
export function imageTransfers({ archives }: Pick<Engine, 'archives'>): Pick<Handlers, 'load' | 'save' | 'untag'> {
  return {
    load: async function* ({ path, name }, { signal }) {
      const images = await load(archives, { path, name }, signal);
      yield { event: { case: 'loaded', value: { images } } };
    },
    save: async ({ references, path }, { signal }) => {
      checkPath('save images to', path);
      await save(archives, { references, path }, signal);
      return {};
    },
    untag: async ({ reference }, { signal }) => ({ removed: await archives.untag(reference, signal) }),
  };
}

type Loaded = { id: string; references: string[]; sizeBytes: bigint };

async function load(
  archives: EngineArchives,
  { path, name }: { path: string; name: string },
  signal: AbortSignal,
): Promise<Loaded[]> {
  checkPath('load images from', path);
  await using file = await open(path).catch((error: unknown) => {
    throw wrapError(`load images from ${path}`, error, 'invalid_argument');
  });
  const stats = await file.stat();
  if (stats.isDirectory()) {
    const message = `load images from ${path}: a Docker Engine takes archives, and this is a directory; make an archive: skopeo copy oci:${path} docker-archive:FILE:NAME`;
    throw new PodwrightError('invalid_argument', message);
  }
  const images: Loaded[] = [];
  const archive = createReadStream('', { fd: file.fd, autoClose: false });
  for await (const { stream = '', error } of archives.load(archive, signal)) {
    if (error !== undefined) throw notLoaded(path, error);
    const [, kind, what = ''] = /^Loaded image( ID)?: (\S+)/.exec(stream) ?? [];
    if (what === '') continue;
    images.push({ id: what, references: kind === undefined ? [what] : [], sizeBytes: 0n });
  }
  if (name !== '') await giveName(archives, { images, name }, signal);
  return images;
}

/** Builds the error for a failed load. Docker 20.10 supports only its own format, and fails on OCI archives with a missing-file error. */
function notLoaded(path: string, error: string): PodwrightError {
  const hint = /no such file/.test(error)
    ? '; OCI archives need Docker 25 or later: skopeo copy oci-archive:FILE docker-archive:OTHER:NAME converts one for this Engine'
    : '';
  const code = FULL_DISK.test(error) ? 'resource_exhausted' : 'invalid_argument';
  return new PodwrightError(code, `load images from ${path}: ${error}${hint}`);
}

/** Tags the only image of a loaded archive with `name`. Fails if the archive does not contain exactly one image. */
async function giveName(
  archives: EngineArchives,
  { images, name }: { images: Loaded[]; name: string },
  signal: AbortSignal,
): Promise<void> {
  const [image, ...others] = images;
  if (image === undefined || others.length > 0)
    throw new PodwrightError(
      'invalid_argument',
      `name ${name}: the archive has ${counted(images.length, 'image')}, and a name needs exactly one`,
    );
  const [, repository = name, tag = 'latest'] = /^(.+?)(?::([^/:]+))?$/.exec(name) ?? [];
  await archives.tag(image.id, { repository, tag }, signal);
  image.references = [...image.references, `${repository}:${tag}`];
}

/** Saves images to a file. The file is created or replaced only once the archive is complete. */
async function save(
  archives: EngineArchives,
  { references, path }: { references: string[]; path: string },
  signal: AbortSignal,
): Promise<void> {
  const archive = await archives.save(references, signal);
  try {
    await replaceFile(path, (temporary) =>
      pipeline(archive, createWriteStream(temporary, { flags: 'wx', mode: PRIVATE_FILE }), { signal }),
    );
  } catch (error) {
    throw wrapError(`save ${references.join(', ')} to ${path}`, error);
  }
}

function checkPath(what: string, path: string): void {
  if (!isAbsolute(path)) throw new PodwrightError('invalid_argument', `${what} "${path}": the path is not absolute`);
}
