import { createHash } from 'node:crypto';
import { PodwrightError } from '@podwright/base';

/** Parts of a label that a pod or container may choose; '' for the host's. */
export type SelinuxOptions = { user: string; role: string; type: string; level: string };

/** The contexts that the host's policy has for containers, e.g. `system_u:system_r:container_t:s0`. */
export type SelinuxContexts = { process: string; file: string };

/** `''` where there is no SELinux, or its policy has nothing for containers. */
export type SelinuxLabels = { process: string; mount: string };

/** Categories 1022 and 1023 are those of privileged containers' files. */
const CATEGORIES = 1022;
const PART_PATTERN = /^[\w.-]*$/;
const LEVEL_PATTERN = /^(s\d+(-s\d+)?(:c\d{1,4}(\.c\d{1,4})?(,c\d{1,4}(\.c\d{1,4})?)*)?)?$/;

/** What is no part of a label is an `invalid_argument`, on hosts without SELinux, too. */
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

/** Reads a policy's contexts for containers (contexts/lxc_contexts, container_contexts(5)). */
export function parseSelinuxContexts(text: string): SelinuxContexts {
  const values = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, key, value] = /^\s*(\w+)\s*=\s*"?([^"#;]*?)"?\s*$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) values.set(key, value);
  }
  return { process: values.get('process') ?? '', file: values.get('file') ?? '' };
}

/**
 * The labels of a container: the policy's, with the parts that it or its pod asks for. Without a level, containers of one pod
 * have a pair of categories in common that others hardly have, so that they share files and others do not.
 * A privileged container's process has none: it may do everything.
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

/** A label has four parts, of which the last may have colons of its own. One of a policy without levels has three. */
function changed(label: string, { user, role, type, level }: SelinuxOptions): string {
  const [ownUser = '', ownRole = '', ownType = '', ...ownLevel] = label.split(':');
  const parts = [user || ownUser, role || ownRole, type || ownType];
  return [...parts, ...(ownLevel.length === 0 ? [] : [level || ownLevel.join(':')])].join(':');
}

/** Two different categories, made of the sandbox's id: they are the same after a restart. */
function levelOf(sandboxId: string): string {
  const hash = createHash('sha256').update(sandboxId).digest();
  const first = hash.readUInt32LE(0) % CATEGORIES;
  const offset = 1 + (hash.readUInt32LE(4) % (CATEGORIES - 1));
  const [low, high] = [first, (first + offset) % CATEGORIES].toSorted((left, right) => left - right);
  return `s0:c${low},c${high}`;
}
