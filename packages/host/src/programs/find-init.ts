import { findProgram } from './find-program.ts';

/** The init program's name, and the paths outside PATH where Fedora's and Podman's packages install it. */
const CANDIDATES = [
  'catatonit',
  '/usr/libexec/catatonit/catatonit',
  '/usr/libexec/podman/catatonit',
  '/usr/lib/podman/catatonit',
];

/** Returns the path of the host's init program (package catatonit) for pods that need an infra process; `undefined` if there is none. */
export function findInit(candidates = CANDIDATES): string | undefined {
  for (const candidate of candidates) {
    const path = findProgram(candidate);
    if (path !== undefined) return path;
  }
  return undefined;
}
