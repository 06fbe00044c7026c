/** Deprecated versions of built-in kinds and the warnings for requests that use them (k8s.io/api, zz_generated.prerelease-lifecycle.go). */
import { apiVersionOf, type GroupVersionKind } from '@podwright/kube-schema';

/** The Kubernetes 1.x minor versions that deprecate and remove the kind, and its replacement (apiVersion and kind). */
type Deprecation = { since: number; removed?: number; use?: string };

/** Deprecations by apiVersion and kind, as of Kubernetes 1.36. */
const DEPRECATIONS: Readonly<Record<string, Deprecation>> = {
  'v1 ComponentStatus': { since: 19 },
  'v1 Endpoints': { since: 33, use: 'discovery.k8s.io/v1 EndpointSlice' },
  'admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicy': { since: 35, removed: 38 },
  'admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicyBinding': { since: 35, removed: 38 },
  'certificates.k8s.io/v1alpha1 ClusterTrustBundle': { since: 34, removed: 37 },
  'coordination.k8s.io/v1alpha2 LeaseCandidate': { since: 35, removed: 38 },
  'coordination.k8s.io/v1beta1 LeaseCandidate': { since: 36, removed: 39 },
  'networking.k8s.io/v1beta1 IPAddress': { since: 34, removed: 37 },
  'networking.k8s.io/v1beta1 ServiceCIDR': { since: 34, removed: 37 },
  'resource.k8s.io/v1alpha3 DeviceTaintRule': { since: 36, removed: 39 },
  'resource.k8s.io/v1beta1 DeviceClass': { since: 35, removed: 38 },
  'resource.k8s.io/v1beta1 ResourceClaim': { since: 35, removed: 38 },
  'resource.k8s.io/v1beta1 ResourceClaimTemplate': { since: 35, removed: 38 },
  'resource.k8s.io/v1beta1 ResourceSlice': { since: 35, removed: 38 },
  'resource.k8s.io/v1beta2 DeviceClass': { since: 36, removed: 39 },
  'resource.k8s.io/v1beta2 ResourceClaim': { since: 36, removed: 39 },
  'resource.k8s.io/v1beta2 ResourceClaimTemplate': { since: 36, removed: 39 },
  'resource.k8s.io/v1beta2 ResourceSlice': { since: 36, removed: 39 },
  'storage.k8s.io/v1beta1 VolumeAttributesClass': {
    since: 34,
    removed: 37,
    use: 'storage.k8s.io/v1 VolumeAttributesClass',
  },
};

/** Returns the warning for requests that use this kind, or `undefined` if its version is not deprecated. */
export function deprecationWarning(kind: GroupVersionKind): string | undefined {
  const name = `${apiVersionOf(kind)} ${kind.kind}`;
  const found = Object.hasOwn(DEPRECATIONS, name) ? DEPRECATIONS[name] : undefined;
  if (found === undefined) return undefined;
  const removal = found.removed === undefined ? '' : `, unavailable in v1.${found.removed}+`;
  return `${name} is deprecated in v1.${found.since}+${removal}${found.use === undefined ? '' : `; use ${found.use}`}`;
}
