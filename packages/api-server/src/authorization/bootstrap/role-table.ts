import type { PolicyRule } from '../authorizer.ts';

/**
 * Rules by role name. A rule is a line of space-separated words: `VERBS GROUPS RESOURCES [NAMES]` or `VERBS URLS`. Each word is a
 * comma-separated list. `core` is the API group ''; `read`, `write` and `readwrite` expand to the verbs below.
 */
export type RoleTable = Readonly<Record<string, readonly string[]>>;

const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const VERBS: Readonly<Record<string, readonly string[]>> = { read: READ, write: WRITE, readwrite: [...READ, ...WRITE] };

/** Parses a rule. As in Kubernetes, verbs, groups, resources, names and URLs are sorted alphabetically. */
export function ruleOfLine(line: string): PolicyRule {
  const [verbWord = '', ...words] = line.split(' ');
  const verbs = listed(verbWord)
    .flatMap((verb) => VERBS[verb] ?? verb)
    .sort();
  const [first = [], resources = [], resourceNames] = words.map((word) => listed(word).sort());
  if (words.length === 1) return { nonResourceURLs: first, verbs };
  const apiGroups = first.map((group) => (group === 'core' ? '' : group)).sort();
  return { apiGroups, ...(resourceNames === undefined ? {} : { resourceNames }), resources, verbs };
}

const listed = (word: string): string[] => word.split(',');
