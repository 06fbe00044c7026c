import { wrapError } from '@podwright/base';
import { readRegularFile } from '@podwright/host';
import { AuditLog } from './audit-log.ts';
import { AuditPolicy, METADATA_POLICY } from './audit-policy.ts';
import { RotatedFile, type RotatedFileParts } from './rotated-file.ts';

export type AuditOptions = Pick<RotatedFileParts, 'path' | 'maxBytes' | 'maxFiles'> & {
  /** Path of an audit policy. Default: log all requests without their bodies. */
  policyPath?: string;
};

const MAX_POLICY_BYTES = 1 << 20;

/** Opens the audit log. `close` resolves when all events are written. Rejects with `invalid_argument` if the policy is invalid. */
export async function openAuditLog(
  { policyPath, ...options }: AuditOptions,
  { logger, now }: Pick<RotatedFileParts, 'logger'> & { now: () => number },
): Promise<{ observer: AuditLog; close: () => Promise<void> }> {
  const text = policyPath === undefined ? METADATA_POLICY : await readPolicy(policyPath);
  const lines = new RotatedFile({ ...options, logger });
  const file = { write: (line: string) => lines.add(line), room: () => lines.room() };
  const observer = new AuditLog({ policy: new AuditPolicy(text), ...file, now });
  return { observer, close: () => lines.flush() };
}

async function readPolicy(path: string): Promise<string> {
  try {
    return (await readRegularFile(path, MAX_POLICY_BYTES)).toString();
  } catch (error) {
    throw wrapError(`read the audit policy ${path}`, error);
  }
}
