import { join } from 'node:path';
import { requireFormat } from '@podwright/host';
import { KUBELET_FORMAT } from '@podwright/kubelet';
import { RUNTIME_FORMAT } from '@podwright/runtime';

/** The newest record format that this version can read, by subdirectory of the root directory. */
export const RECORD_FORMATS = { runtime: RUNTIME_FORMAT, kubelet: KUBELET_FORMAT };

/** Throws `failed_precondition` if `root` contains records from a newer version that this version cannot read. */
export function requireFormats(root: string): void {
  for (const [name, newest] of Object.entries(RECORD_FORMATS)) requireFormat(join(root, name), newest);
}
