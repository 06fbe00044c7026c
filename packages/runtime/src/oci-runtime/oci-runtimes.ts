import { readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  errorMessage,
  findProgram,
  isErrno,
  makePrivateDirectory,
  PodwrightError,
  readVersion,
  writeFileAtomic,
} from '@podwright/base';
import { withoutUnifiedTree } from './hybrid-crun.ts';
import { findFeatures, type OciRuntimeFeatures } from './oci-features.ts';
import type { OciProgram } from './oci-program.ts';
import { type OciTrialOptions, type OciTrialResult, tryOciProgram } from './oci-trial.ts';
import { expectedFormat, type StateFormat } from './state-files.ts';

/** An OCI runtime of this host, and whether it works here. `reason` is the runtime's own message. */
export type OciRuntimeFinding = {
  name: string;
  path: string;
  version: string;
  features: OciRuntimeFeatures;
} & (
  | {
      works: true;
      program: OciProgram /** It works only where it does not see the unified cgroup tree. */;
      wrapped: boolean;
    }
  | { works: false; reason: string }
);

export type OciProbeOptions = OciTrialOptions & {
  /** Where findings are kept: trying a runtime costs 100 ms, a second start must not pay. */
  cacheDirectory: string;
  bootId: string;
};

/** Counted up when what is tried, or what is made of it, changes: findings of an older Podwright are then not used. */
const PROBE_VERSION = 7;

const NO_FEATURES: OciRuntimeFeatures = { recursiveReadonlyMounts: false, userNamespaces: false };

/** Runtimes in order of preference: crun takes half of runc's time. */
export const KNOWN_OCI_RUNTIMES = ['crun', 'runc'];

/** Finds a runtime by name or path and tries it; `undefined` if it is not installed. */
export async function probeOciRuntime(
  nameOrPath: string,
  options: OciProbeOptions,
): Promise<OciRuntimeFinding | undefined> {
  const path = findProgram(nameOrPath);
  if (path === undefined) return undefined;
  const { mtimeMs, size } = await stat(path);
  const cache = join(options.cacheDirectory, `oci-${basename(path)}.json`);
  const key = [PROBE_VERSION, path, mtimeMs, size, options.bootId, options.cgroups.mode].join(' ');
  const cached = await readCache(cache, key);
  if (cached !== undefined) return cached;
  makePrivateDirectory(options.cacheDirectory);
  const finding = await probe(path, options);
  await writeFileAtomic(cache, JSON.stringify({ key, finding }));
  return finding;
}

/**
 * The runtime to use: the one asked for, or the first that works. `failed_precondition` if none does, with each one's
 * reason.
 */
export function chooseOciRuntime(findings: OciRuntimeFinding[], asked: string): OciProgram {
  const candidates = asked === '' ? findings : findings.filter(({ name, path }) => asked === name || asked === path);
  for (const finding of candidates) if (finding.works) return finding.program;
  const reasons = candidates.map((finding) => `${finding.name}: ${finding.works ? '' : finding.reason}`);
  throw new PodwrightError(
    'failed_precondition',
    `choose an OCI runtime: ${
      reasons.length > 0
        ? `none works here (${reasons.join('; ')})`
        : `${asked === '' ? 'neither crun nor runc' : asked} is not installed; install the package ${asked === '' ? 'crun' : asked}`
    }`,
  );
}

async function probe(path: string, options: OciProbeOptions): Promise<OciRuntimeFinding> {
  const name = basename(path);
  const version = await readVersion(path).catch(() => '');
  const found = { name, path, version };
  const plain = { name, path };
  const expected = expectedFormat(found);
  const outcome = await trial(plain, options, expected);
  if (typeof outcome !== 'string') {
    const program = { ...plain, ...outcome };
    return { ...found, works: true, program, wrapped: false, features: await findFeatures(path, plain, options) };
  }
  const hidden = name === 'crun' ? withoutUnifiedTree(path, options.cgroups) : undefined;
  if (hidden === undefined) return { ...found, features: NO_FEATURES, works: false, reason: outcome };
  // The short way where it can be gone, else the long one.
  const ways = hidden.covered === undefined ? [hidden] : [hidden, { ...hidden, covered: undefined }];
  const reasons = [outcome];
  for (const way of ways) {
    const hiddenOutcome = await trial(way, options, expected);
    if (typeof hiddenOutcome !== 'string') {
      const features = await findFeatures(path, way, options);
      return { ...found, works: true, program: { ...way, ...hiddenOutcome }, wrapped: true, features };
    }
    reasons.push(`without the unified cgroup tree: ${hiddenOutcome}`);
  }
  return { ...found, features: NO_FEATURES, works: false, reason: [...new Set(reasons)].join('; ') };
}

/** What the trial has shown, or why the program does not work. */
async function trial(
  program: OciProgram,
  options: OciTrialOptions,
  expected: StateFormat | undefined,
): Promise<OciTrialResult | string> {
  return await tryOciProgram(program, options, { expected }).catch(errorMessage);
}

async function readCache(path: string, key: string): Promise<OciRuntimeFinding | undefined> {
  try {
    const cached = JSON.parse(await readFile(path, 'utf8')) as { key: string; finding: OciRuntimeFinding };
    if (cached.key !== key) return undefined;
    return cached.finding;
  } catch (error) {
    if (isErrno(error, 'ENOENT') || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
