import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno, PodwrightError, PRIVATE_DIRECTORY, PRIVATE_FILE, wrapError } from '@podwright/base';
import type { OciSpec } from '@podwright/oci';
import * as z from 'zod';

/** Name of the file with a bundle's OCI spec (runtime-spec, bundle.md). */
const CONFIG_FILE = 'config.json';

/** The OCI spec fields read by this package. The others are checked by the OCI runtime. */
const committedSpec = z.looseObject({
  process: z.looseObject({ args: z.array(z.string()), env: z.array(z.string()), cwd: z.string() }),
  root: z.looseObject({ path: z.string() }),
  mounts: z.array(z.looseObject({})),
  linux: z.looseObject({ cgroupsPath: z.string(), namespaces: z.array(z.looseObject({ type: z.string() })) }),
});

/**
 * Atomically replaces a bundle's OCI spec, for the next start and for later execs. Readers see either the old or the new spec, even after a
 * crash. Creates the bundle if necessary. To be called only by the bundle's owner: the code for containers or for infra processes.
 */
export function commitSpec(bundle: string, spec: OciSpec): void {
  const path = join(bundle, CONFIG_FILE);
  const temporary = `${path}.tmp`;
  mkdirSync(bundle, { recursive: true, mode: PRIVATE_DIRECTORY });
  try {
    rmSync(temporary, { force: true }); // left by a crash
    writeFileSync(temporary, JSON.stringify(spec), { mode: PRIVATE_FILE, flag: 'wx' });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw wrapError(`write ${path}`, error);
  }
}

/** Returns the last committed OCI spec; `undefined` if there is none. Throws `internal` if the file is not an OCI spec. */
export function readSpec(bundle: string): OciSpec | undefined {
  return read(bundle, (text) => {
    const spec: unknown = JSON.parse(text);
    const { error } = committedSpec.safeParse(spec);
    if (error === undefined) return spec as OciSpec;
    const [issue] = error.issues;
    throw new PodwrightError('internal', `${issue?.path.join('.')}: ${issue?.message}`);
  });
}

/**
 * Returns the last committed OCI spec as JSON text, for display. The text is not parsed, because the file is written atomically. Throws
 * `internal` if it is incomplete.
 */
export function readSpecText(bundle: string): string | undefined {
  return read(bundle, (text) => {
    if (text.startsWith('{') && text.endsWith('}')) return text;
    throw new PodwrightError('internal', 'it is not a JSON object');
  });
}

function read<T>(bundle: string, decode: (text: string) => T): T | undefined {
  const path = join(bundle, CONFIG_FILE);
  try {
    return decode(readFileSync(path, 'utf8'));
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw wrapError(`read ${path}`, error, 'internal');
  }
}
