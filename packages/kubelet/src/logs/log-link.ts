import { readlinkSync } from 'node:fs';

/** Path of a container's log in Docker's directory. */
const DOCKER_LOG = /^\/(?:.+\/)?([0-9a-f]{64})\/\1-json\.log$/;

/**
 * The target of a symlink to a Docker log, otherwise the path itself. A dockershim links the CRI's log path to Docker's log; no runtime
 * links to other files. The caller must open the result with O_NOFOLLOW.
 */
export function followLink(path: string): string {
  try {
    const target = readlinkSync(path);
    return DOCKER_LOG.test(target) ? target : path;
  } catch {
    return path; // not a link, or missing
  }
}
