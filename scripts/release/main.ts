/**
 * Builds the release: `node scripts/release/main.ts [DIRECTORY [x64]]` (default: `dist/release`, all architectures). Replaces any release
 * in the directory. The same commit produces the same bytes (docs/releasing.md).
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { versionOfBuild } from '../build-facts.ts';
import { makeArchives } from './archive.ts';
import { bundledPackages } from './bundled-packages.ts';
import { makeChunks } from './chunks.ts';
import { makeDeb } from './deb.ts';
import { buildExecutable } from './executable.ts';
import { makeImage } from './image.ts';
import { thirdPartyLicences } from './licences.ts';
import { ARCHITECTURES, type Architecture } from './node-binary.ts';
import { makeRpm } from './rpm.ts';
import { run } from './run.ts';
import { makeSbom } from './sbom.ts';

const [directory = 'dist/release', architecture] = process.argv.slice(2);
if (architecture !== undefined && architecture !== 'x64')
  throw new Error(`${architecture}: only x64 can be made alone`);
const x64Only = architecture === 'x64';
/** Names of files in a release directory. Other files keep the directory from being replaced. */
const OWN_NAME = /^(?:podwright[-_].+|npm|install\.sh|SHA256SUMS)$/;
// File modes are part of the release and must not depend on the caller's umask.
process.umask(0o022);
await release(directory);

async function release(output: string): Promise<void> {
  if (process.arch !== 'x64') throw new Error(`the release is made on x64, not on ${process.arch}`);
  const other = existsSync(output) && readdirSync(output).find((name) => !OWN_NAME.test(name));
  if (other) throw new Error(`${output} contains ${other}, which is no file of a release`);
  const scratch = mkdtempSync(join(tmpdir(), 'podwright-release-'));
  try {
    rmSync(output, { recursive: true, force: true });
    mkdirSync(output, { recursive: true });
    await makeFiles(output, scratch);
    writeSums(output);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

async function makeFiles(output: string, scratch: string): Promise<void> {
  const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? execFileSync('git', ['log', '-1', '--format=%ct']));
  const version = versionOfBuild();
  const chunks = await makeChunks();
  const packages = bundledPackages(chunks.metafile);
  const licences = thirdPartyLicences(packages);
  const executables = {} as Record<Architecture, string>;
  for (const architecture of ARCHITECTURES) {
    if (x64Only && architecture !== 'x64') continue;
    const executable = join(scratch, `podwright-${architecture}`);
    await buildExecutable(executable, chunks, architecture);
    const name = `podwright-${version}-linux-${architecture}`;
    makeArchives(output, { name, scratch, files: { executable, licences }, epoch });
    executables[architecture] = executable;
  }
  const files = { executable: executables.x64, licences };
  makeDeb(join(output, `podwright_${version}_amd64.deb`), { version, scratch, files, epoch });
  makeRpm(join(output, `podwright-${version}-1.x86_64.rpm`), { version, scratch, files, epoch });
  await makeImage(join(output, `podwright-${version}-oci.tar`), {
    version,
    scratch,
    files,
    epoch,
  });
  cpSync('install.sh', join(output, 'install.sh'));
  run(process.execPath, ['scripts/packages/main.ts', 'pack', join(output, 'npm')]);
  writeFileSync(join(output, `podwright-${version}.cdx.json`), makeSbom({ version, packages, epoch }));
}

/** Writes checksums in the format of sha256sum(1). */
function writeSums(directory: string): void {
  const lines = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name !== 'npm')
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(directory, name)))
          .digest('hex')}  ${name}\n`,
    );
  writeFileSync(join(directory, 'SHA256SUMS'), lines.join(''));
}
