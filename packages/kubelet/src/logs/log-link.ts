import { readlinkSync } from 'node:fs';

/** Where Docker keeps the log of a container, by its name. */
const DOCKER_LOG = /^\/(?:.+\/)?([0-9a-f]{64})\/\1-json\.log$/;

/**
 * The file that a link stands for if that is a log of Docker's, else the path itself: a dockershim links Docker's logs into the
 * CRI's place, and a link to anything else is none that a runtime has made. For who opens it with O_NOFOLLOW.
 */
export function followLink(path: string): string {
  try {
    const target = readlinkSync(path);
    return DOCKER_LOG.test(target) ? target : path;
  } catch {
    return path; // no link, or not there
  }
}
