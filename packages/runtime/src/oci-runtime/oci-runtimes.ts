import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode, errorMessage, isErrno, isShortage, makePrivateDirectory, PodwrightError } from '@podwright/base';
import { findProgram, readJsonFile, readVersion, writeFileAtomic } from '@podwright/host';
import { withoutUnifiedTree } from './hybrid-crun.ts';
import type { OciFastPaths } from './oci-fast-paths.ts';
import { findFeatures, type OciRuntimeFeatures } from './oci-features.ts';
import type { OciProgram } from './oci-program.ts';
import { type OciTrialOptions, type OciTrialResult, tryOciProgram } from './oci-trial.ts';
import type { StateFormat } from './state-files.ts';

/** An OCI runtime found on this host, and whether it works. `reason` is the OCI runtime's own error message. */
export type OciRuntimeFinding = {
  name: string;
  path: string;
  version: string;
  features: OciRuntimeFeatures;
  /** Whether the OCI runtime is referenced only by runtime handlers. If so, it is never the default. */
  onlyForHandlers?: boolean;
} & (
  | {
      works: true;
      program: OciProgram;
      /** Whether the OCI runtime works only with the cgroup v2 hierarchy of a hybrid host hidden from it. */
      wrapped: boolean;
    }
  | { works: false; reason: string }
);

export type OciProbeOptions = OciTrialOptions & {
  /** Directory for cached findings. Trying an OCI runtime takes 100 ms; later starts use the cached finding instead. */
  cacheDirectory: string;
  bootId: string;
  fastPaths: OciFastPaths;
};

/** Incremented when the trials or the format of findings change, to invalidate findings from older versions of Podwright. */
const PROBE_VERSION = 8;

/** Maximum size of the cache. An OCI runtime's finding takes up to 4 KiB, most of it the OCI runtime's error message. */
const MAX_CACHE_BYTES = 1 << 20;

const NO_FEATURES: OciRuntimeFeatures = { recursiveReadonlyMounts: false, userNamespaces: false };

/** OCI runtimes in order of preference: crun takes half as long as runc. */
export const KNOWN_OCI_RUNTIMES = ['crun', 'runc'];

/** Finds an OCI runtime by name or path and tries it. Returns `undefined` if it is not installed. */
export async function probeOciRuntime(
  nameOrPath: string,
  options: OciProbeOptions,
): Promise<OciRuntimeFinding | undefined> {
  const path = findProgram(nameOrPath);
  if (path === undefined) return undefined;
  const { mtimeMs, size } = await stat(path);
  const cache = join(options.cacheDirectory, `oci-${basename(path)}.json`);
  const program = [PROBE_VERSION, path, mtimeMs, size].join(' ');
  const key = [program, options.bootId, options.cgroups.mode, options.fastPaths.name].join(' ');
  const cached = await readCache(cache);
  if (cached?.key === key) return cached.finding;
  const shortages: unknown[] = [];
  const finding = await probe(path, { ...options, onShortage: (error) => shortages.push(error) });
  // The trials were inconclusive: use an earlier finding if there is one. The trials are repeated at the next start.
  if (shortages.length > 0) return cached?.key.startsWith(`${program} `) ? cached.finding : finding;
  await writeCache(cache, { key, finding });
  return finding;
}

/**
 * Returns the OCI runtime to use: the configured one, or the first that works. If none works, throws `failed_precondition` with the reason
 * for each.
 */
export function chooseOciRuntime(findings: OciRuntimeFinding[], requested: string): OciProgram {
  const candidates = findings.filter((finding) => isRequested(finding, requested));
  for (const finding of candidates) if (finding.works) return finding.program;
  const reasons = candidates.map((finding) => `${finding.name}: ${finding.works ? '' : finding.reason}`);
  throw new PodwrightError(
    'failed_precondition',
    `choose an OCI runtime: ${
      reasons.length > 0
        ? `none works here (${reasons.join('; ')})`
        : `${requested === '' ? 'neither crun nor runc is' : `${requested} is not`} installed; install the package ${requested || 'crun'}`
    }`,
  );
}

/** Whether this name or path refers to this OCI runtime; '' requests the default. */
export function isRequested({ name, path, onlyForHandlers }: OciRuntimeFinding, requested: string): boolean {
  return requested === '' ? onlyForHandlers !== true : requested === name || requested === path;
}

/**
 * Options for trying an OCI runtime. `onShortage` is called if a trial fails because of a lack of disk space or file descriptors. The
 * finding is then not cached.
 */
type Probing = OciProbeOptions & { onShortage: (error: unknown) => void };

async function probe(path: string, options: Probing): Promise<OciRuntimeFinding> {
  const name = basename(path);
  const version = await readVersion(path).catch(() => '');
  const found = { name, path, version };
  const plain = { name, path };
  const expected = options.fastPaths.expectedFormat(found);
  const outcome = await trial(plain, options, expected);
  if (typeof outcome !== 'string') {
    const program = { ...plain, ...outcome };
    return { ...found, works: true, program, wrapped: false, features: await findFeatures(path, plain, options) };
  }
  const wrapper = name === 'crun' ? withoutUnifiedTree(path, options.cgroups) : undefined;
  if (wrapper === undefined) return { ...found, features: NO_FEATURES, works: false, reason: outcome };
  const hidden = options.fastPaths.restrict(wrapper);
  // try `covered`, the faster way to start crun, first
  const { covered, ...uncovered } = hidden;
  const candidates = covered === undefined ? [hidden] : [hidden, uncovered];
  const reasons = [outcome];
  for (const candidate of candidates) {
    const hiddenOutcome = await trial(candidate, options, expected);
    if (typeof hiddenOutcome !== 'string') {
      const features = await findFeatures(path, candidate, options);
      return { ...found, works: true, program: { ...candidate, ...hiddenOutcome }, wrapped: true, features };
    }
    reasons.push(`without the unified cgroup tree: ${hiddenOutcome}`);
  }
  return { ...found, features: NO_FEATURES, works: false, reason: [...new Set(reasons)].join('; ') };
}

/** Returns the trial's result, or an error message if the OCI runtime does not work. */
async function trial(
  program: OciProgram,
  options: Probing,
  expected: StateFormat | undefined,
): Promise<OciTrialResult | string> {
  return await tryOciProgram(program, options, { expected }).catch((error: unknown) => {
    if (isShortage(error)) options.onShortage(error);
    return errorMessage(error);
  });
}

type Cached = { key: string; finding: OciRuntimeFinding };

/** Caches an OCI runtime's finding. No-op if the disk is full; the OCI runtime is then tried again at the next start. */
async function writeCache(path: string, cached: Cached): Promise<void> {
  try {
    makePrivateDirectory(dirname(path));
    await writeFileAtomic(path, JSON.stringify(cached));
  } catch (error) {
    if (!isShortage(error)) throw error;
  }
}

async function readCache(path: string): Promise<Cached | undefined> {
  try {
    return (await readJsonFile(path, MAX_CACHE_BYTES)) as Cached;
  } catch (error) {
    if (isErrno(error, 'ENOENT') || errorCode(error) === 'data_loss') return undefined;
    throw error;
  }
}
