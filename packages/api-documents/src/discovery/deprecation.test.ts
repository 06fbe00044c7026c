import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deprecationWarning } from './deprecation.ts';

test('deprecated versions have a warning that names their removal and replacement', () => {
  const check = (group: string, version: string, kind: string, expected: string | undefined) =>
    assert.equal(deprecationWarning({ group, version, kind }), expected);
  check('', 'v1', 'ComponentStatus', 'v1 ComponentStatus is deprecated in v1.19+');
  check('', 'v1', 'Endpoints', 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice');
  check(
    'storage.k8s.io',
    'v1beta1',
    'VolumeAttributesClass',
    'storage.k8s.io/v1beta1 VolumeAttributesClass is deprecated in v1.34+, unavailable in v1.37+; use storage.k8s.io/v1 VolumeAttributesClass',
  );
  check(
    'networking.k8s.io',
    'v1beta1',
    'IPAddress',
    'networking.k8s.io/v1beta1 IPAddress is deprecated in v1.34+, unavailable in v1.37+',
  );
  check('', 'v1', 'Pod', undefined);
  check('networking.k8s.io', 'v1', 'IPAddress', undefined);
  check('certificates.k8s.io', 'v1beta1', 'ClusterTrustBundle', undefined);
});
