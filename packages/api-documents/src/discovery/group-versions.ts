/** Arranges resources into the groups and versions of discovery, in upstream's order. */
import { compareVersions, type Resource } from '@podwright/kube-schema';

export type GroupVersion = { group: string; version: string; resources: readonly Resource[] };

export type ApiGroup = {
  /** '' for the core group. */
  name: string;
  /** The versions, with the preferred version first. */
  versions: readonly GroupVersion[];
};

/** Built-in groups in order of priority. A client that knows only a kind or resource name uses the first group in which it finds it. */
const GROUP_ORDER = [
  '',
  'apiregistration.k8s.io',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
  'resource.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'internal.apiserver.k8s.io',
  'storagemigration.k8s.io',
];

/** Groups that are not built in come last, in lexical order. */
export function groupsOf(resources: readonly Resource[]): readonly ApiGroup[] {
  const byGroup = Map.groupBy(resources, ({ group }) => group);
  return [...byGroup]
    .map(([name, members]) => ({ name, versions: versionsOf(name, members) }))
    .sort((a, b) => rank(a.name) - rank(b.name) || compareText(a.name, b.name));
}

const rank = (group: string) => (GROUP_ORDER.indexOf(group) + GROUP_ORDER.length + 1) % (GROUP_ORDER.length + 1);

function versionsOf(group: string, resources: readonly Resource[]): GroupVersion[] {
  const byVersion = Map.groupBy(resources, ({ version }) => version);
  return [...byVersion]
    .map(([version, members]) => ({
      group,
      version,
      resources: members.toSorted((a, b) => compareText(a.plural, b.plural)),
    }))
    .sort((a, b) => compareVersions(b.version, a.version));
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Whether upstream serves the resource by default. Only stable versions are enabled by default. */
export const isServedByDefault = ({ version, isCustom }: Resource): boolean =>
  isCustom === true || /^v\d+$/.test(version);
