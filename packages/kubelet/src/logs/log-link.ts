import { readlinkSync } from 'node:fs';

/** Matches the path of a container's log in Docker's data directory. */
const DOCKER_LOG = /^\/(?:.+\/)?([0-9a-f]{64})\/\1-json\.log$/;

/**
 * Returns the target of a symlink to a Docker log; otherwise the path itself. A dockershim symlinks the CRI's log path to Docker's log; no
 * container runtime symlinks it to anything else. The caller must open the result with O_NOFOLLOW.
 */
export function followLink(path: string): string {
  try {
    const target = readlinkSync(path);
    return DOCKER_LOG.test(target) ? target : path;
  } catch {
    return path; // not a link, or missing
  }
}
