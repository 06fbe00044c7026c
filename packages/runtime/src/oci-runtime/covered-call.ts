import { close } from 'node:fs';
import type { ProgramStarter } from '@podwright/base';
import { createCoveredNamespace, type NamespaceDependencies, withMountNamespace } from '@podwright/system';
import type { OciProgram } from './oci-program.ts';

/**
 * Calls of a runtime for which a tree of cgroups is covered: the mount namespace of each is made by this process, which saves
 * the start of three programs. It goes when the call is disposed of, once the runtime has ended: the last one to leave a
 * namespace waits for a grace period of the kernel, so that is to be neither the runtime nor this thread. If this process dies
 * before, a runtime that has not begun fails, as it finds no namespace. Programs for which nothing is covered stay as they are.
 */
export type CoveredCall<P extends OciProgram> = { program: P } & Disposable;

/** The program as one that is not to be in the namespace starts it: conmon, which outlives the call. */
export function startedByOthers<P extends OciProgram>(program: P, dependencies: NamespaceDependencies): CoveredCall<P> {
  const { covered } = program;
  if (covered === undefined) return { program, [Symbol.dispose]: () => undefined };
  const namespace = createCoveredNamespace(dependencies, covered.tree);
  const args = [`--mount=/proc/${process.pid}/fd/${namespace}`, '--', covered.path];
  return { program: { ...program, path: covered.nsenter, args }, [Symbol.dispose]: () => letGo(namespace) };
}

/** The program as this process starts it, and with what. */
export function startedHere<P extends OciProgram>(
  { program, start }: { program: P; start: ProgramStarter },
  dependencies: NamespaceDependencies,
): CoveredCall<P> & { start: ProgramStarter } {
  const { covered } = program;
  if (covered === undefined) return { program, start, [Symbol.dispose]: () => undefined };
  const namespace = createCoveredNamespace(dependencies, covered.tree);
  const within = <T>(work: () => T) => withMountNamespace(dependencies, namespace, work);
  return {
    program: { ...program, path: covered.path, args: [] },
    start: (file, args, options) => start(file, args, { ...options, within }),
    [Symbol.dispose]: () => letGo(namespace),
  };
}

function letGo(namespace: number): void {
  close(namespace, () => undefined);
}
