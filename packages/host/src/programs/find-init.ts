import { findProgram } from './find-program.ts';

/** The init program's name, and its paths in packages that keep it out of PATH: Fedora's and Podman's. */
const CANDIDATES = [
  'catatonit',
  '/usr/libexec/catatonit/catatonit',
  '/usr/libexec/podman/catatonit',
  '/usr/lib/podman/catatonit',
];

/** Path of the host's init program for pods that need an infra process (package catatonit); undefined if there is none. */
export function findInit(candidates = CANDIDATES): string | undefined {
  for (const candidate of candidates) {
    const path = findProgram(candidate);
    if (path !== undefined) return path;
  }
  return undefined;
}
