import { humanDuration, type KubeObject } from '@podwright/kube-api';
import { AGE, type Column, type KindTables, kindTable, NAME, NONE, text, wide } from './column.ts';
import { labelsText } from './selector-text.ts';

type Subject = { kind: string; namespace?: string; name: string };
type RoleBinding = KubeObject & { roleRef: { kind: string; name: string }; subjects?: Subject[] };

const ROLE_BINDING: Column<RoleBinding>[] = [
  NAME,
  text('Role', 'Role that is bound', ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`),
  AGE,
  wide(text('Users', 'Users that have the role', subjectsOf('User'))),
  wide(text('Groups', 'Groups that have the role', subjectsOf('Group'))),
  wide(text('ServiceAccounts', 'Service accounts that have the role', subjectsOf('ServiceAccount'))),
];

function subjectsOf(wanted: string): Column<RoleBinding>['cell'] {
  const nameOf = ({ namespace, name }: Subject) => (wanted === 'ServiceAccount' ? `${namespace ?? ''}/${name}` : name);
  return ({ subjects }) => (subjects ?? []).flatMap((one) => (one.kind === wanted ? [nameOf(one)] : [])).join(', ');
}

type Conditions = { conditions?: { type: string }[] };

type SigningRequest = KubeObject & {
  spec: { signerName?: string; username?: string; expirationSeconds?: number };
  status?: Conditions & { certificate?: string };
};

const SIGNING_REQUEST: Column<SigningRequest>[] = [
  NAME,
  AGE,
  text('SignerName', 'Signer that should issue it', ({ spec }) => spec.signerName || NONE),
  text('Requestor', 'User that requests it', ({ spec }) => spec.username ?? ''),
  text('RequestedDuration', 'How long it should be valid', ({ spec: { expirationSeconds } }) =>
    typeof expirationSeconds === 'number' ? humanDuration(expirationSeconds * 1000) : NONE,
  ),
  text('Condition', 'Whether it is approved and issued', ({ status }) => {
    const has = (type: string) => status?.conditions?.some((condition) => condition.type === type) ?? false;
    const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
    return [decision, has('Failed') && 'Failed', status?.certificate && 'Issued'].filter(Boolean).join(',');
  }),
];

type TrustBundle = KubeObject & { spec?: { signerName?: string } };

const TRUST_BUNDLE: Column<TrustBundle>[] = [
  NAME,
  text('SignerName', 'Signer whose certificates it trusts', ({ spec }) => spec?.signerName || NONE),
];

type PodCertificateRequest = KubeObject & {
  spec: {
    podName?: string;
    serviceAccountName?: string;
    nodeName?: string;
    signerName?: string;
    unverifiedUserAnnotations?: Record<string, string>;
  };
  status?: Conditions;
};

const ENDS = ['Issued', 'Denied', 'Failed'];

const POD_CERTIFICATE_REQUEST: Column<PodCertificateRequest>[] = [
  NAME,
  text('PodName', 'Pod for which it is', ({ spec }) => spec.podName ?? ''),
  text('ServiceAccountName', 'Service account of the pod', ({ spec }) => spec.serviceAccountName ?? ''),
  text('NodeName', 'Node of the pod', ({ spec }) => spec.nodeName ?? ''),
  text('SignerName', 'Signer that should issue it', ({ spec }) => spec.signerName ?? ''),
  text(
    'State',
    'Whether it is pending, issued, denied or failed',
    ({ status }) => status?.conditions?.findLast(({ type }) => ENDS.includes(type))?.type ?? 'Pending',
  ),
  text('UnverifiedUserAnnotations', 'Annotations that the pod requests', ({ spec }) =>
    labelsText(spec.unverifiedUserAnnotations),
  ),
];

/** Tables for the access-control kinds. Roles and ClusterRoles use the default columns. */
export const ACCESS: KindTables = {
  ServiceAccount: kindTable([NAME, AGE]),
  'RoleBinding.rbac.authorization.k8s.io': kindTable(ROLE_BINDING),
  'ClusterRoleBinding.rbac.authorization.k8s.io': kindTable(ROLE_BINDING),
  'CertificateSigningRequest.certificates.k8s.io': kindTable(SIGNING_REQUEST),
  'ClusterTrustBundle.certificates.k8s.io': kindTable(TRUST_BUNDLE),
  'PodCertificateRequest.certificates.k8s.io': kindTable(POD_CERTIFICATE_REQUEST),
};
