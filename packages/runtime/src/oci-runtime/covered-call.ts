import { close } from 'node:fs';
import type { ProgramStarter } from '@podwright/host';
import { createCoveredNamespace, type NamespaceDependencies, withMountNamespace } from '@podwright/system';
import type { OciProgram } from './oci-program.ts';

/**
 * An invocation of an OCI runtime that must not see the cgroup v2 hierarchy (`hybrid-crun.ts`). This process creates the invocation's mount
 * namespace, in which that hierarchy is covered; letting programs do so would mean starting three more. Disposing of the object after the
 * OCI runtime has exited removes the namespace: the last process to leave a namespace waits for an RCU grace period, which should delay
 * neither the OCI runtime nor this thread. If this process dies before the OCI runtime has started, the OCI runtime finds no namespace and
 * fails. For other programs, the command is unchanged.
 */
export type CoveredCall<P extends OciProgram> = { program: P } & Disposable;

/**
 * Returns the command used by conmon to start the OCI runtime. conmon outlives the call, so only the OCI runtime enters the namespace,
 * through nsenter(1).
 */
export function startedByOthers<P extends OciProgram>(program: P, dependencies: NamespaceDependencies): CoveredCall<P> {
  const { covered } = program;
  if (covered === undefined) return { program, [Symbol.dispose]: () => undefined };
  const namespace = createCoveredNamespace(dependencies, covered.tree);
  const args = [`--mount=/proc/${process.pid}/fd/${namespace}`, '--', covered.path];
  return { program: { ...program, path: covered.nsenter, args }, [Symbol.dispose]: () => closeNamespace(namespace) };
}

/** Returns the command and the start function used by this process to start the OCI runtime in the namespace. */
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
