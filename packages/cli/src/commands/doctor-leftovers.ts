import { existsSync } from 'node:fs';
import { errorMessage } from '@podwright/base';
import type { LeftClaim } from '@podwright/proxy';
import { SERVICE_CLAIMS } from '../settings/service-claims.ts';
import type { Finding } from './doctor-places.ts';

const WHAT = 'left behind';

/** Reports what node daemons that were killed have left behind on the host. Empty if there is nothing. */
export async function leftoverFindings(directory = SERVICE_CLAIMS): Promise<Finding[]> {
  if (!existsSync(directory)) return [];
  const { findLeftClaims } = await import('@podwright/proxy'); // loaded only on a host that has had a node with an API
  try {
    return (await findLeftClaims(directory)).map(leftoverFinding);
  } catch (error) {
    return [{ what: WHAT, level: 'note', message: `what ended nodes have left is unknown: ${errorMessage(error)}` }];
  }
}

/** Builds the finding about what one killed node daemon has left behind. Pure. */
export function leftoverFinding({ root, addresses, tables }: LeftClaim): Finding {
  const parts = [
    ...(addresses.length === 0 ? [] : [`${addresses.join(' and ')} on the loopback interface`]),
    ...(tables.length === 0 ? [] : [`nf_tables ${tables.join(' and ')}`]),
  ];
  const node = root === undefined ? 'a node that has ended' : `the node with the root ${root}, which has ended`;
  return {
    what: WHAT,
    level: 'note',
    message: `by ${node}: ${parts.join('; ')}`,
    fix: 'the next start of any node removes it',
  };
}
