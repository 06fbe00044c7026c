import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { EXECUTABLE, PodwrightError, PROGRAM_FILE, wrapError } from '@podwright/base';
import { readTar, type TarHeader } from '@podwright/images/tar';

/** A release archive for this machine's architecture. Its file name contains the version. */
export type ReleaseArchive = { path: string; version: string };

const NAME = /^podwright-(\d+\.\d+\.\d+[\w.+-]*)-linux-(\w+)\.tar\.(?:zst|gz)$/;
const SUMS = 'SHA256SUMS';

/**
 * Finds the archive, compressed with zstd or gzip: either `path` itself, or an archive in the directory `path`. Throws `invalid_argument`
 * if there is none for this architecture.
 */
export function findArchive(path: string): ReleaseArchive {
  const kind = statSync(path);
  if (kind.isFile()) return archiveOf(path);
  if (!kind.isDirectory()) throw new PodwrightError('invalid_argument', `${path} is neither a file nor a directory`); // it may have no end
  const all = readdirSync(path).filter((name) => NAME.exec(name)?.[2] === process.arch);
  const zstd = all.filter((name) => name.endsWith('.zst'));
  const own = zstd.length > 0 ? zstd : all; // a release has the same files for hosts without zstd
  if (own.length === 1) return findArchive(join(path, own[0]!));
  const what = own.length === 0 ? 'has no file' : 'has several files';
  throw new PodwrightError('invalid_argument', `${path} ${what} podwright-VERSION-linux-${process.arch}.tar.zst`);
}

function archiveOf(path: string): ReleaseArchive {
  const [, version, architecture] = NAME.exec(basename(path)) ?? [];
  if (version === undefined)
    throw new PodwrightError(
      'invalid_argument',
      `${path} is not named podwright-VERSION-linux-${process.arch}.tar.zst`,
    );
  if (architecture !== process.arch)
    throw new PodwrightError('invalid_argument', `${path} is for ${architecture}, and this machine is ${process.arch}`);
  return { path, version };
}

/** Checks the archive against its line in the `SHA256SUMS` file next to it. Throws `data_loss` if they differ. */
export async function verifyArchive({ path }: ReleaseArchive): Promise<void> {
  const expected = sumOf(path);
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  const found = hash.digest('hex');
  if (found === expected) return;
  throw new PodwrightError(
    'data_loss',
    `${path} is damaged or incomplete: its SHA-256 is ${found}, and ${SUMS} has ${expected}`,
  );
}

function sumOf(path: string): string {
  const sums = join(dirname(path), SUMS);
  const lines = readSums(sums).split('\n');
  const [sum] = lines.flatMap((line) => {
    const [, digest, name] = /^([\da-f]{64}) [ *](.+)$/.exec(line) ?? [];
    return name === basename(path) ? [digest!] : [];
  });
  if (sum === undefined) throw new PodwrightError('invalid_argument', `${sums} has no line for ${basename(path)}`);
  return sum;
}

function readSums(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw wrapError(`read the checksums ${path}`, error);
  }
}

/** Extracts the archive's program to a new file, and syncs the file to disk. */
export async function unpackProgram({ path }: ReleaseArchive, destination: string): Promise<void> {
  const packed = createReadStream(path);
  const unpacked = packed.pipe(path.endsWith('.gz') ? createGunzip() : createZstdDecompress());
  packed.on('error', (error) => unpacked.destroy(error));
  try {
    for await (const { header, body } of readTar(unpacked))
      if (isProgram(header)) return await write(body, destination);
  } catch (error) {
    throw wrapError(`unpack ${path} to ${destination}`, error);
  } finally {
    packed.destroy();
  }
  throw new PodwrightError('invalid_argument', `${path} contains no file podwright`);
}

/** Whether an archive entry is the `podwright` program. A shell completion file may have the same name, but is not executable. */
const isProgram = ({ type, name, mode }: TarHeader) =>
  type === 'file' && basename(name) === 'podwright' && (mode & EXECUTABLE) !== 0;

async function write(body: AsyncIterable<Buffer>, destination: string): Promise<void> {
  await using file = await open(destination, 'wx', PROGRAM_FILE);
  for await (const bytes of body) await file.writeFile(bytes);
  await file.chmod(PROGRAM_FILE); // whatever the umask is
  await file.sync();
}
