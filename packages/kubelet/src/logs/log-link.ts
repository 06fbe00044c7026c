import { readlinkSync } from 'node:fs';

/** Matches the path of a container's log in Docker's data directory. */
const DOCKER_LOG = /^\/(?:.+\/)?([0-9a-f]{64})\/\1-json\.log$/;

/**
 * Returns the target of a symlink to a Docker log, otherwise the path itself. A dockershim makes the CRI's log path a symlink to Docker's
 * log; no container runtime makes it a symlink to anything else. The caller must open the result with O_NOFOLLOW.
 */
export function followLink(path: string): string {
  try {
    const target = readlinkSync(path);
    return DOCKER_LOG.test(target) ? target : path;
  } catch {
    return path; // not a link, or missing
  }
}
