import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KindRules, shownErrors } from './kind-rules.fixture.ts';
import { chooseIpFamilies } from './service-families.ts';
import { services } from './services.ts';

const rules = await KindRules.of('core.v1.Service', services);
const SINGLE = ['IPv4'] as const;
const DUAL = ['IPv4', 'IPv6'] as const;
const DUAL6 = ['IPv6', 'IPv4'] as const;
type Families = typeof SINGLE | typeof DUAL | typeof DUAL6;

const created = (spec: object) => rules.created({ spec: { selector: { a: 'b' }, ports: [{ port: 80 }], ...spec } });

/** Asserts which IP family policy and families are chosen for a new service with this spec. */
function check(spec: object, configured: Families, [policy, ...families]: string[]): void {
  const { service, errors } = chooseIpFamilies(created(spec), undefined, configured);
  const chosen = service.spec as { ipFamilyPolicy?: string; ipFamilies?: string[] };
  assert.deepEqual(shownErrors(errors), []);
  assert.deepEqual([chosen.ipFamilyPolicy, ...(chosen.ipFamilies ?? [])], [policy, ...families]);
}

/** Asserts which errors result from creating a service or, if `old` is set, from updating a service whose spec is `old`. */
function refuse(spec: object, configured: Families, errors: string[], old?: object): void {
  const found = chooseIpFamilies(created(spec), old && created(old), configured).errors;
  assert.deepEqual(shownErrors(found), errors);
}

describe('the IP families of a service', () => {
  it('are those of the node unless the client requests others', () => {
    check({}, SINGLE, ['SingleStack', 'IPv4']);
    check({}, DUAL, ['SingleStack', 'IPv4']);
    check({}, DUAL6, ['SingleStack', 'IPv6']);
    check({ ipFamilyPolicy: 'PreferDualStack' }, SINGLE, ['PreferDualStack', 'IPv4']);
    check({ ipFamilyPolicy: 'PreferDualStack' }, DUAL, ['PreferDualStack', 'IPv4', 'IPv6']);
    check({ ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] }, DUAL, ['RequireDualStack', 'IPv6', 'IPv4']);
    check({ ipFamilies: ['IPv6'] }, DUAL, ['SingleStack', 'IPv6']);
    check({ clusterIP: '2001:db8::1' }, DUAL, ['SingleStack', 'IPv6']);
    check({ type: 'ExternalName', externalName: 'a' }, DUAL, [undefined as unknown as string]);
  });

  it('are both for a headless service without a selector', () => {
    check({ clusterIP: 'None', selector: {} }, SINGLE, ['RequireDualStack', 'IPv4', 'IPv6']);
    check({ clusterIP: 'None', selector: {}, ipFamilyPolicy: 'SingleStack' }, SINGLE, ['SingleStack', 'IPv4']);
    check({ clusterIP: 'None' }, DUAL6, ['SingleStack', 'IPv6']);
  });

  it('are configured on the node', () => {
    refuse({ ipFamilyPolicy: 'RequireDualStack' }, SINGLE, [
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    ]);
    refuse({ ipFamilies: ['IPv6'] }, SINGLE, [
      'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
    ]);
    refuse({ clusterIP: '2001:db8::1' }, SINGLE, [
      'spec.clusterIPs[0]: Invalid value: ["2001:db8::1"]: IPv6 is not configured on this cluster',
    ]);
    refuse({ clusterIP: 'x' }, SINGLE, [
      'spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ]);
  });

  it('agree with the policy', () => {
    const both = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '2001:db8::1'], ipFamilies: ['IPv4', 'IPv6'] };
    const words = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
    refuse(both, DUAL, [
      `spec.ipFamilyPolicy: Invalid value: "SingleStack": ${words} cluster IPs are specified`,
      `spec.ipFamilyPolicy: Invalid value: "SingleStack": ${words} IP families are specified`,
    ]);
    const old = { ...both, ipFamilyPolicy: 'PreferDualStack' };
    refuse(
      { ...old, clusterIPs: ['10.0.0.1'] },
      DUAL,
      [
        'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be \'SingleStack\' to release the secondary cluster IP',
      ],
      old,
    );
  });

  it('are reduced by the policy SingleStack, and retained by an unchanged PreferDualStack', () => {
    const both = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '2001:db8::1'], ipFamilies: ['IPv4', 'IPv6'] };
    const old = created({ ...both, ipFamilyPolicy: 'PreferDualStack' });
    const single = chooseIpFamilies(created({ ...both, ipFamilyPolicy: 'SingleStack' }), old, DUAL).service;
    const { clusterIPs, ipFamilies } = single.spec as { clusterIPs: string[]; ipFamilies: string[] };
    assert.deepEqual([clusterIPs, ipFamilies], [['10.0.0.1'], ['IPv4']]);
    assert.equal(chooseIpFamilies(old, old, SINGLE).service, old);
    const adopted = chooseIpFamilies(created(both), old, DUAL);
    assert.equal((adopted.service.spec as { ipFamilyPolicy: string }).ipFamilyPolicy, 'PreferDualStack');
  });
});
