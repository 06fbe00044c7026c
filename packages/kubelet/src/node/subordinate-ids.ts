import { readFile } from 'node:fs/promises';
import { PodwrightError } from '@podwright/base';
import { findProgram, runChecked } from '@podwright/host';

const ID_COUNT = 2 ** 32;
const KUBELET_USER = 'kubelet';

/**
 * Returns the ID range for pods in user namespaces: the subordinate IDs of the user `kubelet` (subuid(5)) or, if that user or `getsubids`
 * does not exist, all IDs except the first range.
 */
export async function podIdRange(idsPerPod: number): Promise<{ firstId: number; length: number }> {
  // leave out the last range as well: the kernel rejects a range that includes the last ID (map_write, user_namespace.c)
  const all = { firstId: idsPerPod, length: ID_COUNT - 2 * idsPerPod };
  const program = findProgram('getsubids');
  const isThere = (await readFile('/etc/passwd', 'utf8'))
    .split('\n')
    .some((line) => line.startsWith(`${KUBELET_USER}:`));
  if (program === undefined || !isThere) return all;
  const [users, groups] = await Promise.all([
    runChecked(program, [KUBELET_USER]),
    runChecked(program, ['-g', KUBELET_USER]),
  ]);
  if (users !== groups)
    throw new PodwrightError('failed_precondition', `mismatched subuids and subgids for user "${KUBELET_USER}"`);
  return parseSubIds(users);
}

/** Parses the output of getsubids(1), a single line such as `0: kubelet 65536 2147483648`. */
export function parseSubIds(output: string): { firstId: number; length: number } {
  const match = /^\d+: \S+ (\d+) (\d+)\n*$/.exec(output);
  if (match === null)
    throw new PodwrightError(
      'failed_precondition',
      `getsubids ${KUBELET_USER}: expected one range, got "${output.trim()}"`,
    );
  return { firstId: Number(match[1]), length: Number(match[2]) };
}
