import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OciSpec } from '../oci/spec.ts';
import { MAX_SECCOMP_FILTERS } from './limits.ts';
import type { OciRuntime } from './oci-program.ts';

/** Annotation by which crun(1) takes a compiled filter, in base64, in the place of `linux.seccomp`. */
const COMPILED_FILTER = 'run.oci.seccomp_bpf_data';

/**
 * The filters that crun has compiled out of seccomp profiles, as it left them in its state. A container whose profile is known is
 * given the filter with it: to compile one takes crun 12 of the 20 ms that it needs for a container. In memory only, so that what
 * filters a container is never older than this process, and of no other origin than crun's directory.
 */
export class SeccompFilters {
  readonly #compiled = new Map<string, string>();

  /** The specification with the compiled filter of its profile; `undefined` where none is known, or the runtime takes none. */
  withCompiled(spec: OciSpec, runtime: OciRuntime): OciSpec | undefined {
    const filter = this.#compiled.get(keyOf(spec, runtime) ?? '');
    return filter === undefined
      ? undefined
      : { ...spec, annotations: { ...spec.annotations, [COMPILED_FILTER]: filter } };
  }

  /** Remembers the filter of the container `id`, which the runtime has just created from this specification. */
  remember(spec: OciSpec, runtime: OciRuntime, id: string): void {
    const key = keyOf(spec, runtime);
    if (key === undefined || this.#compiled.has(key)) return;
    const [oldest] = this.#compiled.keys();
    if (oldest !== undefined && this.#compiled.size >= MAX_SECCOMP_FILTERS) this.#compiled.delete(oldest);
    try {
      const filter = readFileSync(join(runtime.root, id, 'seccomp.bpf'));
      if (filter.length > 0) this.#compiled.set(key, filter.toString('base64'));
    } catch {
      // it has ended already, and the next one of this profile is compiled anew
    }
  }
}

/** Only of a crun whose state files are as known, as a trial has shown; those with a listener are for crun to connect. */
function keyOf({ linux: { seccomp } }: OciSpec, { path, args, stateFormat }: OciRuntime): string | undefined {
  if (seccomp === undefined || stateFormat !== 'crun' || 'listenerPath' in seccomp) return undefined;
  return JSON.stringify([path, args, seccomp]);
}
