/** Labels that a kubelet may set on its own Node object (kubelet, apis/well_known_labels). */

const OWN = [
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
];
const OWN_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
/**
 * Domains in which a kubelet may only set well-known labels. Subdomains are included, such as `node-restriction.kubernetes.io`, whose
 * labels administrators use to isolate nodes.
 */
const RESERVED_DOMAINS = ['kubernetes.io', 'k8s.io'];

type Labels = Readonly<Record<string, string>>;

/** Returns the changed labels that a kubelet may not set, in lexical order. */
export function forbiddenLabels(labels: Labels, old: Labels): string[] {
  const names = new Set([...Object.keys(labels), ...Object.keys(old)]);
  const isChanged = (name: string) => ownValue(labels, name) !== ownValue(old, name);
  return [...names].filter((name) => isChanged(name) && !isAllowed(name)).sort();
}

const ownValue = (labels: Labels, name: string): string | undefined =>
  Object.hasOwn(labels, name) ? labels[name] : undefined;

function isAllowed(label: string): boolean {
  const slash = label.indexOf('/');
  const domain = slash < 0 ? '' : label.slice(0, slash);
  const isIn = (parent: string) => domain === parent || domain.endsWith(`.${parent}`);
  return !RESERVED_DOMAINS.some(isIn) || OWN.includes(label) || OWN_DOMAINS.some(isIn);
}
