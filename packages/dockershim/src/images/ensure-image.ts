import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { errorCode, errorMessage, findProgram, PodwrightError, SharedWork, wrapError } from '@podwright/base';
import { unlessGone } from '../engine/unless-gone.ts';
import type { DockershimServices } from '../services.ts';
import { hostCredentials } from './host-credentials.ts';
import { oneFileArchive } from './one-file-archive.ts';
import { pullImage } from './pull-image.ts';
import { formatReference, type ImageReference, parseReference } from './reference.ts';

type Needs = Pick<DockershimServices, 'engine' | 'options' | 'logger'>;

/** Programs of the host that wait for signals for ever and reap what is left to them, and how they are told to; they must be static. */
const PAUSES = [
  { program: 'catatonit', args: ['-P'] },
  { program: 'busybox', args: ['sleep', '2147483647'] },
];

/** Where the host's own image says what it is, beside the name that was asked for. */
const MADE_NAME = 'podwright.local/pause';

/**
 * Makes a function that sees to it that an image for sandboxes is there: pulled with the credentials of the host's root, or, where
 * no registry answers, made of the host's catatonit or busybox under the same name. Calls for one image at once share the work.
 */
export function imageEnsurer(
  services: Needs,
  { home = homedir() }: { home?: string } = {},
): (reference: string, signal: AbortSignal) => Promise<void> {
  const work = new SharedWork();
  return async (text, signal) => {
    const reference = parseReference(text);
    const key = { key: `see to image ${formatReference(reference)}` };
    await work.run(key, signal, (abandoned) => ensureImage(services, { reference, home }, abandoned));
  };
}

type Wanted = { reference: ImageReference; home: string };

async function ensureImage(services: Needs, wanted: Wanted, signal: AbortSignal): Promise<void> {
  const { engine, logger } = services;
  const image = formatReference(wanted.reference);
  if ((await unlessGone(engine.images.inspect(image, signal))) !== undefined) return;
  try {
    return await pull(services, wanted, signal);
  } catch (error) {
    signal.throwIfAborted();
    const { name, version } = wanted.reference;
    if (!mayBeMade(error) || !('tag' in version)) throw error;
    const program = await makeImage(services, { name, tag: version.tag }, signal).catch((failure) => {
      throw wrapError(`${errorMessage(error)}; and it cannot be made`, failure, errorCode(error));
    });
    logger.warn(
      { image, program, error: errorMessage(error) },
      'sandbox image made of a program of the host: no registry answers',
    );
  }
}

/** Not for what a registry has refused: the image, its name or the credentials are wrong. */
function mayBeMade(error: unknown): boolean {
  return ['unavailable', 'deadline_exceeded', 'unknown'].includes(errorCode(error));
}

/** With each of the host's credentials for it in turn. */
async function pull(services: Needs, { reference, home }: Wanted, signal: AbortSignal): Promise<void> {
  const known = await hostCredentials(join(home, '.docker/config.json'), reference.name);
  let failure: unknown;
  for (const credentials of known.length > 0 ? known : [undefined]) {
    try {
      return void (await pullImage(services, { reference, credentials }, signal));
    } catch (error) {
      signal.throwIfAborted();
      failure ??= error;
    }
  }
  throw failure;
}

/** Gives the program that it was made of. */
async function makeImage(
  { engine }: Needs,
  { name, tag }: { name: string; tag: string },
  signal: AbortSignal,
): Promise<string> {
  for (const { program, args } of PAUSES) {
    const path = findProgram(program);
    if (path === undefined) continue;
    const archive = oneFileArchive(program, await readFile(path));
    const change = `ENTRYPOINT ${JSON.stringify([`/${program}`, ...args])}`;
    await engine.archives.import(Readable.from([archive]), { name: MADE_NAME, tag, change }, signal);
    await engine.archives.tag(`${MADE_NAME}:${tag}`, { repository: name, tag }, signal);
    return path;
  }
  const programs = PAUSES.map(({ program }) => program).join(' nor ');
  throw new PodwrightError('failed_precondition', `the host has neither ${programs}; install catatonit`);
}
