import { close } from 'node:fs';
import type { ProgramStarter } from '@podwright/host';
import { createCoveredNamespace, type NamespaceDependencies, withMountNamespace } from '@podwright/system';
import type { OciProgram } from './oci-program.ts';

/**
 * One call of an OCI runtime that must not see the cgroup v2 tree (`hybrid-crun.ts`). This process creates the call's mount namespace, in
 * which that tree is covered, which saves starting three programs. Dispose of the call after the runtime has exited, which removes the
 * namespace: the last process to leave a namespace waits for an RCU grace period, which should delay neither the runtime nor this thread.
 * If this process dies before the runtime has started, the runtime finds no namespace and fails. Other programs are called unchanged.
 */
export type CoveredCall<P extends OciProgram> = { program: P } & Disposable;

/**
 * The command with which conmon starts the runtime. conmon outlives the call, so only the runtime enters the namespace, by means of
 * nsenter(1).
 */
export function startedByOthers<P extends OciProgram>(program: P, dependencies: NamespaceDependencies): CoveredCall<P> {
  const { covered } = program;
  if (covered === undefined) return { program, [Symbol.dispose]: () => undefined };
  const namespace = createCoveredNamespace(dependencies, covered.tree);
  const args = [`--mount=/proc/${process.pid}/fd/${namespace}`, '--', covered.path];
  return { program: { ...program, path: covered.nsenter, args }, [Symbol.dispose]: () => closeNamespace(namespace) };
}

/** The command with which this process starts the runtime in the namespace, and the function that starts the command. */
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
    [Symbol.dispose]: () => closeNamespace(namespace),
  };
}

function closeNamespace(namespace: number): void {
  close(namespace, () => undefined);
}
