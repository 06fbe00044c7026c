import { chmodSync, chownSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { MAPPED_ROOT_DIRECTORY, PASSAGE_DIRECTORY, PRIVATE_DIRECTORY } from '@podwright/base';
import { hostIdOf, type IdMappings } from './user-namespace.ts';

/** A directory below `top` that root of a user namespace has to reach, and the namespace's mappings. */
export type Passage = { top: string; directory: string; mappings: IdMappings };

/**
 * Lets root of a user namespace into `directory`, and no other user of the host: an OCI runtime looks a root file system up by
 * its path when it has become that user. The directories from `top` down to it can be passed by all users from then on, but not
 * listed, until `closePassage`.
 */
export function openPassage({ top, directory, mappings }: Passage): void {
  chownSync(directory, 0, hostIdOf(mappings.gids, 0) ?? 0);
  chmodSync(directory, MAPPED_ROOT_DIRECTORY);
  openWay(top, directory);
}

/** Lets all users pass the directories from `top` to the one above `directory`, whose own mode says who may enter. */
export function openWay(top: string, directory: string): void {
  for (let path = directory; path !== top && path !== dirname(path); ) {
    path = dirname(path);
    if ((statSync(path).mode & 0o777) === PRIVATE_DIRECTORY) chmodSync(path, PASSAGE_DIRECTORY);
  }
}
