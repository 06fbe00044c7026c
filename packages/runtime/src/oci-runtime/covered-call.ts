import { close } from 'node:fs';
import type { ProgramStarter } from '@podwright/base';
import { createCoveredNamespace, type NamespaceDependencies, withMountNamespace } from '@podwright/system';
import type { OciProgram } from './oci-program.ts';
import type { SealedCopies } from './sealed-copies.ts';

/**
 * Calls of a runtime for which a tree of cgroups is covered: the mount namespace of each is made by this process, which saves
 * the start of three programs. It goes when the call is disposed of, once the runtime has ended: the last one to leave a
 * namespace waits for a grace period of the kernel, so that is to be neither the runtime nor this thread. If this process dies
 * before, a runtime that has not begun fails, as it finds no namespace. Programs for which nothing is covered are started in no
 * namespace of their own; all are started from sealed copies where a trial has shown that they can be.
 */
export type CoveredCall<P extends OciProgram> = { program: P } & Disposable;

export type CallDependencies = NamespaceDependencies & { copies: SealedCopies };

/** The program as one that is not to be in the namespace starts it: conmon, which outlives the call. */
export function startedByOthers<P extends OciProgram>(program: P, dependencies: CallDependencies): CoveredCall<P> {
  const { covered } = program;
  if (covered === undefined) return { program: sealed(program, dependencies), [Symbol.dispose]: () => undefined };
  const namespace = createCoveredNamespace(dependencies, covered.tree);
  const { path } = sealed({ ...program, path: covered.path }, dependencies);
  const args = [`--mount=/proc/${process.pid}/fd/${namespace}`, '--', path];
  return { program: { ...program, path: covered.nsenter, args }, [Symbol.dispose]: () => letGo(namespace) };
}

/** The program as this process starts it, and with what. */
export function startedHere<P extends OciProgram>(
  { program, start }: { program: P; start: ProgramStarter },
  dependencies: CallDependencies,
): CoveredCall<P> & { start: ProgramStarter } {
  const { covered } = program;
  if (covered === undefined)
    return { program: sealed(program, dependencies), start, [Symbol.dispose]: () => undefined };
  const namespace = createCoveredNamespace(dependencies, covered.tree);
  const within = <T>(work: () => T) => withMountNamespace(dependencies, namespace, work);
  return {
    program: sealed({ ...program, path: covered.path, args: [] }, dependencies),
    start: (file, args, options) => start(file, args, { ...options, within }),
    [Symbol.dispose]: () => letGo(namespace),
  };
}

function sealed<P extends OciProgram>(program: P, { copies }: CallDependencies): P {
  return program.sealed === true ? { ...program, path: copies.path(program.path) } : program;
}

function letGo(namespace: number): void {
  close(namespace, () => undefined);
}
