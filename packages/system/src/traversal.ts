import { chmodSync, chownSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { MAPPED_ROOT_DIRECTORY, PRIVATE_DIRECTORY, TRAVERSABLE_DIRECTORY } from '@podwright/base';
import { hostIdOf, type IdMappings } from './user-namespace.ts';

/** A directory under `top` that the root user of a user namespace must be able to enter, and the mappings of that namespace. */
export type TraversalGrant = { top: string; directory: string; mappings: IdMappings };

/**
 * Lets the root user of a user namespace enter `directory`, but no other unprivileged user of the host. OCI runtimes require this, because
 * they switch to that user before resolving the path of the root file system. Until `revokeTraversal`, all users may also traverse, but not
 * list, the directories from `top` down to `directory`.
 */
export function grantTraversal({ top, directory, mappings }: TraversalGrant): void {
  chownSync(directory, 0, hostIdOf(mappings.gids, 0) ?? 0);
  chmodSync(directory, MAPPED_ROOT_DIRECTORY);
  grantTraversalAbove(top, directory);
}

/**
 * Lets all users traverse the directories from `top` to the parent of `directory`. Who may enter `directory` itself still depends on its
 * mode.
 */
export function grantTraversalAbove(top: string, directory: string): void {
  for (let path = directory; path !== top && path !== dirname(path); ) {
    path = dirname(path);
    if ((statSync(path).mode & 0o777) === PRIVATE_DIRECTORY) chmodSync(path, TRAVERSABLE_DIRECTORY);
  }
}
