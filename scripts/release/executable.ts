/**
 * Builds the executable: Node.js with the bundle, the native parts and the compiled code (nodejs.org/api/single-executable-applications).
 */
import { type ExecFileSyncOptions, execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { PROCESS_FLAGS } from '../../packages/cli/src/daemon/daemon-flags.ts';
import { buildFacts } from '../build-facts.ts';
import { bundleImports } from '../bundle-imports.ts';
import type { Chunks } from './chunks.ts';
import { compileCode } from './compiled-code.ts';
import { nativeParts } from './native-parts.ts';
import { type Architecture, nodeBinary } from './node-binary.ts';
import { appendPayload } from './payload.ts';

/**
 * Flags of Node.js only, because it would reject the executable's compiled code if V8 flags were set. The warning is disabled because
 * `process.execve` and code from memory are experimental.
 */
const FLAGS = ['--disable-warning=ExperimentalWarning', ...PROCESS_FLAGS];

const POSTJECT = 'node_modules/postject/dist/cli.js';
/** Node.js looks for an embedded script if this text is followed by `:1`. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** The worker is stored as an asset, because the package it belongs to does not read the payload. */
const WORKER = 'unpack-worker.cjs';

export async function buildExecutable(output: string, chunks: Chunks, architecture: Architecture): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-executable-'));
  try {
    await buildMain(join(directory, 'main.cjs'));
    const parts = makeParts(directory, chunks, architecture);
    inject(output, directory, architecture);
    appendPayload(output, parts);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Adds the main script to Node.js, which is stripped to make the file smaller. */
function inject(output: string, directory: string, architecture: Architecture): void {
  const config = {
    main: 'main.cjs', // a relative path, because the executable contains it
    output: 'main.blob',
    disableExperimentalSEAWarning: true,
    execArgv: FLAGS,
    // NODE_OPTIONS rather than arguments: Node.js would pick its own options out of the commands of `podwright exec`.
    execArgvExtension: 'env',
    assets: { [WORKER]: `chunks/${WORKER}` },
  };
  writeFileSync(join(directory, 'sea.json'), JSON.stringify(config));
  const options: ExecFileSyncOptions = { cwd: directory, stdio: 'pipe' };
  execFileSync(nodeBinary(process.arch as Architecture).program, ['--experimental-sea-config', 'sea.json'], options);
  copyFileSync(nodeBinary(architecture).stripped, output);
  chmodSync(output, 0o755);
  const blob = ['NODE_SEA_BLOB', join(directory, 'main.blob')];
  execFileSync(process.execPath, [POSTJECT, output, ...blob, '--sentinel-fuse', FUSE], { stdio: 'ignore' });
}

async function buildMain(outfile: string): Promise<void> {
  await build({
    entryPoints: ['scripts/release/executable/start.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node24',
    minifyWhitespace: true,
    define: buildFacts(),
    plugins: [bundleImports(process.cwd())],
  });
}

/** Returns the files embedded in the executable, by name: chunks, compiled code and native parts. */
function makeParts(directory: string, { code }: Chunks, architecture: Architecture): Map<string, Buffer> {
  const folders = { chunks: join(directory, 'chunks'), code: join(directory, 'code') };
  for (const folder of Object.values(folders)) mkdirSync(folder);
  for (const [name, source] of code) writeFileSync(join(folders.chunks, name), source, 'latin1');
  if (architecture === process.arch) compileCode([nodeBinary(architecture).program, ...FLAGS], folders);
  const files = Object.values(folders).flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name !== WORKER)
      .map((name): [string, Buffer] => [name, readFileSync(join(folder, name))]),
  );
  return new Map([...files, ...Object.entries(nativeParts(architecture))].sort(([a], [b]) => (a < b ? -1 : 1)));
}
