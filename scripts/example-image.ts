/**
 * Builds the image of the examples and the tests from the host's static busybox, without image tools and without a
 * network: `node scripts/example-image.ts OUT_TAR` writes an OCI archive. Deterministic: the same busybox gives the same digests.
 */
import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, mkdtemp, open, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { errorMessage, isErrno, PodwrightError } from '@podwright/base';
import { runChecked } from '@podwright/host';

/** The name of the image in the layout's annotations. */
export const EXAMPLE_IMAGE_NAME = 'localhost/podwright/busybox:1';

export type ExampleImageOptions = {
  /** Full name with a tag. */
  name?: string;
  /** Extra or replaced files: absolute path in the image → text. */
  files?: Record<string, string>;
  /** Merged over the default `config` object of the image config (image-spec v1, config.md). */
  config?: Record<string, unknown>;
  /** Path of a static busybox. */
  busybox?: string;
};

export type ExampleImage = { name: string; layout: string; manifestDigest: string; id: string; layerDigest: string };

type Blob = { digest: string; size: number };

const EMPTY_DIRECTORIES = ['dev', 'etc', 'home', 'proc', 'run', 'srv', 'sys', 'usr', 'var/log', 'var/tmp'];

/** Writes an OCI layout (image-spec v1, image-layout.md) with one image of one layer into the empty directory `layout`. */
export async function makeExampleImage(layout: string, options: ExampleImageOptions = {}): Promise<ExampleImage> {
  const name = options.name ?? EXAMPLE_IMAGE_NAME;
  const scratch = await mkdtemp(join(tmpdir(), 'podwright-image-'));
  try {
    await mkdir(join(layout, 'blobs/sha256'), { recursive: true });
    await fillRoot(join(scratch, 'root'), options);
    const { layer, diffId } = await packLayer(join(scratch, 'root'), layout);
    const config = await putJson(layout, imageConfig(diffId, options.config));
    const manifest = await putJson(layout, {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...config },
      layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', ...layer }],
    });
    await writeLayoutIndex(layout, manifest, name);
    return { name, layout, manifestDigest: manifest.digest, id: config.digest, layerDigest: layer.digest };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Writes the image as one tar file for `podwright load`, with a `manifest.json` for Docker Engines before 25. */
export async function writeExampleArchive(path: string, options: ExampleImageOptions = {}): Promise<ExampleImage> {
  const scratch = await mkdtemp(join(tmpdir(), 'podwright-layout-'));
  try {
    const image = await makeExampleImage(scratch, options);
    await mkdir(dirname(resolve(path)), { recursive: true });
    const blob = (digest: string) => `blobs/sha256/${digest.slice('sha256:'.length)}`;
    const docker = [{ Config: blob(image.id), RepoTags: [image.name], Layers: [blob(image.layerDigest)] }];
    await writeFile(join(scratch, 'manifest.json'), JSON.stringify(docker));
    const entries = ['oci-layout', 'index.json', 'manifest.json', 'blobs'];
    await runChecked('tar', [...reproducible, '-C', scratch, '-cf', path, ...entries]);
    return { ...image, layout: path };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const reproducible = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--format=gnu'];

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

/** Whether a file is an ELF file (64 bit, little endian) without a PT_INTERP program header. */
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

async function packLayer(root: string, layout: string): Promise<{ layer: Blob; diffId: string }> {
  const tar = `${root}.tar`;
  await runChecked('tar', [...reproducible, '-C', root, '-cf', tar, '.']);
  const diffId = sha256(await readFile(tar));
  await runChecked('gzip', ['-n', '-6', '-f', tar]);
  const digest = sha256(await readFile(`${tar}.gz`));
  await copyFile(`${tar}.gz`, join(layout, 'blobs/sha256', digest));
  const { size } = await stat(`${tar}.gz`);
  return { layer: { digest: `sha256:${digest}`, size }, diffId: `sha256:${diffId}` };
}

function imageConfig(diffId: string, overrides: Record<string, unknown> = {}): object {
  return {
    created: '1970-01-01T00:00:00Z',
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { Env: ['PATH=/bin:/usr/bin:/sbin:/usr/sbin'], Cmd: ['sh'], WorkingDir: '/', ...overrides },
    rootfs: { type: 'layers', diff_ids: [diffId] },
    history: [{ created: '1970-01-01T00:00:00Z', created_by: 'busybox from the host' }],
  };
}

async function writeLayoutIndex(layout: string, manifest: Blob, name: string): Promise<void> {
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        ...manifest,
        annotations: {
          'io.containerd.image.name': name,
          'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
        },
      },
    ],
  };
  await writeFile(join(layout, 'index.json'), JSON.stringify(index));
  await writeFile(join(layout, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
}

async function putJson(layout: string, value: object): Promise<Blob> {
  const data = Buffer.from(JSON.stringify(value));
  await writeFile(join(layout, 'blobs/sha256', sha256(data)), data);
  return { digest: `sha256:${sha256(data)}`, size: data.length };
}

function sha256(data: Buffer): string {
  return createHash('sha256').update(data).digest('hex');
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
