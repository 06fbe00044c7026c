import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno, PodwrightError, PRIVATE_DIRECTORY, PRIVATE_FILE, wrapError } from '@podwright/base';
import * as z from 'zod';
import type { OciSpec } from '../oci/spec.ts';

/** The file of a bundle with the specification that runs (runtime-spec, bundle.md). */
const CONFIG_FILE = 'config.json';

/** The fields that we read again; the others are for the OCI runtime, which checks them itself. */
const committedSpec = z.looseObject({
  process: z.looseObject({ args: z.array(z.string()), env: z.array(z.string()), cwd: z.string() }),
  root: z.looseObject({ path: z.string() }),
  mounts: z.array(z.looseObject({})),
  linux: z.looseObject({ cgroupsPath: z.string(), namespaces: z.array(z.looseObject({ type: z.string() })) }),
});

/**
 * Makes the specification the one that the bundle runs, now or from its next start on: a reader, or a crash, sees the old one
 * or this one. Makes the bundle if it is missing. Only the owner of a bundle may call this: the container room, or that of a pod's own process.
 */
export function commitSpec(bundle: string, spec: OciSpec): void {
  const path = join(bundle, CONFIG_FILE);
  const temporary = `${path}.tmp`;
  mkdirSync(bundle, { recursive: true, mode: PRIVATE_DIRECTORY });
  try {
    rmSync(temporary, { force: true }); // of a crash
    writeFileSync(temporary, JSON.stringify(spec), { mode: PRIVATE_FILE, flag: 'wx' });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw wrapError(`write ${path}`, error);
  }
}

/** What was committed last; `undefined` if nothing was. `internal` if it is not a specification. */
export function readSpec(bundle: string): OciSpec | undefined {
  return read(bundle, (text) => {
    const spec: unknown = JSON.parse(text);
    const { error } = committedSpec.safeParse(spec);
    if (error === undefined) return spec as OciSpec;
    const [issue] = error.issues;
    throw new PodwrightError('internal', `${issue?.path.join('.')}: ${issue?.message}`);
  });
}

/** The same as JSON, to be shown. It was committed as a whole, so it is not parsed: only half a file is an `internal`. */
export function readSpecText(bundle: string): string | undefined {
  return read(bundle, (text) => {
    if (text.startsWith('{') && text.endsWith('}')) return text;
    throw new PodwrightError('internal', 'it is no JSON object');
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
