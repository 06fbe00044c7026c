import { createHash } from 'node:crypto';
import { PodwrightError } from '@podwright/base';

/** Parts of an SELinux label that a pod or container may request. '' means that the policy's part is used. */
export type SelinuxOptions = { user: string; role: string; type: string; level: string };

/** The container contexts in the host's SELinux policy, e.g. `system_u:system_r:container_t:s0`. */
export type SelinuxContexts = { process: string; file: string };

/** A container's SELinux labels; '' without SELinux, or if the policy has no container contexts. */
export type SelinuxLabels = { process: string; mount: string };

/** Number of SELinux categories for pods. 1022 and 1023 are reserved for files of privileged containers. */
const CATEGORIES = 1022;
const PART_PATTERN = /^[\w.-]*$/;
const LEVEL_PATTERN = /^(s\d+(-s\d+)?(:c\d{1,4}(\.c\d{1,4})?(,c\d{1,4}(\.c\d{1,4})?)*)?)?$/;

/** Throws `invalid_argument` if a part of an SELinux label is invalid, even on hosts without SELinux. */
export function checkSelinuxOptions(options: SelinuxOptions): void {
  for (const name of ['user', 'role', 'type', 'level'] as const) {
    const pattern = name === 'level' ? LEVEL_PATTERN : PART_PATTERN;
    if (!pattern.test(options[name]))
      throw new PodwrightError(
        'invalid_argument',
        `selinuxOptions.${name} ${JSON.stringify(options[name])} is malformed`,
      );
  }
}

/** Parses a policy's container contexts (contexts/lxc_contexts, container_contexts(5)). */
export function parseSelinuxContexts(text: string): SelinuxContexts {
  const values = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, key, value] = /^\s*(\w+)\s*=\s*"?([^"#;]*?)"?\s*$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) values.set(key, value);
  }
  return { process: values.get('process') ?? '', file: values.get('file') ?? '' };
}

/**
 * Returns a container's SELinux labels: the policy's labels, with the parts that the container or its pod requests. If no level is
 * requested, all containers in a pod share a pair of categories that other pods are very unlikely to have, so only they can access each
 * other's files. A privileged container's process has no label and is therefore not confined.
 */
export function selinuxLabels(
  contexts: SelinuxContexts,
  options: SelinuxOptions | undefined,
  { sandboxId, privileged }: { sandboxId: string; privileged: boolean },
): SelinuxLabels {
  if (contexts.process === '' || contexts.file === '') return { process: '', mount: contexts.file };
  const own = levelOf(sandboxId);
  const { user = '', role = '', type = '', level = '' } = options ?? {};
  const process = changed(contexts.process, { user, role, type, level: level || own });
  const mount = changed(contexts.file, { user, role: '', type: '', level: level || own });
  return { process: privileged ? '' : process, mount };
}

/** Replaces parts of a label. A label has four parts (three if the policy has no levels), and the fourth may contain colons. */
function changed(label: string, { user, role, type, level }: SelinuxOptions): string {
  const [ownUser = '', ownRole = '', ownType = '', ...ownLevel] = label.split(':');
  const parts = [user || ownUser, role || ownRole, type || ownType];
  return [...parts, ...(ownLevel.length === 0 ? [] : [level || ownLevel.join(':')])].join(':');
}

/**
 * Returns an SELinux level with two different categories. The level is derived from the sandbox ID, so it stays the same after a restart.
 */
function levelOf(sandboxId: string): string {
  const hash = createHash('sha256').update(sandboxId).digest();
  const first = hash.readUInt32LE(0) % CATEGORIES;
  const offset = 1 + (hash.readUInt32LE(4) % (CATEGORIES - 1));
  const [low, high] = [first, (first + offset) % CATEGORIES].toSorted((left, right) => left - right);
  return `s0:c${low},c${high}`;
}
