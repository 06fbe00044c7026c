/**
 * Builds the image for the examples and tests from the host's static busybox, without image tools and without a network: `node
 * scripts/example-image.ts OUT_TAR` writes an OCI archive. Deterministic: the same busybox produces the same digests.
 */
import { chmod, copyFile, mkdir, mkdtemp, open, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { errorMessage, isErrno, PodwrightError } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { type WrittenImage, writeImageArchive, writeImageLayout } from './image-archive.ts';

/** Name of the example image in the annotations of its OCI layout. */
export const EXAMPLE_IMAGE_NAME = 'localhost/podwright/busybox:1';

export type ExampleImageOptions = {
  /** Full name of the image, with a tag. */
  name?: string;
  /** Files to add or replace, as text by absolute path in the image. */
  files?: Record<string, string>;
  /** Merged over the default `config` object of the image config (image-spec v1, config.md). */
  config?: Record<string, unknown>;
  /** Path of a static busybox. */
  busybox?: string;
};

export type ExampleImage = WrittenImage;

const EMPTY_DIRECTORIES = ['dev', 'etc', 'home', 'proc', 'run', 'srv', 'sys', 'usr', 'var/log', 'var/tmp'];

/** Writes an OCI layout (image-spec v1, image-layout.md) containing one single-layer image to the empty directory `layout`. */
export async function makeExampleImage(layout: string, options: ExampleImageOptions = {}): Promise<ExampleImage> {
  const scratch = await mkdtemp(join(tmpdir(), 'podwright-image-'));
  try {
    const root = join(scratch, 'root');
    await fillRoot(root, options);
    return await writeImageLayout(layout, {
      name: options.name ?? EXAMPLE_IMAGE_NAME,
      root,
      config: { Cmd: ['sh'], ...options.config },
      origin: 'busybox from the host',
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Writes the image as a single tar file for `podwright load`. */
export function writeExampleArchive(path: string, options: ExampleImageOptions = {}): Promise<ExampleImage> {
  return writeImageArchive(path, (layout) => makeExampleImage(layout, options));
}

async function fillRoot(root: string, options: ExampleImageOptions): Promise<void> {
  const busybox = await findStaticBusybox(options.busybox);
  for (const directory of ['bin', ...EMPTY_DIRECTORIES]) await mkdir(join(root, directory), { recursive: true });
  await mkdir(join(root, 'root'), { mode: 0o700 });
  await mkdir(join(root, 'tmp'));
  await chmod(join(root, 'tmp'), 0o1777);
  await copyFile(busybox, join(root, 'bin/busybox'));
  await chmod(join(root, 'bin/busybox'), 0o755);
  const applets = (await runChecked(busybox, ['--list'])).split('\n');
  for (const applet of applets) {
    // `busybox --list` includes busybox itself
    if (applet !== '' && applet !== 'busybox') await symlink('busybox', join(root, 'bin', applet));
  }
  const files: Record<string, string> = {
    '/etc/passwd': 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/home:/bin/false\n',
    '/etc/group': 'root:x:0:\nnobody:x:65534:\n',
    ...options.files,
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

async function findStaticBusybox(given: string | undefined): Promise<string> {
  for (const path of given === undefined ? ['/bin/busybox', '/usr/bin/busybox'] : [given]) {
    if (await isStaticProgram(path)) return path;
  }
  const tried = given ?? '/bin/busybox';
  throw new PodwrightError(
    'failed_precondition',
    `make the example image: ${tried} is missing or not static; install it with: apt-get install busybox-static`,
  );
}

/** Whether a file is an ELF file (64-bit, little-endian) without a PT_INTERP program header. */
async function isStaticProgram(path: string): Promise<boolean> {
  try {
    await using file = await open(path);
    const header = Buffer.alloc(4096);
    await file.read(header, 0, header.length, 0);
    if (header.readUInt32BE(0) !== 0x7f454c46) return false;
    const [offset, size, count] = [
      Number(header.readBigUInt64LE(32)),
      header.readUInt16LE(54),
      header.readUInt16LE(56),
    ];
    const types = Array.from({ length: count }, (_, index) => header.readUInt32LE(offset + index * size));
    return !types.includes(3);
  } catch (error) {
    if (isErrno(error, 'ENOENT') || error instanceof RangeError) return false;
    throw error;
  }
}

if (import.meta.main) {
  const [path] = process.argv.slice(2);
  if (path === undefined) {
    process.stderr.write('usage: node scripts/example-image.ts OUT_TAR\n');
    process.exitCode = 2;
  } else {
    try {
      const image = await writeExampleArchive(path);
      process.stdout.write(`${image.name} ${image.id}\n`);
    } catch (error) {
      process.stderr.write(`${errorMessage(error)}\n`);
      process.exitCode = 1;
    }
  }
}
