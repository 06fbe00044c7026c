import { test } from 'node:test';
import { checkRow } from './row-checks.fixture.ts';

test('role bindings show the role and its subjects', () => {
  const subjects = [
    { kind: 'User', name: 'u1' },
    { kind: 'Group', name: 'g' },
    { kind: 'ServiceAccount', name: 's', namespace: 'ns' },
    { kind: 'User', name: 'u2' },
  ];
  const object = { roleRef: { kind: 'Role', name: 'r' }, subjects };
  const expected = { Role: 'Role/r', Users: 'u1, u2', Groups: 'g', ServiceAccounts: 'ns/s' };
  checkRow('RoleBinding.rbac.authorization.k8s.io', object, expected);
  checkRow('ClusterRoleBinding.rbac.authorization.k8s.io', object, expected);
  checkRow('RoleBinding.rbac.authorization.k8s.io', { roleRef: { kind: 'Role', name: 'r' } }, { Users: '' });
});

test('certificate requests show as pending, approved or denied, then failed or issued', () => {
  const check = (types: string[], certificate: string | undefined, Condition: string) => {
    const conditions = types.map((type) => ({ type, status: 'True' }));
    checkRow(
      'CertificateSigningRequest.certificates.k8s.io',
      { spec: {}, status: { conditions, certificate } },
      { Condition },
    );
  };
  check([], undefined, 'Pending');
  check(['Approved'], undefined, 'Approved');
  check(['Approved'], 'LS0t', 'Approved,Issued');
  check(['Denied', 'Approved'], undefined, 'Denied');
  check(['Failed'], undefined, 'Pending,Failed');
  check(['Approved', 'Failed'], 'LS0t', 'Approved,Failed,Issued');
});

test('certificate requests show a signer, a user and a duration', () => {
  const check = (spec: object, ...[SignerName, Requestor, RequestedDuration]: [string, string, string]) =>
    checkRow('CertificateSigningRequest.certificates.k8s.io', { spec }, { SignerName, Requestor, RequestedDuration });
  check({}, '<none>', '', '<none>');
  check({ signerName: 'e.com/s', username: 'u', expirationSeconds: 3661 }, 'e.com/s', 'u', '61m');
});

test('trust bundles and pod certificate requests show their main fields', () => {
  checkRow('ClusterTrustBundle.certificates.k8s.io', { spec: { signerName: 's' } }, { SignerName: 's' });
  checkRow('ClusterTrustBundle.certificates.k8s.io', { spec: {} }, { SignerName: '<none>' });
  const spec = {
    podName: 'p',
    serviceAccountName: 's',
    nodeName: 'n',
    signerName: 'g',
    unverifiedUserAnnotations: { b: '1', a: '2' },
  };
  const key = 'PodCertificateRequest.certificates.k8s.io';
  const expected = {
    PodName: 'p',
    ServiceAccountName: 's',
    NodeName: 'n',
    SignerName: 'g',
    UnverifiedUserAnnotations: 'a=2,b=1',
  };
  checkRow(key, { spec }, { ...expected, State: 'Pending' });
  for (const State of ['Issued', 'Denied', 'Failed'])
    checkRow(key, { spec, status: { conditions: [{ type: State }] } }, { State });
});
